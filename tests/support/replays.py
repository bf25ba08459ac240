"""Recorded rounds, and estimates from them by every field of a question, without references."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from purse.lab.data.log import Log
from purse.lab.data.question import Question
from purse.lab.data.rounds import open_rounds
from purse.lab.data.table import FullTable
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.off_policy import estimate

SIX: dict[str, Any] = {
    "arm": ["a", "a", "a", "b", "b", "b"],
    "reward": [1.0, 0.0, 1.0, 2.0, 0.0, 4.0],
    "cost": [0.5, 0.5, 1.0, 1.0, 0.3, 0.3],
    "probability": [0.5, 0.25, 0.5, 0.5, 0.25, 0.5],
}
EVEN_LOG = pl.DataFrame(
    {"arm": ["a", "b"] * 100, "reward": [1.0, 3.0] * 100, "cost": [1, 2] * 100, "probability": 0.5}
)
# of the arms of `sample_log`
ARM_MEANS, ARM_COSTS = np.array([0.3, 0.5, 0.6]), np.array([0.3, 0.4, 0.9])
LOGGER = np.array([[0.6, 0.2, 0.2], [0.2, 0.5, 0.3]])  # by a context that the log does not show
SWING = np.array([0.25, -0.2, 0.0])  # what the context adds to the means


def log_frame(arm: Any, reward: Any, cost: Any, probability: Any) -> pl.DataFrame:
    """A log from its columns."""
    columns = {"arm": arm, "reward": reward, "cost": cost, "probability": probability}
    return pl.DataFrame(columns).cast({"reward": pl.Float64})


def sample_log(n: int, seed: int) -> pl.DataFrame:
    """A log of three arms whose choice and rewards hang on a context that it does not show."""
    rng = np.random.default_rng(seed)
    context = rng.integers(2, size=n)
    arm = (rng.random(n)[:, None] > LOGGER[context].cumsum(axis=1)[:, :2]).sum(axis=1)
    reward = rng.random(n) < ARM_MEANS[arm] + np.where(context == 0, 1, -1) * SWING[arm]
    return log_frame(arm, reward, ARM_COSTS[arm], LOGGER[context, arm])


def log_of(data: Any, **fields: Any) -> Log:
    """The log in a file, a frame or columns."""
    rows = pl.DataFrame(data, strict=False) if isinstance(data, dict) else data
    log = open_rounds(rows, Question(**fields))
    assert isinstance(log, Log)
    return log


def estimated(data: Any, *, n_workers: int | None = None, **fields: Any) -> LogResult:
    """Estimates from a log; without a horizon games have no limit on rounds."""
    question = Question(**{"horizon": "none"} | fields)
    return estimate(log_of(data, **vars(question)), question, n_workers)


def written(folder: Path, text: str) -> Path:
    path = folder / "data.csv"
    path.write_text(text)
    return path


def random_table(seed: int, n_rounds: int = 40, n_arms: int = 3) -> FullTable:
    rng = np.random.default_rng(seed)
    rewards = np.round(rng.uniform(-0.5 if seed % 2 else 0, 5, (n_rounds, n_arms)), 2)
    return FullTable(
        "random", tuple("abc"[:n_arms]), rewards, rng.integers(0, 10, (n_rounds, n_arms)) * 10**8
    )
