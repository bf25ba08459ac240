"""The most that a budget can buy when everything is known beforehand.

    greedy            each arm as often as it still fits, in order of efficiency (the paper's A^G)
    exact             max sum_i m_i r(i)  subject to  sum_i m_i c(i) <= B,  m_i = 0, 1, 2, ...: the
                      unbounded knapsack
    bounded           the same with m_i <= L(i), how often each arm may be pulled: the bounded
                      knapsack
    dynamic_optimum   V_t(b) = max_i E[ 1{c_t(i) <= b} (r_t(i) + V_{t+1}(b - c_t(i))) ],  V_1(B):
                      the optimum of a player that knows the world's tables; a pull that cannot
                      be paid ends the game; with a horizon, a round may be skipped, so V_{t+1}(b)
                      is among the choices

The last three count in steps of the greatest common divisor of all costs. They raise `InvalidInput`
when the budget has too many steps. With constant arms all are at most B max_i r(i)/c(i), and
greedy <= exact <= greedy + max_i r(i), bounded <= exact.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse import worlds
from purse.base import amounts, validation
from purse.compiler.jit import bind
from purse.compiler.kernel import kernel
from purse.errors import InvalidInput
from purse.types import Floats, Ints, World, cap_array
from purse.worlds._tables import costs_per_arm, per_arm

__all__ = ["bounded", "dynamic_optimum", "exact", "greedy"]  # for users

_MOST_WORK, _MOST_STEPS = 50_000_000, 20_000_000  # a fraction of a second, and 160 MB


def greedy(rewards: ArrayLike, costs: Any, budget: Any) -> float:
    """Return the gain of the greedy rule for arms with constant rewards and costs.

    rewards   from 0 to 1, shape (K,)
    costs     positive amounts, shape (K,)
    budget    one amount

    >>> greedy(rewards=[1, 0.4], costs=[1, 0.5], budget=1.5)
    1.4
    """
    values, prices, left = _known_arms(rewards, costs, budget)
    gain = 0.0
    efficiencies = values / prices
    relative = np.round(efficiencies / max(efficiencies.max(), 1e-300), 12)
    for arm in np.argsort(-relative, kind="stable"):  # equal ones in their order
        pulls, left = divmod(left, int(prices[arm]))
        gain += pulls * float(values[arm])
    return gain


def exact(rewards: ArrayLike, costs: Any, budget: Any) -> float:
    """Return the largest gain for arms with constant rewards and costs: the unbounded knapsack.

    rewards   from 0 to 1, shape (K,)
    costs     positive amounts, shape (K,)
    budget    one amount

    Raise `InvalidInput` when the budget has too many steps of the costs' common divisor.

    >>> exact(rewards=[1, 0.75], costs=[1, 0.8], budget=1.6)
    1.5
    """
    values, prices, units = _known_arms(rewards, costs, budget)
    step, size = _grid(prices, units)
    _check_work(size * len(values), units, step)
    chances, steps = np.ones((len(values), 1)), (prices // step)[:, None].copy()
    return float(bind(_fill_steady)(chances, values[:, None].copy(), steps, np.zeros(size + 1)))


def bounded(rewards: ArrayLike, costs: Any, caps: Any, budget: Any) -> float:
    """Return the largest gain for constant arms that have a cap on pulls: the bounded knapsack.

    rewards   from 0 to 1, shape (K,)
    costs     positive amounts, shape (K,)
    caps      the most pulls: one number, or one for each arm, shape (K,)
    budget    one amount

    Raise `InvalidInput` when the budget has too many steps of the costs' common divisor.

    >>> bounded(rewards=[1, 0.4], costs=[0.5, 0.25], caps=[1, 5], budget=1.5)
    2.6
    """
    values, prices, units = _known_arms(rewards, costs, budget)
    step, size = _grid(prices, units)
    bundles = [
        (arm, count)
        for arm, cap in enumerate(cap_array(caps, len(values)).tolist())
        for count in _parts(cap, units // int(prices[arm]))
    ]
    _check_work(size * len(bundles), units, step)
    arms, counts = np.array(bundles, np.int64).reshape(-1, 2).T.copy()
    return float(
        bind(_fill_bounded)(counts, values[arms], prices[arms] // step, np.zeros(size + 1))
    )


def _parts(cap: int, limit: int) -> list[int]:
    """Return bundles of pulls 1, 2, 4, ..., remainder: their sums are all up to min(cap, limit).

    Return [0] if the cap is no limit.
    """
    if cap >= limit:
        return [0] if limit > 0 else []
    doubled = [1 << k for k in range((cap + 1).bit_length() - 1)]
    remainder = cap - sum(doubled)
    return [*doubled, remainder] if remainder else doubled


def dynamic_optimum(world: str | World, budget: Any, *, horizon: int | None = None) -> float:
    """Return the largest expected gain of a player that knows the world's tables.

    horizon   the number of rounds; None: the world's own

    Raise `InvalidInput` when the world has several resources, is not made of tables, or has rows in
    a random order.
    Raise `InvalidInput` when the budget has too many steps of the costs' common divisor.

    >>> dynamic_optimum("bernoulli:rewards=[1,.75],costs=[1,.8]", budget=1.6)
    1.5
    """
    world = worlds.make(world, budget)
    if (
        world.n_resources > 1
        or world.draw is not None
        or world.tables.shuffle
        or world.tables.sample
    ):
        raise InvalidInput(
            f"{world.name}: the dynamic optimum is for worlds that are tables of one "
            "resource, in a known order"
        )
    units = int(amounts.budget_array(budget, 1)[0])
    tables = world.tables
    chances = np.diff(tables.below / 2.0**53, axis=2, prepend=0.0, append=1.0)
    prices = tables.costs[..., 0]
    step, size = _grid(prices[chances > 0], units)
    steps = prices // step
    end = world.horizon if horizon is None else validation.integer("horizon", horizon, low=1)
    longest = units // int(world.cost_min.min())
    steady, skip = len(tables.last) == 1, end is not None
    limits = (end, world.n_rounds, None if skip and not steady else longest)
    last = min(limit for limit in limits if limit is not None)
    if steady and last == longest:
        _check_work(size * chances[0].size, units, step)
        return float(
            bind(_fill_steady)(chances[0], tables.rewards[0], steps[0], np.zeros(size + 1))
        )
    _check_work(last * (size + 1) * chances[0].size, units, step)
    rounds = np.arange(last)
    phases = np.searchsorted(tables.last, (rounds % tables.period if tables.period else rounds) + 1)
    return float(
        bind(_fill_changing)(phases, chances, tables.rewards, steps, skip, np.zeros((2, size + 1)))
    )


def _fill_steady(chances: Floats, rewards: Floats, steps: Ints, values: Floats) -> float:
    """Return V(B) after filling V(b) for b = 0, 1, ...: V(b) needs only values before it."""
    for b in range(values.shape[0]):
        values[b] = _best(chances, rewards, steps, values, b)
    return values[values.shape[0] - 1]


def _fill_bounded(counts: Ints, rewards: Floats, steps: Ints, values: Floats) -> float:
    """Return the largest gain of the whole budget, after filling that of each budget 0, 1, ....

    Each bundle of pulls is added in turn: from above it counts once, from below (count 0) any
    number of times.
    """
    size = values.shape[0]
    for k in range(counts.shape[0]):
        if counts[k] == 0:
            for b in range(steps[k], size):
                values[b] = max(values[b], values[b - steps[k]] + rewards[k])
        else:
            cost, reward = counts[k] * steps[k], counts[k] * rewards[k]
            for b in range(size - 1, cost - 1, -1):
                values[b] = max(values[b], values[b - cost] + reward)
    return values[size - 1]


def _fill_changing(
    phases: Ints, chances: Floats, rewards: Floats, steps: Ints, skip: bool, values: Floats
) -> float:
    """Return V_1(B) after filling V_t(b) from the last round to the first.

    `values` holds two rounds. With `skip`, a player may skip rounds.
    """
    for t in range(phases.shape[0] - 1, -1, -1):
        phase = phases[t]
        for b in range(values.shape[1]):
            value = _best(chances[phase], rewards[phase], steps[phase], values[(t + 1) % 2], b)
            values[t % 2, b] = max(value, values[(t + 1) % 2, b]) if skip else value
    return values[0, values.shape[1] - 1]


@kernel
def _best(chances: Floats, rewards: Floats, steps: Ints, after: Floats, b: int) -> float:
    """Return max_i E[1{c(i) <= b} (r(i) + after(b - c(i)))]."""
    top = 0.0
    for i in range(chances.shape[0]):
        value = 0.0
        for a in range(chances.shape[1]):
            if chances[i, a] > 0 and steps[i, a] <= b:
                value += chances[i, a] * (rewards[i, a] + after[b - steps[i, a]])
        top = max(top, value)
    return top


def _known_arms(rewards: ArrayLike, costs: Any, budget: Any) -> tuple[Floats, Ints, int]:
    """Return rewards, costs and budget of constant arms, checked; amounts are in units."""
    values = per_arm("rewards", rewards)
    prices = costs_per_arm(costs, len(values))
    if prices.shape[1] > 1:
        raise InvalidInput("costs: a knapsack has one resource")
    amounts.check_costs(prices, prices, ("costs", "costs"))
    return values, prices[:, 0], int(amounts.budget_array(budget, 1)[0])


def _grid(prices: Ints, budget: int) -> tuple[int, int]:
    """Return the greatest common divisor of all costs, and how often the budget contains it."""
    step = int(np.gcd.reduce(prices.ravel()))
    return step, budget // step


def _check_work(work: int, budget: int, step: int) -> None:
    """Raise `InvalidInput` when the computation would take too long."""
    if work > _MOST_WORK or budget // step > _MOST_STEPS:
        raise InvalidInput(
            f"budget={amounts.text(budget)}: {budget // step:,} steps of "
            f"{amounts.text(step)}, the common divisor of all costs, are too many"
        )
