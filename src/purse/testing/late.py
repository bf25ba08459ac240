"""Games with late reports, played through a live policy: the engine must play them likewise."""

import math
from collections import Counter, defaultdict
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse.engine import cpu
from purse.engine.delay import Delay
from purse.engine.draws import contexts, draws
from purse.engine.job import Job, make_job
from purse.errors import AskRefused, HorizonReached
from purse.kernels.random import DELAY, U, at, stream, uniform
from purse.live.policy import Policy
from purse.testing.games import answer, check_same, context_of, live_policy, next_round
from purse.types import STOP_RULES, Ints, Ticket, World

_DELAYS: tuple[Any, ...] = (3, "geometric:6")
_LATE_ROUNDS = 400  # at most, in a game with late reports


class _LatePlay(NamedTuple):
    """A game with late reports at its end."""

    live: Policy
    rounds: int
    pulls: Ints  # (K,)
    refused: int  # asks that were refused while tickets were out
    repeated: int  # rounds that were asked for again


def _extra_turns(delay: Delay, seed: int, t: int, attempt: int) -> int:
    if not delay.geometric:
        return int(delay.mean)
    chance = 1 - uniform(U(at(U(stream(seed, 0, DELAY)), t)), attempt)
    return math.floor(math.log(chance) / math.log(delay.mean / (1 + delay.mean)))


def _play_live(job: Job, policy: str | ModuleType, world: World) -> _LatePlay:
    """Play path 0 of a job through `purse.Policy`."""
    seed, live = job.game.seed, live_policy(policy, job)
    n_rounds = min(_LATE_ROUNDS, world.n_rounds or _LATE_ROUNDS)
    rewards, costs = draws(world, n_rounds, seed=seed)
    shown = contexts(world, n_rounds, seed=seed)
    due: dict[int, list[Ticket]] = defaultdict(list)
    attempts, pulls = Counter[int](), np.zeros(world.n_arms, np.int64)
    rounds = refused = turn = 0
    while True:
        turn += 1
        for ticket in due.pop(turn, []):
            if answer(live, ticket, rewards[ticket.t - 1], costs[ticket.t - 1]):
                rounds += 1
                pulls[ticket.arm] += 1
        t = next_round(live)
        allowed = None if world.outages is None else world.outages.allowed(t)
        try:
            ticket = live.ask(allowed, context_of(world, shown, t))
        except AskRefused as error:
            if not due:
                again = sum(count > 1 for count in attempts.values())
                return _LatePlay(live, rounds, pulls, refused, again)
            if not live.over and not isinstance(error, HorizonReached):
                refused += 1
                if job.problem.horizon is not None:  # the round passes
                    live.t += 1
                    if allowed is not None and live._counts_masks:
                        live._count_mask()
                    rounds += 1
            continue
        if ticket.skipped:
            rounds += 1
            continue
        late_by = _extra_turns(job.delay, seed, ticket.t, attempts[ticket.t])
        due[turn + 1 + late_by].append(ticket)
        attempts[ticket.t] += 1


def check_delays(
    policy: str | ModuleType, world: World, *, budget: Any, horizon: int | None
) -> None:
    """Check that live use and the engine agree to the last bit where reports come late."""
    for rule in STOP_RULES:
        for delay in _DELAYS:
            job = make_job(policy, world, budget, stop=rule, horizon=horizon, delay=delay)
            label = f"{job.policy.NAME} on {world.name} under stop={rule!r}, delay {delay}"
            results, state = cpu.play_block(job, 1)
            played = _play_live(job, policy, world)
            check_same(label, played.rounds, played.pulls, played.live, results, state)
