"""OPT, the reference of a gain, for each world of a case.

    money alone     the larger of two gains on the same draws: that of the best fixed arm, and that
                    of a player that knows the means and always pulls the most efficient arm of the
                    phase, of those that are up
    rounds, or      the value of the linear program (`purse.lab.theory.fluid`) over the rounds that
    resources       come, told or not; with outages, of that with a variable for each arm and mask
    contexts        the value of the linear program with contexts (`purse.lab.theory.contexts`)
    an adversary    v G*(w) in world w. G*(w) is the gain of the best fixed arm there, and v the
                    value of the game in which the player draws an arm to keep and the adversary
                    takes the world in which this earns the smallest part of G*

No player who cannot read the future earns more than v G* in both worlds of a pair that shows the
same first rounds. With one world v is 1: the best fixed arm is the optimum.
"""

import numpy as np

from purse.base import amounts
from purse.base.optional import scipy
from purse.engine.draws import draws
from purse.lab.theory.contexts import lp_with_contexts
from purse.lab.theory.fluid import lp_optimum
from purse.types import Bools, Floats, Ints, World
from research.leaderboard.case import Case

NEEDS = "the leaderboard"


def find_optima(
    case: Case, case_worlds: list[World], alone: list[Floats], seed: int
) -> list[float]:
    """Return OPT for each world of the case.

    alone   for each world the gain of each arm alone on each path, (K, P)
    """
    means = np.array([gains.mean(axis=1) for gains in alone])  # (W, K)
    best: Floats = means.max(axis=1)
    if case.adversary:
        return (game_value(means / best[:, None]) * best).tolist()
    (world,) = case_worlds
    ends = (case.horizon or world.horizon, world.n_rounds)  # told, and true
    horizon = min((end for end in ends if end is not None), default=None)
    if horizon is not None and world.outages is not None:
        return [outage_optimum(world, case.budget, horizon)]
    if world.n_features > 0:
        return [lp_with_contexts(world, case.budget, horizon=horizon)]
    if horizon is not None or world.n_resources > 1:
        return [lp_optimum(world, case.budget, horizon=horizon).value]
    return [max(float(best[0]), moving_oracle(world, case, seed))]


def game_value(shares: Floats) -> float:
    """Return the least share that a player who draws an arm gets against any adversary.

    shares   what each arm gets in each world, (W, K)

    >>> game_value(np.array([[1.0, 0.0], [0.5, 1.0]])).__round__(6)
    0.666667
    """
    n_worlds, n_arms = shares.shape
    # the variables are the chance of each arm, and the value
    value = np.concatenate([np.zeros(n_arms), [-1.0]])
    below = np.hstack([-shares, np.ones((n_worlds, 1))])
    one = np.concatenate([np.ones(n_arms), [0.0]])[None]
    solve = scipy("optimize", NEEDS).linprog
    return -float(solve(value, below, np.zeros(n_worlds), one, [1.0], method="highs").fun)


def outage_optimum(world: World, budget: float | tuple[float, ...], horizon: int) -> float:
    """Return the value of the linear program that knows means and outages.

    max sum mu(i) x(m, i)  subject to  sum rho_j(i) x(m, i) <= B_j,  sum_i x(m, i) <= the rounds
    with mask m, and x(m, i) = 0 for an arm that the mask does not allow.
    """
    assert world.outages is not None
    assert world.reward_means is not None
    assert world.cost_means is not None
    up, rounds = np.unique(up_in(world, np.arange(horizon)), axis=0, return_counts=True)
    one_each = np.kron(np.eye(len(up)), np.ones(world.n_arms))
    limits = np.vstack([np.tile(world.cost_means.T, len(up)), one_each])
    rights = [*(amounts.budget_array(budget, world.n_resources) / amounts.UNIT), *rounds]
    room = [(0, None if is_up else 0) for is_up in up.ravel()]
    gains = np.tile(world.reward_means, len(up))
    solve = scipy("optimize", NEEDS).linprog
    return -float(solve(-gains, limits, rights, bounds=room, method="highs").fun)


def moving_oracle(world: World, case: Case, seed: int) -> float:
    """Return the mean gain of always pulling the phase's most efficient arm, for one resource."""
    tables = world.tables
    chances = np.diff(tables.below / 2.0**53, axis=2, prepend=0.0, append=1.0)
    means = (chances * tables.rewards).sum(axis=2)
    efficiencies = means / (chances * tables.costs[..., 0]).sum(axis=2)
    budget = int(amounts.budget_array(case.budget, 1)[0])
    rounds = np.arange(budget // int(world.cost_min.min()) + 1)
    phases = np.searchsorted(tables.last, (rounds % tables.period if tables.period else rounds) + 1)
    arms = np.where(up_in(world, rounds), efficiencies[phases], -1).argmax(axis=1)
    gains = []
    for path in range(case.n_paths):
        rewards, costs = draws(world, len(rounds), seed=seed, path=path)
        paid = np.cumsum(costs[rounds, arms, 0]) <= budget
        gains.append(rewards[rounds, arms][paid].sum())
    return float(np.mean(gains))


def up_in(world: World, rounds: Ints) -> Bools:
    """Return which arms are up in these rounds, counted from 0, shape (T, K)."""
    if world.outages is None:
        return np.ones((1, world.n_arms), np.bool_)
    return world.outages.up[segments_of(world.outages.last, rounds)]


def segments_of(last: Ints, rounds: Ints) -> Ints:
    """Return the segment of each round, counted from 0, from the last round of each segment."""
    return np.searchsorted(last, rounds % last[-1] + 1)
