"""`purse.replay`: which policy would have spent a budget best, on recorded rounds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from purse.base import validation
from purse.errors import InvalidInput, invalid, shorten
from purse.offline.estimates import ask, estimate
from purse.offline.feature_columns import Wanted
from purse.offline.log_result import LogResult
from purse.offline.off_policy import estimate_log
from purse.offline.source import read
from purse.offline.table_replay import TableReplay, default_policies, replay_table
from purse.report.command import command

if TYPE_CHECKING:
    import polars as pl

METHODS = ("snips",)  # rounds in which an arm had no chance do not touch it


def replay(
    data: str | os.PathLike[str] | pl.DataFrame,
    *,
    budgets: float | Sequence[Any] | None = None,
    policies: str | ModuleType | Sequence[str | ModuleType] | None = None,
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
    features: Wanted | None = None,
    per_arm: bool = False,
    archives: Sequence[str | os.PathLike[str]] = (),
) -> TableReplay | LogResult:
    """Replay policies on recorded rounds with each budget.

    data      a file (CSV, Parquet, JSON lines) or a frame, in one of three forms
    budgets   one amount or several, in the unit of the recorded costs; None, for a campaign: its
              own. For a campaign with several resources a list of lists, one amount for each
    policies  one policy or several, as in `purse.simulate`; None: `replan`, `exp3++.prices` and
              `uniform`, and `lin-ucb.price` where there are features
    horizon   the number of rounds, known to the policy; None: all of a table's, no limit for a log,
              and a campaign's own
    n_paths   orders of a table's rows, or simulated games for a log
    stop      the stop rule; None: "retry" where there is a horizon, else "exit"; for a campaign its
              own
    n_workers threads; their number changes no result
    folder    a folder that keeps the results of a table; a repeat reads them
    arm, reward, cost, round, probability   the names of the columns; in a wide table, their
                                            prefixes
    features  columns that are known of a round before its arm is chosen: names, patterns such as
              "x_*", or a mapping from names to a range (low, high), classes, or None: as the data
              is. Policies that see contexts see them
    per_arm   whether each arm has features of its own: in columns such as length_small, or in the
              rows of a table with a row for each round and arm
    archives  files that hold archived entries of a campaign

    A *log* has a row for each round: the chosen arm, its reward and cost, and the probability with
    which it was chosen. The column `probability` makes the data a log. Each policy's gain is
    estimated, with intervals that include the log's own uncertainty. The *export of a campaign*,
    as `Campaign.export` writes it, is read as a log. A *full table* has the reward and cost of
    every arm in every round. It has pairs of columns (`reward_small`, `cost_small`, ...) or a row
    for each round and arm. Policies are replayed exactly, on rows in random order.

    Return a `LogResult` for a log or a campaign and a `TableReplay` for a table.

    Raise `InvalidInput` when the data has none of these forms, or when a campaign chose nearly all
    its arms with probability 1.
    """
    from purse.campaign.journal_log import is_journal

    game: dict[str, Any] = {"n_paths": n_paths, "seed": seed}
    if isinstance(data, (str, os.PathLike)) and is_journal(Path(data)):
        if features is not None:
            raise invalid("features", features, "must be left out; a campaign has its own")
        return replay_journal(
            Path(data), archives, policies, budgets, horizon, stop, n_workers, **game
        )
    if archives:
        raise invalid(
            "archives", [str(path) for path in archives], "needs the export of a campaign"
        )
    if budgets is None:
        raise invalid("budgets", None, "must be one amount or several")
    source = read(data)
    policies = default_policies(features) if policies is None else policies
    columns: dict[str, Any] = {"arm": arm, "reward": reward, "cost": cost}
    common: dict[str, Any] = {
        "policies": policies,
        "budgets": budgets,
        "horizon": horizon,
        **game,
        "n_workers": n_workers,
        "features": features,
        "per_arm": per_arm,
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


def replay_journal(
    path: Path,
    archives: Sequence[str | os.PathLike[str]],
    policies: str | ModuleType | Sequence[str | ModuleType] | None,
    budgets: Any,
    horizon: int | None,
    stop: str | None,
    n_workers: int | None,
    **game: Any,
) -> LogResult:
    """What policies would have earned in the place of a campaign's own, see `replay`."""
    from purse.campaign.journal_log import read_journal_log

    log, own_stop, budget = read_journal_log(path, [Path(archive) for archive in archives])
    if horizon is not None:
        log = replace(log, horizon=validation.integer("horizon", horizon, low=1))
    several = len(log.resources) > 1
    sizes = [budget if several else budget[0]] if budgets is None else budgets
    if several and not all(isinstance(each, Sequence) for each in as_list(sizes)):
        raise invalid(
            "budgets",
            budgets,
            f"must be a list with an amount for each of the resources {', '.join(log.resources)}",
        )
    if policies is None:
        policies = default_policies(None if log.contexts is None else log.contexts.features.names)
    question = ask(policies, sizes, methods=METHODS, stop=stop or own_stop, **game)
    options = {**game, "horizon": horizon, "stop": stop, "archives": list(map(str, archives))}
    given = [] if budgets is None else question.budgets
    again = command(path, question.policies, given, "purse.replay", **options)
    return estimate(log, question, command=again, n_workers=n_workers)


def as_list(values: Any) -> list[Any]:
    """Several values, or one, as a list."""
    return list(values) if isinstance(values, Sequence) else [values]
