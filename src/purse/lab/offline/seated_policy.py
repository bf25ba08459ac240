"""A policy that sees contexts, as one that plays the rounds of a log, see `logged_rounds`."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from purse.compiler.kernel import attach
from purse.engine.job import Job
from purse.kernels.random import U, at, mix, uniform
from purse.lab.offline.logged_rounds import (
    COUNT,
    DRAWS,
    PLAYED,
    ROW,
    LoggedRounds,
    find_row,
    keep_credit,
    set_credit,
    show_row,
)
from purse.types import SKIP, STOP, Now, Play, World

MOST_DRAWS = 10_000  # of rows for one round

inner_choose: Any = None  # these two are bound by `seated`
inner_update: Any = None


class SeatedParams(NamedTuple):
    """What a policy is told, and the log that it plays on."""

    inner: Any
    log: LoggedRounds


def choose(params: SeatedParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    """Ask the policy about rows until it chooses what was logged."""
    log = params.log
    row = log.row[1]
    again = mix(now.key + U(ROW))
    key = now.key
    number = 0
    while True:
        fresh = Now(
            key,
            now.t,
            now.rounds_left,
            now.left,
            now.masked,
            now.allowed,
            now.pending,
            now.context,
        )
        inner_choose(params.inner, state, scratch, fresh, play)
        arm = play.arms[0]
        if number == 0:
            set_credit(log, arm)
            if arm >= 0:
                log.asked[arm] += 1
        if arm < SKIP or arm == log.arm[row]:
            break
        if arm == SKIP and uniform(at(again, number), ROW + 1) < log.chance[row]:
            break
        number += 1
        if number == MOST_DRAWS:
            log.lost[0] += 1
            play.arms[0] = STOP
            break
        key = at(again, number)
        row = find_row(log, 0, log.upto.shape[0], uniform(key, ROW))
        show_row(log, row, now.context)
    log.row[0] = row
    log.wanted[0] = play.arms[0]
    if play.arms[0] >= SKIP:
        log.credits[log.path[0], COUNT] += 1
        log.credits[log.path[0], DRAWS] += number + 1
    if play.arms[0] == SKIP:
        keep_credit(log)


def update(params: SeatedParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    """Teach the policy the round that was played, and credit it."""
    log = params.log
    row = log.row[0]
    show_row(log, row, now.context)
    inner_update(params.inner, state, scratch, now, play)
    if log.wanted[0] != play.arms[0]:
        set_credit(log, play.arms[0])
    log.pending[PLAYED] = log.values[row, 0]
    keep_credit(log)
    log.visits[row] += 1


@cache
def seated(policy: ModuleType) -> ModuleType:
    """Return the policy as one that plays logged rounds."""
    found = ModuleType(policy.__name__)
    vars(found).update(
        {name: value for name, value in vars(policy).items() if not name.startswith("__")}
    )
    vars(found).update(
        init=lambda params, problem: policy.init(params.inner, problem),
        choose=attach(choose, inner_choose=policy.choose),
        update=attach(update, inner_update=policy.update),
    )
    if hasattr(policy, "scratch"):
        vars(found)["scratch"] = lambda params, problem: policy.scratch(params.inner, problem)
    return found


def seat(job: Job, world: World) -> Job:
    """Return the job of a policy that sees contexts, on the logged rounds of this world."""
    params = job.params.inner if isinstance(job.params, SeatedParams) else job.params
    return job._replace(
        policy=seated(job.policy) if params is job.params else job.policy,
        params=SeatedParams(params, world.tables),
        world=world,
    )
