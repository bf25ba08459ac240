"""The estimate of what each policy would have gained, from a log that another policy wrote.

What is estimated is the expected gain of the whole game, learning included: the policy starts with
nothing learnt and the full budget, contexts come as often as in the log, and rewards and costs of
an arm in a context as they were logged there.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from purse.base import validation
from purse.base.progress import progress
from purse.base.validation import usable_cores
from purse.engine.job import Job, make_job
from purse.errors import invalid
from purse.lab.data.log import Log
from purse.lab.data.question import NO_LIMIT, Question
from purse.lab.replay.estimates import LogPlayer, as_logged, budget_of
from purse.lab.replay.log_result import LogFacts, LogResult
from purse.lab.study import manifest
from purse.lab.study.manifest import Recording

_WORK = {"policy": 4, "arm": 1}  # what a player takes, for the bar
_FIT = "fit"  # the stop rule of campaigns


def estimate(log: Log, question: Question, n_workers: int | None = None) -> LogResult:
    """Estimate what each policy gains with each budget, with 95% intervals that hold the
    uncertainty of the log.

    n_workers   threads; their number changes no result

    Raise `InvalidInput` if a value is not allowed.
    """
    command = question.command(log.origin)
    if log.budget:
        question = _of_campaign(log, question)
    else:
        command = replace(question, horizon=log.horizon or NO_LIMIT).command(log.origin)
    question.check()
    seed = question.seed
    rule = question.stop or ("exit" if log.horizon is None else "retry")
    alone = "hold" if rule == "hold" else "exit"
    player = LogPlayer(log, question, workers=validation.workers(n_workers) or usable_cores())
    world = player.model.world
    jobs: list[tuple[Job, str]] = [
        (make_job(policy, world, budget, stop=rule, seed=seed), "policy")
        for policy in dict.fromkeys(question.players)
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
            answers.append(player.answer(job, bar)._replace(kind=kind))
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


def _of_campaign(log: Log, question: Question) -> Question:
    """Return the question about policies in the place of a campaign's own: with its budget and
    stop rule, if no other is named.
    """
    several = len(log.resources) > 1
    if several and not all(isinstance(size, Sequence) for size in question.sizes):
        raise invalid(
            "budgets",
            question.budgets,
            f"must be a list with an amount for each of the resources {', '.join(log.resources)}",
        )
    budgets = question.budgets
    if budgets is None:
        budgets = [list(log.budget) if several else log.budget[0]]
    stop = question.stop or _FIT
    return replace(question, budgets=budgets, stop=stop)
