"""Continuous random rewards and costs: beta distributions."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import validation
from purse.base.optional import scipy
from purse.types import Floats, World
from purse.worlds._tables import costs_between, make_world, per_arm

EXAMPLE = "beta:rewards=[.7,.5,.3],costs=[.6,.3,.25],concentration=4,cost_min=.1"
MOST_CONCENTRATION = 1e9  # beyond it the quantiles lose their digits
NEEDS = "the world beta"
CELLS = 32  # of equal probability, for reward and cost each


def beta(
    rewards: ArrayLike, costs: ArrayLike, concentration: float, cost_min: Any, cost_max: Any = 1
) -> World:
    """Return a world in which rewards and costs of each arm have independent beta distributions.

    The reward of arm i has mean m = `rewards[i]` and parameters k m and k (1 - m), with k =
    `concentration`. Its cost has mean `costs[i]` and the same k, stretched to [cost_min, cost_max].
    Rewards and costs have shape (K,).

    It needs the extra `lab`.

    Both enter as 32 equally likely values, the mean of each of 32 quantile cells, so the means are
    exact.

    >>> beta(rewards=[0.5], costs=[0.55], concentration=4, cost_min=0.1).efficiencies.round(6)
    array([0.909091])
    """
    reward_means = per_arm("rewards", rewards)
    spread = validation.number("concentration", concentration, above=0, high=MOST_CONCENTRATION)
    shares, low, high = costs_between(costs, len(reward_means), cost_min, cost_max)
    pays = cell_means(reward_means, spread)
    takes = cell_means(shares, spread)
    prices = np.rint(low + takes * (high - low)).astype(np.int64)
    shape = (1, len(reward_means), CELLS * CELLS)
    world = make_world(
        "beta",
        np.full(shape, 1 / CELLS**2),
        np.broadcast_to(pays[:, :, None], (*pays.shape, CELLS)).reshape(shape),
        np.broadcast_to(prices[:, None, :], (*pays.shape, CELLS)).reshape(*shape, 1),
    )
    return replace(
        world,
        cost_min=np.broadcast_to(low, world.cost_min.shape).copy(),
        cost_max=np.broadcast_to(high, world.cost_max.shape).copy(),
    )


def cell_means(means: Floats, concentration: float) -> Floats:
    """Return the mean of each quantile cell of beta distributions, shape (K, CELLS).

    The parameters are a = k m and b = k (1 - m). Cells above 1/2 are those of the mirrored
    distribution, because floats are dense near 0 and not near 1. The cell around 1/2 gets the
    remainder, so that the mean is m.
    """
    m = means[:, None]
    a, b = concentration * m, concentration * (1 - m)
    edges = scipy("special", NEEDS).betaincinv(a, b, np.arange(CELLS + 1) / CELLS)
    low, high = edges[:, 1:] <= 0.5, edges[:, :-1] >= 0.5
    cells = np.where(low, cells_from_0(a, b), np.where(high, 1 - cells_from_0(b, a)[:, ::-1], 0.0))
    cells += np.where(low | high, 0.0, CELLS * m - cells.sum(axis=1, keepdims=True))
    return np.where((m > 0) & (m < 1), np.clip(cells, 0, 1), m)


def cells_from_0(a: Floats, b: Floats) -> Floats:
    """Return E[X; X in cell] / P(cell) = CELLS m (F(q_k+1; a+1, b) - F(q_k; a+1, b)).

    F is the distribution function, and q are the edges of the cells under (a, b).
    """
    special = scipy("special", NEEDS)
    edges = special.betaincinv(a, b, np.arange(CELLS + 1) / CELLS)
    return CELLS * a / (a + b) * np.diff(special.betainc(a + 1, b, edges), axis=1)
