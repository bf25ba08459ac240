r"""The yardsticks of policies on a recorded table, in the user's unit of reward.

    always ARM           the arm alone, round by round, until a pull cannot be paid
    best fixed mixture   in every round an arm drawn with the probabilities x(i) / T of the LP
                         optimum, nothing with the rest, under the same budget and stop rule
    LP optimum           that of the table's mean rewards and costs, see `purse.lab.theory.fluid`;
                         with features it is called LP without contexts
    best linear policy   with features: ridge regression on these very rows, and in each
                         round the arm with the largest r^ - price c^ at the price that fits
    LP with contexts     with features, see `_lp_by_context`
    hindsight optimum    for each row a mixture of arms, or nothing, sum of costs <= B

The first two are played, the others computed; no player gains more than the last on these rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from purse.base import amounts
from purse.base.optional import pl
from purse.compiler.jit import bind
from purse.engine.draws import draws
from purse.engine.simulate import simulate
from purse.lab.replay.lead_over_rival import Ahead, Rows
from purse.lab.study.standings import CHEAPEST, MOST_A_PULL
from purse.lab.theory.contexts import (
    BLIND,
    HINDSIGHT,
    LINEAR,
    WITH,
    WITHOUT,
    ContextTable,
    play_linear,
)
from purse.lab.theory.estimate import estimate
from purse.lab.theory.fluid import hindsight, mix
from purse.types import Floats, Ints, World

_SMALLEST = 5e-4  # part of a mixture that is named


class _Score(NamedTuple):
    """The result of a player with a budget, on average over paths."""

    budget: float
    player: str
    kind: str  # policy, arm, mixture or bound
    gain: float
    # ends of the 95% interval; NaN for a single path, the gain itself if nothing is random
    gain_low: float
    gain_high: float
    spent: float
    pulls: float
    detail: str | None = None  # the arms of a mixture with their parts
    ahead: Ahead = Ahead()  # of arms and the mixture


def _score(
    budget: float,
    player: str,
    kind: str,
    gain: Floats,
    spent: Floats,
    pulls: Any,
    detail: str | None,
    ahead: Ahead,
) -> _Score:
    """Return the averages over paths."""
    mean, _, low, high = estimate(gain)
    means = float(np.mean(spent)), float(np.mean(pulls))
    return _Score(budget, player, kind, mean, low, high, *means, detail, ahead)


def references(
    world: World,
    budgets: Sequence[float],
    *,
    n_paths: int,
    seed: int = 0,
    stop: str = "retry",
    n_workers: int | None = None,
) -> pl.DataFrame:
    """Return a row for each budget and reference: gain with its 95% interval, spent, pulls."""
    rows = [
        row
        for budget in budgets
        for row in _references_of(world, budget, n_paths, seed, stop, n_workers)
    ]
    columns: dict[str, Any] = dict.fromkeys((*_Score._fields[:-1], *Ahead._fields))
    columns |= dict.fromkeys(("detail", "rival"), pl.String)
    columns |= dict.fromkeys(("ahead", "ahead_error"), pl.Float64)
    return pl.DataFrame([(*row[:-1], *row.ahead) for row in rows], columns, orient="row")


def _references_of(
    world: World, budget: float, n_paths: int, seed: int, stop: str, n_workers: int | None
) -> Iterator[_Score]:
    """Yield the references for one budget."""
    assert world.horizon is not None
    low, high = world.reward_range
    rewards = low + (high - low) * world.tables.rewards[:, :, 0]
    units = world.tables.costs[:, :, 0, 0]
    reward_means, cost_means = rewards.mean(axis=0), units.mean(axis=0) / amounts.UNIT
    rows = Rows(world.arm_names, rewards, units / amounts.UNIT, budget, world.horizon)
    how: dict[str, Any] = {"n_paths": n_paths, "seed": seed, "n_workers": n_workers}
    how["stop"] = "hold" if stop == "hold" else "exit"
    best_arms = {CHEAPEST: cost_means.argmin(), MOST_A_PULL: reward_means.argmax()}
    for arm, name in enumerate(world.arm_names):
        alone = simulate(f"fixed:arm={arm}", world, budget, **how)
        notes = ", ".join(note for note, best in best_arms.items() if arm == best)
        player = f"always {name} ({notes})" if notes else f"always {name}"
        played = alone.gain, alone.spent, alone.pulls.sum(axis=1)
        yield _score(budget, player, "arm", *played, None, rows.ahead(rows.alone(arm)))
    plays = mix(cost_means, reward_means, budget, world.horizon)
    played = _play_mixture(world, plays / world.horizon, budget, n_paths, seed, stop)
    parts = describe_mixture(world.arm_names, plays / world.horizon)
    yield _score(budget, "best fixed mixture", "mixture", *played, parts, rows.ahead(plays))
    value, spent = float(reward_means @ plays), float(cost_means @ plays)
    name = WITHOUT if world.n_features > 0 else BLIND
    yield _Score(budget, name, "bound", value, value, value, spent, float(plays.sum()))
    if world.n_features > 0:
        table = ContextTable(
            rewards, units[:, :, None] / amounts.UNIT, world.tables.features, world.horizon
        )
        by_context = _lp_by_context(world.tables.features, rewards, units, budget, world.horizon)
        for name, (gain, cost, pulls) in (
            (LINEAR, play_linear(table, budget, horizon=None)),
            (WITH, by_context),
        ):
            yield _Score(budget, name, "bound", gain, gain, gain, cost, pulls)
    if world.horizon == len(rewards):  # on every path the same rows
        gain, cost, pulls = hindsight(rewards, units, budget)
        yield _Score(budget, HINDSIGHT, "bound", gain, gain, gain, cost, pulls)
    else:
        paths = (draws(world, world.horizon, seed=seed, path=path) for path in range(n_paths))
        optima = [
            hindsight(low + (high - low) * inside, costs[:, :, 0], budget)
            for inside, costs in paths
        ]
        gains, spends, pulls = np.array(optima).T
        yield _score(budget, HINDSIGHT, "bound", gains, spends, pulls, None, Ahead())


def describe_mixture(arms: Sequence[str], shares: Floats, others: str = "nothing") -> str:
    """Return the arms of a mixture with their parts of the rounds, the largest first.

    >>> describe_mixture(["small", "large", "idle"], np.array([0.033, 0.9, 0]))
    '90.0% large + 3.3% small + 6.7% nothing'
    """
    order = [arm for arm in np.argsort(-shares, kind="stable") if shares[arm] > _SMALLEST]
    parts = [f"{shares[arm]:.1%} {arms[arm]}" for arm in order]
    if (left := 1 - float(shares.sum())) > _SMALLEST:
        parts.append(f"{left:.1%} {others}")
    return " + ".join(parts) or "nothing"


def _play_mixture(
    world: World, shares: Floats, budget: float, n_paths: int, seed: int, stop: str
) -> tuple[Floats, Floats, Floats]:
    """(P,) Gains, amounts spent and pulls of one who draws arms with these probabilities."""
    assert world.horizon is not None
    totals, (low, high) = np.zeros((n_paths, 3)), world.reward_range
    purse, rounds = int(amounts.budget_array(budget, 1)[0]), np.arange(world.horizon)
    tries = world.n_arms if stop == "retry" else 1
    for path in range(n_paths):
        rewards, costs = draws(world, world.horizon, seed=seed, path=path)
        units, chances = costs[:, :, 0], np.random.default_rng([seed, path])
        # n_arms: nothing
        arms = np.searchsorted(np.cumsum(shares), chances.random(world.horizon), side="right")
        ranks = np.pad(chances.random(units.shape), ((0, 0), (0, 1)), constant_values=2)
        ranks[rounds, arms] = -1
        needs = np.broadcast_to(world.cost_max[:, 0], units.shape) if stop == "hold" else units
        orders = np.argsort(ranks, axis=1)
        totals[path] = bind(_fill_path)(rewards, units.copy(), needs.copy(), orders, purse, tries)
    gain, spent, pulls = totals.T
    return low * pulls + (high - low) * gain, spent / amounts.UNIT, pulls


def _fill_path(
    rewards: Floats, units: Ints, needs: Ints, orders: Ints, purse: int, tries: int
) -> tuple[float, float, float]:
    """Return one path: gain, units spent and pulls. An arm that needs more than is left makes way
    for the next in its round's order, `tries` of them at most.
    """
    left, gain, pulls = purse, 0.0, 0.0
    for t in range(rewards.shape[0]):
        if orders[t, 0] == rewards.shape[1]:
            continue
        k = 0
        while k < tries and needs[t, orders[t, k]] > left:
            k += 1
        if k == tries:
            break
        gain += rewards[t, orders[t, k]]
        left -= units[t, orders[t, k]]
        pulls += 1
    return gain, float(purse - left), pulls


def _lp_by_context(
    contexts: Floats, rewards: Floats, units: Ints, budget: float, horizon: int
) -> tuple[float, float, float]:
    """Return the gain, what is spent and the pulls of a mixture of arms for each context.

    contexts   of the N recorded rounds, shape (N, A, n)
    rewards    in the user's unit, shape (N, K)
    units      costs, shape (N, K)
    horizon    the rounds of the game, each drawn from the recorded ones

    Means are those over the rounds with the same context. If every round has a context of its
    own, it is the hindsight optimum. The budget is kept on average only.
    """
    flat = contexts.reshape(len(contexts), -1)
    _, group = np.unique(flat, axis=0, return_inverse=True)
    sizes = np.bincount(group.ravel())[:, None]
    means = []
    for values in (rewards, units):
        sums = np.zeros((len(sizes), values.shape[1]))
        np.add.at(sums, group.ravel(), values)
        means.append((sums / sizes)[group.ravel()])
    share = horizon / len(rewards)
    gain, spent, pulls = hindsight(means[0], means[1], budget / share)
    return share * gain, share * spent, share * pulls
