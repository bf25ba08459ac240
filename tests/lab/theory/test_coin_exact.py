"""The proofs of `tsallis-inf.coin` by exact enumeration: every course of tiny games."""

from __future__ import annotations

import math

import numpy as np
import pytest

from purse.lab.theory import coin_bounds
from purse.types import Floats
from tests.lab.theory.coin_game import Course, History, Row, Rule, courses

EXACT = 1e-12
# arms, budget, least cost, seed; a game has up to some thousands of courses
GAMES = [
    *((2, 2.0, 0.3, seed) for seed in range(5)),
    *((2, 2.5, 0.5, seed) for seed in range(5)),
    *((3, 2.0, 0.4, seed) for seed in range(4)),
    (3, 2.5, 0.5, 0),
    (2, 0.4, 0.4, 0),
    (2, 3.0, 1.0, 0),
]


def make_table(n_arms: int, budget: float, cost_min: float, seed: int) -> tuple[Floats, Floats]:
    """Random rows of rewards and costs for all rounds that can be paid, and one of cost 1."""
    chance = np.random.default_rng(seed)
    n_rounds = math.floor(budget / cost_min) + 1
    costs = chance.uniform(cost_min, 1, (n_rounds, n_arms))
    extreme = chance.random((n_rounds, n_arms)) < 0.4
    costs[extreme] = chance.choice([cost_min, 1], extreme.sum())
    rewards = chance.random((n_rounds, n_arms)) ** chance.choice([0.1, 1, 5])
    end = np.ones((1, n_arms))
    return np.concatenate([rewards, end / 2]), np.concatenate([costs, end])


def values_of(rewards: Floats, costs: Floats) -> Floats:
    """V_t(j), shape (T, K), for a table whose last row costs 1."""
    values = rewards.copy()
    for t in range(len(rewards) - 2, -1, -1):
        values[t] += (1 - costs[t]) * values[t + 1]
    return values


def fixed(rewards: Floats, costs: Floats) -> Row:
    def row(history: History) -> tuple[Floats, Floats]:
        t = min(len(history), len(rewards) - 1)
        return rewards[t], costs[t]

    return row


def expect(played: list[Course], value: object) -> Floats:
    assert callable(value)
    return sum((course.probability * np.asarray(value(course)) for course in played), start=0.0)


@pytest.mark.parametrize(("n_arms", "budget", "cost_min", "seed"), GAMES)
def test_a_block_costs_1_on_average_and_its_square_less_than_2(
    n_arms: int, budget: float, cost_min: float, seed: int
) -> None:
    _, costs = make_table(n_arms, budget, cost_min, seed)
    for start in range(len(costs)):
        for arm in range(n_arms):
            c = costs[start:, arm]
            ends = c * np.cumprod(np.concatenate([[1.0], 1 - c[:-1]]))
            sums = np.cumsum(c)
            assert abs(ends.sum() - 1) < EXACT
            assert abs(ends @ sums - 1) < EXACT
            assert ends @ sums**2 <= 2 - cost_min + EXACT
            for x in (0.5, 1.0, 1.7, 2.5, 3.2):
                tail = float(ends @ (sums > x))
                assert tail <= math.exp(1 - x) + EXACT
                square = float(ends @ (sums**2 * (sums > x)))
                assert square <= math.exp(1 - x) * (x * x + 2 * x + 2) + EXACT


@pytest.mark.parametrize(("n_arms", "budget", "cost_min", "seed"), GAMES)
@pytest.mark.parametrize("price_max", [None, 0.7, 30.0])
def test_estimates_are_unbiased_and_own_clock_regret_is_below_its_bound(
    n_arms: int, budget: float, cost_min: float, seed: int, price_max: float | None
) -> None:
    rewards, costs = make_table(n_arms, budget, cost_min, seed)
    theta, values = 1 / cost_min, values_of(rewards, costs)
    rule = Rule(n_arms, theta, price_max)
    played = list(courses(rule, fixed(rewards, costs), budget))
    last = len(values) - 1
    assert abs(expect(played, lambda course: 1.0) - 1) < EXACT
    credit = expect(
        played, lambda course: sum(values[min(block.start, last)] for block in course.blocks)
    )
    # importance weighting: the estimated losses have the mean of what blocks cost and pay
    charged = expect(played, lambda course: sum(block.price for block in course.blocks))
    assert expect(played, lambda course: course.losses) == pytest.approx(
        charged - credit, abs=EXACT * theta
    )
    blocks = expect(played, lambda course: len(course.blocks))
    cost = expect(played, lambda course: sum(block.cost for block in course.blocks))
    assert abs(blocks - cost) < EXACT
    assert budget <= blocks <= budget + 1 + EXACT
    gain = expect(played, lambda course: course.gain)
    earned = expect(played, lambda course: sum(block.reward for block in course.blocks))
    assert gain <= earned + EXACT
    assert earned <= gain + theta + EXACT
    # the credit by what is spent, as `purse.lab.theory.own_clock` has it
    by_spending = expect(
        played,
        lambda course: (
            values[0] + sum(paid * values[min(t + 1, last)] for t, paid in enumerate(course.spent))
        ),
    )
    assert by_spending == pytest.approx(credit, abs=EXACT * theta)
    if price_max is None:
        bound = coin_bounds.own_clock(n_arms, budget, cost_min).value
        assert bound is not None
        assert float((credit - gain).max()) <= bound


@pytest.mark.parametrize("seed", range(5))
def test_an_adversary_who_sees_arms_and_coins_may_move_costs(seed: int) -> None:
    n_arms, budget, cost_min = 2, 1.3, 0.45
    efficiencies = np.random.default_rng(seed).uniform(0, 1, n_arms)

    def row(history: History) -> tuple[Floats, Floats]:
        if len(history) >= math.floor(budget / cost_min) + 1:
            return efficiencies, np.ones(n_arms)
        chance = np.random.default_rng([seed, *(2 * arm + heads for arm, heads in history)])
        costs = chance.uniform(cost_min, 1, n_arms)
        return efficiencies * costs, costs

    played = list(courses(Rule(n_arms, 1 / cost_min), row, budget))
    blocks = expect(played, lambda course: len(course.blocks))
    cost = expect(played, lambda course: sum(block.cost for block in course.blocks))
    assert abs(cost - blocks) < EXACT
    earned = expect(played, lambda course: sum(block.reward for block in course.blocks))
    drawn = expect(played, lambda course: sum(efficiencies[b.arm] for b in course.blocks))
    assert abs(earned - drawn) < EXACT
    losses = expect(played, lambda course: course.losses)
    assert losses == pytest.approx((1 / cost_min - efficiencies) * blocks, abs=1e-11)
    gain = float(expect(played, lambda course: course.gain))
    bound = coin_bounds.stationary(n_arms, budget, cost_min).value
    assert bound is not None
    assert efficiencies.max() * budget - gain <= bound
