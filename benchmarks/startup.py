"""What one waits for: fresh processes, and code that is compiled for the first time."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import purse
from benchmarks.instance import BUDGET, USUAL, best, policy_terms, say, timed, world
from purse.base.validation import usable_cores
from purse.engine.job import make_job

FIRST = "import purse; purse.simulate('exp3++.bwk', 'misleading_ratio', 100, n_paths=10)"
WAITS = {
    "python alone": "pass",
    "import purse": "import purse",
    "first simulation, compiled before": FIRST,
}
COLD = "first simulation, nothing compiled"
ARMS = "abc"
ROWS = 5_000  # of the data that is replayed
# commands by what is waited for; each finds nothing compiled
COMMANDS = {
    "`purse compare`, nothing compiled": "compare",
    f"`purse replay`, a log of {ROWS:,} rows, nothing compiled": "replay log.csv --budget 500",
    f"`purse replay`, a table of {ROWS:,} rows, nothing compiled": "replay table.csv --budget 500",
    "`purse campaign ask`, nothing compiled": "campaign ask prompts",
}
CAMPAIGN = "campaign new prompts --arm small=0.01 --arm large=0.05 --budget 25"


def prepare(policy: str) -> None:
    """Have all machine code of a policy on disk."""
    purse.simulate(policy, world(USUAL), 10, n_paths=1, **policy_terms(policy, 10))
    live = purse.Policy.of(
        make_job(policy, world(USUAL), BUDGET, **policy_terms(policy, BUDGET)).problem,
        policy,
        seed=0,
        stop="hold",
    )
    live.tell(live.ask(), 1, 0.9)


def prepare_all() -> None:
    """Compile what is not compiled yet, on all cores, so that nothing is while others are
    measured.
    """
    names = purse.policies.names()
    with ProcessPoolExecutor(usable_cores(), multiprocessing.get_context("spawn")) as pool:
        for done, _ in enumerate(pool.map(prepare, names), 1):
            say(f"compiled: {done} of {len(names)} policies") if done % 10 == 0 or done == len(
                names
            ) else None


def waits() -> dict[str, float]:
    """Seconds of fresh processes, the best of a few; those that compile once."""
    with tempfile.TemporaryDirectory() as cache:

        def seconds_of(code: str) -> float:
            return timed(lambda: fresh(cache, "-c", code), time.perf_counter)

        cold = seconds_of(FIRST)
        say(f"{COLD}: {cold:.1f} s")
        times = {
            name: 1 / best(lambda code=code: 1 / seconds_of(code))  # type: ignore[misc]
            for name, code in WAITS.items()
        }
    return {**times, COLD: cold, **cold_commands()}


def cold_commands() -> dict[str, float]:
    """Seconds of commands that find nothing compiled."""
    times = {}
    for name, words in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            write_data(Path(folder))
            cache = f"{folder}/cache"
            fresh(cache, "-m", "purse", *CAMPAIGN.split(), folder=folder)
            command = partial(fresh, cache, "-m", "purse", *words.split(), folder=folder)
            times[name] = timed(command, time.perf_counter)
        say(f"{name}: {times[name]:.1f} s")
    return times


def fresh(cache: str, *words: str, folder: str | None = None) -> None:
    """Run a fresh process of Python that keeps its machine code in this folder, quietly."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, *words]
    subprocess.run(command, check=True, env=environment, cwd=folder, capture_output=True)


def write_data(folder: Path) -> None:
    """Write a log and a table of the same kind."""
    rng = np.random.default_rng(0)
    rewards = (rng.random((ROWS, len(ARMS))) < [0.3, 0.5, 0.7]).astype(int)
    costs = (rng.uniform(0.5, 1.5, rewards.shape) * [0.1, 0.4, 0.7]).round(4)
    arm = rng.integers(len(ARMS), size=ROWS)
    every = np.arange(ROWS)
    log = {
        "arm": list(np.array(list(ARMS))[arm]),
        "reward": rewards[every, arm],
        "cost": costs[every, arm],
        "probability": np.full(ROWS, 1 / len(ARMS)),
    }
    pl.DataFrame(log).write_csv(folder / "log.csv")
    table = {f"reward_{arm}": rewards[:, k] for k, arm in enumerate(ARMS)}
    table |= {f"cost_{arm}": costs[:, k] for k, arm in enumerate(ARMS)}
    pl.DataFrame(table).write_csv(folder / "table.csv")
