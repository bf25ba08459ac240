"""Every course of a tiny game of `tsallis-inf.coin`, with its probability: exact expectations.

The block in which a pull is refused is continued to its heads, as in the proofs. Rows may depend on
all that happened before, and cost 1 from a round on, so that blocks end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from purse.types import Floats
from tests.support.exp3_learners import tsallis_weights

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


def courses(rule: Rule, row: Row, budget: float) -> Iterator[Course]:
    """Yield every course of a game with this budget."""
    yield from _blocks(rule, row, budget, 1.0, (), 0.0, (), (), np.zeros(rule.n_arms))


def _blocks(
    rule: Rule,
    row: Row,
    budget: float,
    probability: float,
    history: History,
    gain: float,
    spent: tuple[float, ...],
    blocks: tuple[Block, ...],
    losses: Floats,
) -> Iterator[Course]:
    b = len(blocks) + 1
    weights = tsallis_weights(rule.eta(b), losses)
    price = rule.price(blocks)
    for arm in range(rule.n_arms):
        # what is left of the enumeration of a block: its history, reward, cost, gain and payments
        chance = float(weights[arm])
        waiting = [(probability * chance, history, 0.0, 0.0, gain, spent, False)]
        while waiting:
            likely, past, reward, cost, earned, paid, refused = waiting.pop()
            rewards, costs = row(past)
            refused = refused or bool(costs[arm] > budget - sum(paid) + 1e-12)
            if not refused:
                earned, paid = earned + float(rewards[arm]), (*paid, float(costs[arm]))
            reward, cost = reward + float(rewards[arm]), cost + float(costs[arm])
            tails = likely * (1 - float(costs[arm]))
            if tails > 0:
                on = (*past, (arm, False))
                waiting.append((tails, on, reward, cost, earned, paid, refused))
            heads = likely * float(costs[arm])
            block = Block(len(history), arm, chance, reward, cost, price)
            after = rule.learn(losses, weights, block, b)
            on = (*past, (arm, True))
            if refused:
                yield Course(heads, earned, paid, (*blocks, block), after)
            else:
                yield from _blocks(
                    rule, row, budget, heads, on, earned, paid, (*blocks, block), after
                )
