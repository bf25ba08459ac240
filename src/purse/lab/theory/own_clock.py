r"""Own-clock regret: regret over the player's own spending, for worlds that change.

A block of pulls of arm j that starts in round t ends after a pull with probability c, its cost in
largest costs. V_t(j) is its mean gain: what arm j earns on average with the next unit of budget. If
the rows of different rounds are independent, V_t(j) = E r_t(j) + (1 - E c_t(j)) V_{t+1}(j). With
c_t what the player spends in round t, and tau its paid rounds, arm j is credited with

    V_1(j) + sum_{t <= tau} c_t V_{t+1}(j)

Own-clock regret is the largest mean credit less the mean gain. The page *What is true* says more.
"""

import math
from contextlib import suppress

import numpy as np

from purse.base import amounts
from purse.base.progress import Progress
from purse.compiler.jit import bind
from purse.engine import cpu
from purse.engine.job import Job
from purse.engine.workspace import CheckpointPlan
from purse.errors import InvalidInput
from purse.types import Floats, Ints, World

_MOST_NUMBERS = 20_000_000  # that are recorded over all rounds and paths: 160 MB
_SMALL = 1e-18  # the part of a value that rounds far ahead may change


def block_values(world: World, n_rounds: int) -> Floats:
    """Return V_t(j) for t = 1 .. n_rounds + 1, shape (n_rounds + 1, K).

    After the last row of a world that ends, that row goes on.

    Raise `InvalidInput` when the world has several resources, outages, a draw of its own or rows in
    a random order, unless its rounds are i.i.d.

    >>> from purse import worlds
    >>> block_values(worlds.function("same_costs")(), 2).round(4).tolist()
    [[1.0, 0.0], [0.9, 0.5], [1.0, 0.0]]
    """
    largest = float(world.cost_max.max()) / amounts.UNIT
    if world.efficiencies is not None:
        return np.repeat(world.efficiencies[None] * largest, n_rounds + 1, axis=0)
    tables = world.tables
    if (
        world.n_resources > 1
        or world.outages is not None
        or world.draw is not None
        or tables.shuffle
        or tables.sample
    ):
        raise InvalidInput(
            f"{world.name}: own-clock regret is for worlds that are tables of one resource, in a "
            "known order"
        )
    chances = np.diff(tables.below / 2.0**53, axis=2, prepend=0.0, append=1.0)
    rewards = (chances * tables.rewards).sum(axis=2)
    costs = (chances * tables.costs[..., 0]).sum(axis=2) / (amounts.UNIT * largest)
    ahead = math.ceil(math.log(_SMALL) / math.log1p(-min(float(costs.min()), 1 - 1e-9)))
    rounds = np.arange(n_rounds + 1 + ahead)
    if tables.period:
        rounds %= tables.period
    phases = np.minimum(np.searchsorted(tables.last, rounds + 1), len(tables.last) - 1)
    values = np.zeros((len(rounds) + 1, world.n_arms))
    bind(_fill_values)(phases, rewards, costs, values)
    return values[: n_rounds + 1]


def _fill_values(phases: Ints, rewards: Floats, costs: Floats, values: Floats) -> None:
    """Fill V_t(j) from the last round to the first."""
    for t in range(phases.shape[0] - 1, -1, -1):
        for j in range(values.shape[1]):
            stays = 1 - costs[phases[t], j]
            values[t, j] = rewards[phases[t], j] + stays * values[t + 1, j]


def is_defined(job: Job, n_paths: int) -> bool:
    """Return whether own-clock regret is defined for a job, and does not take too long."""
    world = job.world
    if world.efficiencies is not None:
        return True
    if n_paths * _most_rounds(job) * (world.n_arms + 3) > _MOST_NUMBERS:
        return False
    with suppress(InvalidInput):
        block_values(world, 0)
        return True
    return False


def _most_rounds(job: Job) -> int:
    """Return the most rounds that the budget of a job can pay for."""
    return int(job.problem.budget[0] // job.world.cost_min.min())


def credit_arms(job: Job, spent: Floats, n_workers: int | None, shown: Progress) -> Floats:
    """Return the credit of each arm on each path, shape (P, K).

    spent   what each path of the job spends, shape (P,), in the user's unit
    """
    world, n_rounds = job.world, _most_rounds(job)
    largest = float(world.cost_max.max()) / amounts.UNIT
    if world.efficiencies is not None:
        return np.outer(largest + spent, world.efficiencies)
    values = block_values(world, n_rounds)
    every_round = CheckpointPlan(np.arange(1, n_rounds + 1), np.zeros((0, 1), np.int64))
    recorded = job._replace(checkpoints=every_round)
    played = cpu.simulate(recorded, len(spent), n_workers, None, shown).by_round.spent[:, :, 0]
    paid = np.diff(played / (amounts.UNIT * largest), prepend=0.0, axis=1)
    credit: Floats = values[0] + paid @ values[1:]
    return credit
