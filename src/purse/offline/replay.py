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
    """Replay policies on recorded rounds with each budget.

    data      a file (CSV, Parquet, JSON lines) or a frame, in one of two forms
    budgets   one amount or several, in the unit of the recorded costs
    policies  one policy or several, as in `purse.simulate`
    horizon   the number of rounds, known to the policy; None: all of a table's, and no limit for a
              log
    n_paths   orders of a table's rows, or simulated games for a log
    stop      the stop rule; None: "retry" where there is a horizon, else "exit"
    n_workers threads; their number changes no result
    folder    a folder that keeps the results of a table; a repeat reads them
    arm, reward, cost, round, probability   the names of the columns; in a wide table, their
                                            prefixes

    A *log* has a row for each round: the chosen arm, its reward and cost, and the probability with
    which it was chosen. The column `probability` makes the data a log. Each policy's gain is
    estimated, with intervals that include the log's own uncertainty. A *full table* has the reward
    and cost of every arm in every round. It has pairs of columns (`reward_small`, `cost_small`,
    ...) or a row for each round and arm. Policies are replayed exactly, on rows in random order.

    Return a `LogResult` for a log and a `TableReplay` for a table.

    Raise `InvalidInput` when the data has neither form.
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
            f"{source.path} has neither {probability!r}, which a log needs, nor {round!r}, which a "
            f"table of one row for each round and arm needs; it has {shorten(', '.join(names))}"
        )
    if probability in names:
        return estimate_log(source, **common, **columns, probability=probability, stop=stop)
    return replay_table(
        source, **common, **columns, round=round, stop=stop or "retry", folder=folder
    )
