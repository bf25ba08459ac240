"""`estimate_log`: which policy would have gained how much, from a log that another policy wrote."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from purse.base import validation
from purse.lab.offline.estimates import METHODS, NO_LIMIT, ask, estimate
from purse.lab.offline.feature_columns import Wanted
from purse.lab.offline.log import read_log
from purse.lab.offline.log_result import LogResult
from purse.lab.offline.source import Source, read
from purse.lab.report.command import command

if TYPE_CHECKING:
    import polars as pl


def estimate_log(
    data: str | os.PathLike[str] | pl.DataFrame | Source,
    *,
    policies: str | ModuleType | Sequence[str | ModuleType],
    budgets: float | Sequence[float],
    n_paths: int | None = None,
    thorough: bool = False,
    replicates: int | None = None,
    references: bool = False,
    seed: int = 0,
    horizon: int | str | None = None,
    methods: Sequence[str] = METHODS,
    arm: str = "arm",
    reward: str = "reward",
    cost: str = "cost",
    probability: str = "probability",
    arms: Sequence[str] | None = None,
    reward_range: tuple[float, float] | None = None,
    cost_min: Any = None,
    cost_max: Any = None,
    stop: str | None = None,
    features: Wanted | None = None,
    per_arm: bool = False,
    n_workers: int | None = None,
    read_as: Mapping[str, Any] | None = None,
) -> LogResult:
    """Return what each policy would have gained with each budget, by each method, with 95%
    intervals that hold the uncertainty of the log.

    data        a file (.csv, .parquet, .jsonl) or a Polars frame: one row per round, one pull each
    n_paths     simulated games of each policy; None: 100
    thorough    whether to take ten times as many games, and logs that are drawn again
    replicates  logs that are drawn again from the log, for the intervals; None: 100
    references  whether to add what the log itself gained, and each arm alone
    horizon     rounds after which the game ends, known to the policies; then costs may be 0. None
                or "none": no limit
    arm, reward, cost, probability   the columns; probability is that of the logged arm when it was
                                     chosen; "uniform" or "frequency" where there is none, see
                                     `purse.replay`
    arms        all arms, where some were never logged, or in the order in which policies know them;
                else those in the log, sorted
    reward_range, cost_min, cost_max   what policies are told, where that is wider than what the log
                                       holds
    stop        what happens when a pull cannot be paid; "retry" where there is a horizon, "exit"
                where there is none
    features, per_arm   columns that policies with contexts see, as in `purse.replay`
    read_as     options that a source was read with, for the command that asks again

    What is estimated is the expected gain of the whole game, learning included: the policy starts
    with nothing learnt and the full budget, contexts come as often as in the log, and rewards and
    costs of an arm in a context as they were logged there.
    """
    source = data if isinstance(data, Source) else read(data)
    horizon = None if horizon == NO_LIMIT else horizon
    horizon = None if horizon is None else validation.integer("horizon", horizon, low=1)
    columns: dict[str, Any] = {
        "arm": arm,
        "reward": reward,
        "cost": cost,
        "probability": probability,
    }
    declared: dict[str, Any] = {
        "arms": arms,
        "reward_range": reward_range,
        "cost_min": cost_min,
        "cost_max": cost_max,
    }
    seen: dict[str, Any] = {"features": features, "per_arm": per_arm}
    asked: dict[str, Any] = {"seed": seed, "methods": methods, "stop": stop}
    how_much: dict[str, Any] = {"n_paths": n_paths, "thorough": thorough}
    question = ask(policies, budgets, **asked, **how_much, replicates=replicates)
    log = read_log(source, **columns, **declared, **seen, horizon=horizon)
    options: dict[str, Any] = {
        "horizon": NO_LIMIT if horizon is None else horizon,
        **how_much,
        "seed": question.seed,
        "stop": stop,
        **(read_as or {}),
    }
    declared = {
        "methods": None if question.methods == METHODS else list(question.methods),
        "replicates": replicates,
        **declared,
    }
    options |= (
        columns | seen | {name: value for name, value in declared.items() if value is not None}
    )
    function = "purse.lab.offline.off_policy.estimate_log"
    again = command(source.name, question.policies, question.budgets, function, **options)
    return estimate(log, question, command=again, references=references, n_workers=n_workers)
