"""The proofs of `tsallis-inf.coin` by exact enumeration: every course of tiny games.

The block in which a pull is refused is continued to its heads, as in the proofs. Rows may depend on
all that happened before, and cost 1 from a round on, so that blocks end.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from purse.lab.theory import coin_bounds
from purse.types import Floats
from purse.worlds.similar_costs import gap_of
from tests.support.exp3_learners import tsallis_weights

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
History = tuple[tuple[int, bool], ...]  # the arm and the coin of each round so far
Row = Callable[[History], tuple[Floats, Floats]]  # rewards and costs of the next round, (K,) each


class Block(NamedTuple):
    """A block at its end."""

    start: int  # its first round, from 0
    arm: int
    chance: float
    reward: float
    cost: float
    price: float  # that all arms are charged on average


class Course(NamedTuple):
    """One way in which a game may go."""

    probability: float
    gain: float  # of the paid pulls
    spent: tuple[float, ...]  # in each paid round
    blocks: tuple[Block, ...]  # the last one is that of the refused pull
    losses: Floats  # (K,) at the end


class Rule(NamedTuple):
    """The rule: theta, and price_max where blocks are charged a price."""

    n_arms: int
    theta: float
    price_max: float | None = None

    def eta(self, b: int) -> float:
        if self.price_max is None:
            return math.sqrt(2 / b) / self.theta
        variance = self.price_max + 3 * self.price_max**2
        return 2 / math.sqrt(4 * self.theta**2 + 2 * variance * b)

    def price(self, blocks: tuple[Block, ...]) -> float:
        if self.price_max is None:
            return self.theta
        paid = sum(block.cost for block in blocks)
        return min(self.price_max, sum(block.reward for block in blocks) / paid) if paid else 0.0

    def learn(self, losses: Floats, weights: Floats, block: Block, b: int) -> Floats:
        charged = np.full(self.n_arms, block.price)
        if self.price_max is not None:
            edge = self.eta(b) * (2 * self.price_max + 1) * (1 + 2 * math.log(b))
            charged[weights < edge**2] = self.theta
        after = losses - (charged - block.price)
        after[block.arm] += (charged[block.arm] * block.cost - block.reward) / block.chance
        return after


def courses(rule: Rule, row: Row, budget: float) -> list[Course]:
    """Return every course of a game with this budget."""

    def go_on(past: Course, history: History) -> Iterator[Course]:
        b, price = len(past.blocks) + 1, rule.price(past.blocks)
        weights = tsallis_weights(rule.eta(b), past.losses)
        for arm in range(rule.n_arms):
            chance = float(weights[arm])
            # what is left of the enumeration of a block: its reward, cost, gain and payments
            start = (past.probability * chance, history, 0.0, 0.0, past.gain, past.spent, False)
            waiting = [start]
            while waiting:
                likely, before, reward, cost, earned, paid, refused = waiting.pop()
                rewards, costs = row(before)
                refused = refused or bool(costs[arm] > budget - sum(paid) + 1e-12)
                if not refused:
                    earned, paid = earned + float(rewards[arm]), (*paid, float(costs[arm]))
                reward, cost = reward + float(rewards[arm]), cost + float(costs[arm])
                if (tails := likely * (1 - float(costs[arm]))) > 0:
                    on = (*before, (arm, False))
                    waiting.append((tails, on, reward, cost, earned, paid, refused))
                block = Block(len(history), arm, chance, reward, cost, price)
                losses = rule.learn(past.losses, weights, block, b)
                heads, blocks = likely * float(costs[arm]), (*past.blocks, block)
                course = Course(heads, earned, paid, blocks, losses)
                yield from [course] if refused else go_on(course, (*before, (arm, True)))

    return list(go_on(Course(1.0, 0.0, (), (), np.zeros(rule.n_arms)), ()))


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


def expect(played: list[Course], value: Callable[[Course], Any]) -> Floats:
    return sum((course.probability * np.asarray(value(course)) for course in played), start=0.0)


def over_blocks(played: list[Course], value: Callable[[Block], Any]) -> Floats:
    return expect(played, lambda course: sum(map(value, course.blocks)))


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
    theta, values, last = 1 / cost_min, rewards.copy(), len(rewards) - 1  # V_t(j), shape (T, K)
    for t in range(last - 1, -1, -1):
        values[t] += (1 - costs[t]) * values[t + 1]

    def row(history: History) -> tuple[Floats, Floats]:
        t = min(len(history), last)
        return rewards[t], costs[t]

    played = courses(Rule(n_arms, theta, price_max), row, budget)
    assert abs(expect(played, lambda course: 1.0) - 1) < EXACT
    credit = over_blocks(played, lambda block: values[min(block.start, last)])
    # importance weighting: the estimated losses have the mean of what blocks cost and pay
    charged = over_blocks(played, lambda block: block.price)
    assert expect(played, lambda course: course.losses) == pytest.approx(
        charged - credit, abs=EXACT * theta
    )
    blocks = expect(played, lambda course: len(course.blocks))
    assert abs(blocks - over_blocks(played, lambda block: block.cost)) < EXACT
    assert budget <= blocks <= budget + 1 + EXACT
    gain = expect(played, lambda course: course.gain)
    earned = over_blocks(played, lambda block: block.reward)
    assert gain - EXACT <= earned <= gain + theta + EXACT
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

    played = courses(Rule(n_arms, 1 / cost_min), row, budget)
    blocks = expect(played, lambda course: len(course.blocks))
    assert abs(over_blocks(played, lambda block: block.cost) - blocks) < EXACT
    earned = over_blocks(played, lambda block: block.reward)
    assert abs(earned - over_blocks(played, lambda block: efficiencies[block.arm])) < EXACT
    losses = expect(played, lambda course: course.losses)
    assert losses == pytest.approx((1 / cost_min - efficiencies) * blocks, abs=1e-11)
    gain = float(expect(played, lambda course: course.gain))
    bound = coin_bounds.stationary(n_arms, budget, cost_min).value
    assert efficiencies.max() * budget - gain <= bound


def test_the_constants_of_the_proofs() -> None:
    b = np.arange(1.0, 200_001)
    x = np.sqrt(b) / 4
    squares = np.minimum(2, np.exp(1 - x) * (x * x + 2 * x + 2))
    assert 52.3 < (squares / np.sqrt(b)).sum() / math.sqrt(2) < 52.4  # 2 * 52.4 + 1 <= 106
    zeta3 = float((1 / b**3).sum())
    assert 200 / 9 < 22.3
    assert 2 * (100 / 9 + 20 / 3 * math.pi**2 / 6 + zeta3) < 46.6
    part = np.linspace(0, 1, 10_001)
    assert (1 - np.sqrt(1 - part) <= part / 2 + part**2 / 2 + 1e-15).all()
    sums = np.cumsum((1 + 2 * np.log(b)) / b)
    assert (sums <= (1 + np.log(b)) ** 2 + 1e-9).all()
    # sum_b (2 + 2 ln b) / (e b^2): the rest after n is at most (4 + 2 ln n) / n
    n = len(b)
    assert ((2 + 2 * np.log(b)) / (math.e * b**2)).sum() + (4 + 2 * math.log(n)) / n < 1.91


@pytest.mark.parametrize("n_arms", [2, 5, 30])
@pytest.mark.parametrize("cost", [0.5, 0.1, 0.02])
def test_the_lower_bound_is_below_what_its_proof_has_before_rounding(
    n_arms: int, cost: float
) -> None:
    for budget in (64, 1000, 1e6):
        rounds, gap = math.floor(budget / (4 * cost)), gap_of(n_arms, budget, cost)
        assert gap <= cost / 2
        good = cost * (2 - cost) - gap * (1 - cost)
        loss = gap * (1 - cost) / good
        whole = loss * rounds * (1 - 1 / n_arms - 0.25 - 2 / budget) - 1 / good
        assert coin_bounds.every_player(n_arms, budget, cost).value <= whole
