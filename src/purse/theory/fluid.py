"""The best mixture of arms: what one can expect to gain with a budget and a horizon who knows the
means, or the whole sequence.

    lp_optimum               max sum_i mu(i) x(i)  subject to  sum_i rho_j(i) x(i) <= B_j,  sum_i
                             x(i) <= T,  x >= 0
    best_fixed_distribution  max over tau <= T and distributions p of  sum_{t <= tau} sum_i p(i)
                             r_t(i) subject to  sum_{t <= tau} sum_i p(i) c_t(i) <= B: fluid, on the
                             draws of one path

With a horizon rounds may be skipped, so p may sum to less than 1; without one the mixture plays
until the budget is gone. The first is an upper bound on the gain of every policy in an i.i.d.
world, up to one reward; for one resource both have a closed form: the optimum mixes at most two
arms, on the upper hull of the points (cost, reward), and for several resources it is solved by
HiGHS.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from purse import worlds
from purse.base import amounts, validation
from purse.engine.draws import draws
from purse.errors import InvalidInput
from purse.types import Floats, World


class FluidOptimum(NamedTuple):
    """The value of a linear program and how often each arm is played in it."""

    value: float
    plays: Floats  # (K,) expected pulls of each arm


def lp_optimum(world: str | World, budget: Any, *, horizon: int | None = None) -> FluidOptimum:
    """What a player who knows the means can expect at most, spending the budgets in expectation.

    >>> lp_optimum("bernoulli:rewards=[.9,.6],costs=[.8,.3]", budget=50, horizon=100).value
    72.0
    """
    place = worlds.make(world, budget)
    if place.reward_means is None or place.cost_means is None:
        raise InvalidInput(
            f"{place.name} has no means that stay the same; the best fixed distribution "
            "is for worlds that change"
        )
    rounds = place.horizon if horizon is None else validation.integer("horizon", horizon, low=1)
    budgets = amounts.budget_array(budget, place.n_resources) / amounts.UNIT
    if place.n_resources == 1:
        best = mix(place.cost_means[:, 0], place.reward_means, float(budgets[0]), rounds)
        return FluidOptimum(float(place.reward_means @ best), best)
    from scipy.optimize import linprog

    limits = (
        np.vstack([place.cost_means.T, np.ones(place.n_arms)])
        if rounds is not None
        else place.cost_means.T
    )
    found = linprog(
        -place.reward_means,
        A_ub=limits,
        b_ub=[*budgets, rounds] if rounds is not None else budgets,
        method="highs",
    )
    return FluidOptimum(float(-found.fun), np.asarray(found.x))


def mix(costs: Floats, rewards: Floats, budget: float, rounds: float | None) -> Floats:
    """(K,) How often to play each arm: max rewards @ x, costs @ x <= budget, sum x <= rounds, by
    looking at all pairs of arms.

    An optimum has at most two arms: one alone, as often as budget and rounds allow, or two of which
    both limits are tight.
    """
    n_arms, best, value = len(costs), np.zeros(len(costs)), 0.0
    for i in range(n_arms):
        times = min(
            np.inf if rounds is None else rounds, budget / costs[i] if costs[i] > 0 else np.inf
        )
        if np.isfinite(times) and times * rewards[i] > value:
            value, best = times * rewards[i], np.eye(n_arms)[i] * times
    if rounds is None:
        return best
    per_round = budget / rounds
    for i in np.flatnonzero(costs < per_round).tolist():
        for j in np.flatnonzero(costs > per_round).tolist():
            share = (per_round - costs[i]) / (costs[j] - costs[i])
            gain = rounds * ((1 - share) * rewards[i] + share * rewards[j])
            if gain > value:
                value, best = (
                    gain,
                    rounds * ((1 - share) * np.eye(n_arms)[i] + share * np.eye(n_arms)[j]),
                )
    return best


def best_fixed_distribution(
    world: str | World, budget: float, *, horizon: int | None = None, seed: int = 0, path: int = 0
) -> float:
    """What the best distribution over arms, played in every round of this path, gains in the fluid
    sense; for one resource.

    >>> best_fixed_distribution("table:rewards=[[1,0],[0,1]],costs=[[1,1],[1,1]]", budget=2)
    1.0
    """
    place = worlds.make(world, budget)
    if place.n_resources > 1:
        raise InvalidInput(
            f"{place.name} has {place.n_resources} resources; the best fixed distribution "
            "is for one"
        )
    total = float(amounts.budget_array(budget, 1)[0] / amounts.UNIT)
    end = place.horizon if horizon is None else validation.integer("horizon", horizon, low=1)
    longest = end if end is not None else int(total * amounts.UNIT // place.cost_min.min()) + 1
    rewards, units = draws(place, min(longest, place.n_rounds or longest), seed=seed, path=path)
    gains, spent = np.cumsum(rewards, axis=0), np.cumsum(units[:, :, 0], axis=0) / amounts.UNIT
    if end is not None:  # doing nothing is an arm too
        gains, spent = np.pad(gains, ((0, 0), (0, 1))), np.pad(spent, ((0, 0), (0, 1)))
    fits = spent <= total
    value = float(np.where(fits, gains, 0).max(initial=0.0))
    for i in range(gains.shape[1]):
        for j in range(gains.shape[1]):
            both = fits[:, i] & ~fits[:, j]
            if both.any():
                share = (total - spent[both, i]) / (spent[both, j] - spent[both, i])
                value = max(
                    value, float(((1 - share) * gains[both, i] + share * gains[both, j]).max())
                )
    return value
