"""`purse.replay`: which policy would have spent a budget best, on recorded rounds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from purse.base.optional import check_lab
from purse.errors import InvalidInput, invalid
from purse.lab.data.frame import Data
from purse.lab.data.question import NO_LIMIT, Question, Wanted
from purse.lab.data.reading import costs_of, is_log, open_source, read_rounds, without_empty
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.off_policy import ask_log, estimate
from purse.lab.replay.table_replay import TableReplay, ask_table, default_policies

_FIT = "fit"  # the stop rule of campaigns
_METHODS = ("snips",)  # rounds in which an arm had no chance do not touch it


def replay(
    data: Data,
    *,
    budgets: float | Sequence[Any] | None = None,
    policies: str | ModuleType | Sequence[str | ModuleType] | None = None,
    horizon: int | str | None = None,
    n_paths: int | None = None,
    thorough: bool = False,
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
    map: str | None = None,
    decimal: str | None = None,
    skip_empty: bool = False,
    empty: str | Sequence[str] = (),
) -> TableReplay | LogResult:
    """Replay policies on recorded rounds with each budget.

    data      a file (CSV, TSV, Parquet, JSON lines), "-" for standard input, or a frame of pandas,
              polars or Arrow, in one of three forms
    budgets   one amount or several, in the unit of the recorded costs; None, for a campaign: its
              own. For a campaign with several resources a list of lists, one amount for each
    policies  one policy or several, as in `purse.simulate`; None: `replan`, `exp3++.prices` and
              `uniform`, and `lin-ucb.price` if there are features
    horizon   the number of rounds, known to the policy; None: as many as the data has, and a
              campaign's own; "none", for a log: no limit
    n_paths   orders of a table's rows, or simulated games for a log; None: 100
    thorough  whether to take ten times as many orders or games, and for the intervals of a log
              1,000 logs that are drawn again from it instead of 100
    stop      the stop rule; None: "retry" if there is a horizon, else "exit"; for a campaign
              "fit", its own
    n_workers threads; their number changes no result
    folder    a folder that keeps the results of a table; a repeat reads them
    arm, reward, cost, round, probability   the names of the columns; in a wide table, their
                                            prefixes. Other case and blanks do not matter
    features  columns that are known of a round before its arm is chosen: names, patterns such as
              "x_*", or a mapping from names to a range (low, high), classes, or None: as the data
              is. Policies that see contexts see them
    per_arm   whether each arm has features of its own: in columns such as length_small, or in the
              rows of a table with a row for each round and arm
    map       random cosines of the features that policies see, too, such as "fourier:48", so that
              they can learn what is not linear; None: none
    decimal   the mark before decimals in a text file, "," or "."; None: as each column tells
    skip_empty   whether rows with an empty cell are left out; else they are refused. In a column of
              numbers n/a, NA, null, nan, none and - are empty, too
    empty     further words that stand for an empty cell, in every column

    A *log* has a row for each round: the chosen arm, its reward and cost, and the probability with
    which it was chosen. The column `probability` makes the data a log. A log without one is read
    with `probability="uniform"` if every arm was as likely, or `probability="frequency"` if the
    choice had nothing to do with the round: then each arm's share of the rows stands in for it,
    and a warning says so. Each policy's gain is estimated, with intervals that include the log's
    own uncertainty, beside what the log itself gained and each arm alone. The *export of a
    campaign*, as `Campaign.export` writes it, is read as a log. A *full table* has the reward and
    cost of every arm in every round. It has pairs of columns (`reward_small`, `cost_small`, ...) or
    a row for each round and arm. Policies are replayed exactly, on rows in random order.

    Return a `LogResult` for a log or a campaign and a `TableReplay` for a table.

    Raise `InvalidInput` when the data has none of these forms, or when a campaign chose nearly all
    its arms with probability 1.
    """
    check_lab("replay", "numba", "polars")
    from purse.lab.data.journal import is_journal

    asked = Question(
        policies=policies,
        budgets=budgets,
        horizon=horizon,
        n_paths=n_paths,
        thorough=thorough,
        seed=seed,
        stop=stop,
        decimal=decimal,
        skip_empty=skip_empty,
        empty=empty,
        arm=arm,
        reward=reward,
        cost=cost,
        round=round,
        probability=probability,
        features=features,
        per_arm=per_arm,
        map=map,
        references=True,
    )
    if isinstance(data, (str, os.PathLike)) and is_journal(Path(data)):
        for name, value in (("features", features), ("map", map)):
            if value is not None:
                raise invalid(name, value, "must be left out; a campaign has its own")
        return _replay_journal(Path(data), asked, n_workers)
    source = open_source(data, asked)
    log = is_log(source, asked)
    source = without_empty(source, asked, log)
    if budgets is None:
        costs = costs_of(read_rounds(source, asked, log))
        raise InvalidInput(f"budgets: is missing; give one amount or several (--budget); {costs}")
    if policies is None:
        asked = replace(asked, policies=default_policies(features))
    if log:
        rounds = len(source.frame) if horizon is None else horizon
        return ask_log(source, replace(asked, horizon=rounds), n_workers)
    if horizon == NO_LIMIT:
        raise invalid("horizon", horizon, "must be a number for a table, which ends")
    return ask_table(source, asked, n_workers, folder)


def _replay_journal(path: Path, asked: Question, n_workers: int | None) -> LogResult:
    """Return what policies would have earned in the place of a campaign's own, see `replay`."""
    from purse.lab.data.journal import read_journal_log

    log, budget = read_journal_log(path)
    if asked.horizon is not None:
        log = replace(log, horizon=asked.limit)
    several = len(log.resources) > 1
    if several and not all(isinstance(size, Sequence) for size in asked.sizes):
        raise invalid(
            "budgets",
            asked.budgets,
            f"must be a list with an amount for each of the resources {', '.join(log.resources)}",
        )
    if asked.policies is None:
        features = None if log.contexts is None else log.contexts.features.names
        asked = replace(asked, policies=default_policies(features))
    again = asked.command(path)
    if asked.budgets is None:
        asked = replace(asked, budgets=[budget if several else budget[0]])
    asked = replace(asked, methods=_METHODS, stop=asked.stop or _FIT, references=False)
    asked.check()
    return estimate(log, asked, again, n_workers)
