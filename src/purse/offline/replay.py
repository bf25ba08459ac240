"""`purse.replay`: which policy would have spent a budget best, on recorded rounds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from purse.errors import InvalidInput, shorten
from purse.offline.log_result import LogResult
from purse.offline.off_policy import estimate_log
from purse.offline.source import read
from purse.offline.table_replay import DEFAULT_POLICIES, TableReplay, replay_table

if TYPE_CHECKING:
    import polars as pl


def replay(
    data: str | os.PathLike[str] | pl.DataFrame,
    *,
    budgets: float | Sequence[float],
    policies: str | ModuleType | Sequence[str | ModuleType] = DEFAULT_POLICIES,
    horizon: int | None = None,
    n_paths: int = 100,
    seed: int = 0,
    stop: str | None = None,
    n_workers: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    arm: str = "arm",
    reward: str = "reward",
    cost: str = "cost",
    round: str = "round",
    probability: str = "probability",
) -> TableReplay | LogResult:
    """Replay policies on a file (CSV, Parquet, JSON lines) or a frame of recorded rounds, with each
    budget.

    A *log* has a column `probability`: the arm that was chosen in each round, what it returned and
    cost, and the probability that it was chosen with. Each policy's gain is estimated, with
    intervals that hold the log's own uncertainty. A *full table* has what every arm returned and
    cost in every round, as pairs of columns (`reward_small`, `cost_small`, ...) or a row for each
    round and arm: policies are replayed exactly, on rows in random order.

    horizon   rounds that a player has and knows of; by default all of a table's, and without limit
              for a log
    stop      what happens when a pull cannot be paid; by default "retry" where there is a horizon,
              "exit" where there is none
    folder    of a table's results, which are kept there and found again
    arm, reward, cost, round, probability   the names of the columns; in the wide form what they
    begin with
    """
    source = read(data)
    columns: dict[str, Any] = {"arm": arm, "reward": reward, "cost": cost}
    common: dict[str, Any] = {
        "policies": policies,
        "budgets": budgets,
        "horizon": horizon,
        "n_paths": n_paths,
        "seed": seed,
        "n_workers": n_workers,
    }
    names = source.frame.columns
    if arm in names and probability not in names and round not in names:
        raise InvalidInput(
            f"{source.path} has neither {probability!r}, which a log needs, nor "
            f"{round!r}, which a table of one row for each round and arm needs; "
            f"it has {shorten(', '.join(names))}"
        )
    if probability in names:
        return estimate_log(source, **common, **columns, probability=probability, stop=stop)
    return replay_table(
        source, **common, **columns, round=round, stop=stop or "retry", folder=folder
    )
