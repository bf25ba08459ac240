"""`estimate_log`: which policy would have gained how much, from a log that another policy wrote.

What is estimated is the expected gain of the whole game, learning included: the policy starts with
nothing learnt and the full budget, contexts come as often as in the log, and rewards and costs of
an arm in a context as they were logged there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from purse.base import validation
from purse.base.progress import progress
from purse.base.validation import usable_cores
from purse.engine.job import Job, make_job
from purse.lab.data.frame import Data
from purse.lab.data.log import Log, read_log
from purse.lab.data.question import METHODS, NO_LIMIT, Question
from purse.lab.data.reading import open_source, without_empty
from purse.lab.data.source import Source
from purse.lab.replay.estimates import LogPlayer, as_logged, budget_of
from purse.lab.replay.log_result import LogFacts, LogResult
from purse.lab.study import manifest
from purse.lab.study.manifest import Recording

_WORK = {"policy": 4, "arm": 1}  # what a player takes, for the bar
_FUNCTION = "purse.lab.replay.off_policy.estimate_log"


def estimate_log(
    data: Data | Source,
    *,
    n_workers: int | None = None,
    **asked: Any,
) -> LogResult:
    """Return what each policy would have gained with each budget, by each method, with 95%
    intervals that hold the uncertainty of the log.

    data        a file (.csv, .parquet, .jsonl) or a frame: one row per round, one pull each
    n_workers   threads; their number changes no result
    asked       the fields of `Question`; without a horizon games have no limit on rounds

    Raise `InvalidInput` if a column is missing or a value is not allowed.
    """
    question = Question(**asked)
    source = without_empty(open_source(data, question), question, log=True)
    return ask_log(source, question, n_workers)


def ask_log(source: Source, question: Question, n_workers: int | None) -> LogResult:
    """Read the log in a source, and estimate what is asked of it."""
    limit = question.limit
    question.check()
    log = read_log(source, question)
    methods = METHODS if tuple(question.methods) == METHODS else list(question.methods)
    written = replace(question, horizon=limit or NO_LIMIT, methods=methods)
    return estimate(log, question, written.command(source.name, _FUNCTION), n_workers)


def estimate(log: Log, question: Question, command: str, n_workers: int | None = None) -> LogResult:
    """Return what is asked of a log that was read.

    command   how to ask again
    """
    methods, seed = question.methods, question.seed
    rule = question.stop or ("exit" if log.horizon is None else "retry")
    alone = "hold" if rule == "hold" else "exit"
    player = LogPlayer(log, question, workers=validation.workers(n_workers) or usable_cores())
    world = player.model.world
    jobs: list[tuple[Job, str]] = [
        (make_job(policy, world, budget, stop=rule, seed=seed), "policy")
        for policy in question.players
        for budget in question.sizes
    ]
    loops = dict.fromkeys(question.players, rule)
    if question.references:
        loops["fixed:arm=0"] = alone
        for budget in question.sizes:
            for arm, name in enumerate(log.arms):
                job = make_job(f"fixed:arm={arm}", world, budget, stop=alone, seed=seed)
                jobs.append((job._replace(name=f"always {name}"), "arm"))
    answers = []
    with progress("replaying the log") as bar:
        player.warm_up(loops, question.sizes[0], bar)
        work = [_WORK[kind] for _, kind in jobs]
        ends = np.cumsum([0, *work]) / sum(work)
        for number, (job, kind) in enumerate(jobs):
            title = f"{number + 1} of {len(jobs)}, {job.name}, budget {budget_of(job):g}"
            bar.part(ends[number], ends[number + 1] - ends[number], title)
            by_method = player.by_method(job, bar)
            answers += [by_method[method]._replace(kind=kind) for method in methods]
    if question.references:
        answers += as_logged(log, question)
    note = "" if log.contexts is None else log.contexts.note
    facts = LogFacts(
        title=f"{log.name}: which policy spends a budget best?",
        command=command,
        replay=Recording("log", log.name, len(log), log.horizon, list(log.arms), note),
        policies=list(dict.fromkeys(row.policy for row in answers if row.kind == "policy")),
        budgets=list(dict.fromkeys(row.budget for row in answers)),
        n_paths=question.games,
        seed=seed,
        stop=rule,
        replicates=question.logs,
        **manifest.surroundings(),
        made=manifest.now(),
    )
    return LogResult(log, tuple(answers), facts)
