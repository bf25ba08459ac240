"""What policies would have gained, from a log that was read, by each method."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse.base import validation
from purse.base.processes import usable_cores
from purse.base.progress import progress
from purse.engine.job import SEEDS, make_job
from purse.errors import invalid
from purse.lab.offline import bootstrap
from purse.lab.offline import model_world as models
from purse.lab.offline.as_logged import as_logged
from purse.lab.offline.log import Log
from purse.lab.offline.log_player import LogPlayer, budget_of
from purse.lab.offline.log_result import LogResult
from purse.lab.report.data import LogFacts, Recording
from purse.lab.study import manifest

WORK = {"policy": 4, "arm": 1}  # what a player takes, for the bar
NO_LIMIT = "none"  # as a horizon
PATHS, THOROUGH_PATHS = 100, 1_000  # simulated games
METHODS = ("replay", *models.METHODS)


class Question(NamedTuple):
    """What is asked of a log."""

    policies: list[str | ModuleType]
    budgets: list[Any]  # in the user's unit: numbers, or with several resources one for each
    n_paths: int
    seed: int
    methods: tuple[str, ...]
    stop: str | None  # None: "retry" where there is a horizon, else "exit"
    replicates: int  # logs drawn again from the log


def ask(
    policies: str | ModuleType | Sequence[str | ModuleType],
    budgets: Any,
    *,
    n_paths: int | None,
    seed: int,
    methods: Sequence[str],
    stop: str | None,
    replicates: int | None = None,
    thorough: bool = False,
) -> Question:
    """Return what is asked. Raise `InvalidInput` where a value is not allowed."""
    chosen = tuple(validation.choice("methods", method, METHODS) for method in methods)
    usual = (
        (THOROUGH_PATHS, bootstrap.THOROUGH_REPLICATES)
        if thorough
        else (PATHS, bootstrap.REPLICATES)
    )
    n_paths = validation.integer("n_paths", usual[0] if n_paths is None else n_paths, low=2)
    logs = validation.integer("replicates", usual[1] if replicates is None else replicates, low=2)
    seed = validation.integer("seed", seed, low=0, high=SEEDS)
    players = [policies] if isinstance(policies, (str, ModuleType)) else list(policies)
    sizes = list(budgets) if isinstance(budgets, Sequence) else [budgets]
    for field, entries in (("policies", players), ("budgets", sizes), ("methods", chosen)):
        if not entries:
            raise invalid(field, entries, "must have at least one entry")
    return Question(players, sizes, n_paths, seed, chosen, stop, logs)


def estimate(
    log: Log,
    question: Question,
    *,
    command: str,
    references: bool = False,
    n_workers: int | None = None,
) -> LogResult:
    """Return what each policy would have gained with each budget, by each method, with 95%
    intervals that hold the uncertainty of the log.

    command      how to ask again
    references   whether to add what the log itself gained, and each arm alone
    """
    chosen, stop = question.methods, question.stop
    rule = stop or ("exit" if log.horizon is None else "retry")
    played = LogPlayer(
        log,
        chosen,
        n_paths=question.n_paths,
        replicates=question.replicates,
        seed=question.seed,
        workers=validation.workers(n_workers) or usable_cores(),
    )
    alone = "hold" if rule == "hold" else "exit"
    jobs = [
        (make_job(policy, played.model.world, budget, stop=rule, seed=question.seed), "policy")
        for policy in question.policies
        for budget in question.budgets
    ]
    if references:
        for budget in question.budgets:
            for arm, name in enumerate(log.arms):
                job = make_job(
                    f"fixed:arm={arm}", played.model.world, budget, stop=alone, seed=question.seed
                )
                jobs.append((job._replace(name=f"always {name}"), "arm"))
    answers = []
    with progress("replaying the log") as bar:
        players = dict.fromkeys(question.policies, rule)
        if references:
            players["fixed:arm=0"] = alone
        played.warm_up(players, question.budgets[0], bar)
        ends = np.cumsum([0, *(WORK[kind] for _, kind in jobs)]) / sum(
            WORK[kind] for _, kind in jobs
        )
        for number, (job, kind) in enumerate(jobs):
            title = f"{number + 1} of {len(jobs)}, {job.name}, budget {budget_of(job):g}"
            bar.part(ends[number], ends[number + 1] - ends[number], title)
            by_method = played.by_method(job, bar)
            answers += [by_method[method]._replace(kind=kind) for method in chosen]
    if references:
        answers += as_logged(log, question.budgets, chosen, question.replicates, question.seed)
    note = "" if log.contexts is None else log.contexts.note
    facts = LogFacts(
        title=f"{log.name}: which policy spends a budget best?",
        command=command,
        replay=Recording("log", log.name, len(log), log.horizon, list(log.arms), note),
        policies=list(dict.fromkeys(each.policy for each in answers if each.kind == "policy")),
        budgets=list(dict.fromkeys(answer.budget for answer in answers)),
        n_paths=question.n_paths,
        seed=question.seed,
        stop=rule,
        replicates=question.replicates,
        **manifest.surroundings(),
        made=manifest.now(),
    )
    return LogResult(log, tuple(answers), facts)
