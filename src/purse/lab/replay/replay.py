"""`purse.replay`: which policy would have spent a budget best, on recorded rounds."""

import os
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

from purse.base.optional import check_lab
from purse.errors import InvalidInput, invalid
from purse.lab.data.frame import Data
from purse.lab.data.log import Log
from purse.lab.data.question import NO_LIMIT, WITHIN, Question, Wanted
from purse.lab.data.rounds import Rounds, open_rounds
from purse.lab.replay.ask_savings import ask_savings
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.off_policy import estimate
from purse.lab.replay.savings_result import SavingsResult
from purse.lab.replay.table_replay import TableReplay, ask_table, default_policies

_ASIDE = ("data", "n_workers", "folder")  # no part of the question


def replay(
    data: Data | Rounds,
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
    reward_range: tuple[float, float] | None = None,
    cost_min: Any = None,
    cost_max: Any = None,
    rewards: Data | None = None,
    on: str | None = None,
    block: str | None = None,
    within: float = WITHIN,
) -> TableReplay | LogResult | SavingsResult:
    """Replay policies on recorded rounds with each budget; without budgets say what would have
    been as good for less.

    data      a file (CSV, TSV, Parquet, JSON or JSON lines, packed as .gz or not), "-" for standard
              input, or a frame of pandas, polars or Arrow, in one of three forms; exports of
              LiteLLM, Langfuse and OpenTelemetry are known by their headers
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
    reward_range, cost_min, cost_max   bounds that policies are told, if they are wider than a log:
              two numbers, and for costs one number or one for each arm
    rewards, on   a file or frame of judged answers, and the column of ids that it shares with the
              log; a sample of the rows is enough
    block     a column of sessions: rows of one are not independent
    within    without budgets: the part of the log's gain that may be missing

    A *log* has a row for each round: the chosen arm, its reward and cost, and the probability with
    which it was chosen. The column `probability` makes the data a log. A log without one is read
    with `probability="uniform"` if every arm was as likely, or `probability="frequency"` if the
    choice had nothing to do with the round: then each arm's share of the rows stands in for it,
    and a warning says so. Each policy's gain is estimated, with intervals that include the log's
    own uncertainty, beside what the log itself gained and each arm alone. The *export of a
    campaign*, as `Campaign.export` writes it, is read as a log. A *full table* has the reward and
    cost of every arm in every round. It has pairs of columns (`reward_small`, `cost_small`, ...) or
    a row for each round and arm. Policies are replayed exactly, on rows in random order.

    Return a `LogResult` for a log or a campaign, a `TableReplay` for a table, and a `SavingsResult`
    without budgets.

    Raise `InvalidInput` when the data has none of these forms, or when a campaign chose nearly all
    its arms with probability 1.
    """
    asked = {name: value for name, value in locals().items() if name not in _ASIDE}
    check_lab("replay", "numba", "polars")
    question = Question(**asked)
    rounds = open_rounds(data, question)
    campaign = isinstance(rounds, Log) and bool(rounds.budget)
    if budgets is None and not campaign:
        if policies is not None:
            raise InvalidInput("budgets: is missing; policies need one, or several (--budget)")
        return ask_savings(rounds, question)
    if policies is None:
        contexts = None if rounds.contexts is None else rounds.contexts.features.names
        question = replace(question, policies=default_policies(contexts))
    if isinstance(rounds, Log):
        return estimate(rounds, replace(question, references=not campaign), n_workers)
    if horizon == NO_LIMIT:
        raise invalid("horizon", horizon, "must be a number for a table, which ends")
    return ask_table(rounds, question, n_workers, folder)
