"""Small random knapsacks, and what they come to by brute force."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import accumulate
from random import Random
from typing import Any

import purse
from purse.worlds.atoms import atoms
from purse.worlds.table import table

# Money is in thousandths here, rewards are in sixteenths and chances in eighths: floats hold them
# exactly.
Arms = list[tuple[int, int]]  # (sixteenths of reward, thousandths of cost) of constant arms
Row = list[list[tuple[float, float, int]]]  # for each arm the (chance, reward, cost) of its atoms
SEEDS = range(300)


def some_arms(random: Random, n_arms: int | None = None) -> Arms:
    """One to four arms with costs that are multiples of 0.05, or of 0.1."""
    step = random.choice([50, 100])
    return [
        (random.randint(0, 16), step * random.randint(1, 1000 // step))
        for _ in range(n_arms or random.randint(1, 4))
    ]


def some_budget(random: Random, most: int) -> int:
    """A budget that is a multiple of 0.05, or one that no sum of costs can reach exactly."""
    return random.choice([50 * random.randint(1, most // 50), random.randint(1, most)])


def some_knapsack(seed: int) -> tuple[Arms, int]:
    random = Random(seed)
    return some_arms(random), some_budget(random, 4000)


def some_horizon(random: Random) -> int | None:
    return random.choice([None, random.randint(1, 12)])


def some_atoms(random: Random) -> Row:
    """One to four arms of one to three atoms, padded with atoms that are never drawn."""
    rows: Row = []
    for _ in range(random.randint(1, 4)):
        first, second = sorted(random.choices(range(9), k=2))
        rows.append(
            [
                (eighths / 8, reward / 16, cost)
                for eighths, (reward, cost) in zip(
                    (first, second - first, 8 - second), some_arms(random, 3), strict=True
                )
            ]
        )
    return rows


def some_rows(random: Random) -> list[Arms]:
    """One to twelve rows of one to four arms."""
    n_arms = random.randint(1, 4)
    return [some_arms(random, n_arms) for _ in range(random.randint(1, 12))]


def numbers(arms: Arms, budget: int) -> tuple[list[float], list[float], float]:
    """Rewards, costs and budget as a user would give them."""
    return [reward / 16 for reward, _ in arms], [cost / 1000 for _, cost in arms], budget / 1000


def efficiency(arm: tuple[int, int]) -> Fraction:
    return Fraction(arm[0] * 1000, 16 * arm[1])


def pull_by_pull(arms: Arms, budget: int) -> Fraction:
    """The greedy rule, one pull at a time: the most efficient arm that fits, the first of
    several.
    """
    gain = Fraction(0)
    while fits := [arm for arm in arms if arm[1] <= budget]:
        reward, cost = max(fits, key=efficiency)
        gain += Fraction(reward, 16)
        budget -= cost
    return gain


def best_multiset(arms: Arms, budget: int) -> Fraction:
    @cache
    def best(left: int) -> Fraction:
        return max(
            [Fraction(0)]
            + [Fraction(reward, 16) + best(left - cost) for reward, cost in arms if cost <= left]
        )

    return best(budget)


def best_play(
    row: Callable[[int], Row], budget: int, last: int | None = None, *, skip: bool = False
) -> float:
    """The largest expected gain, from the definition: who pulls what the purse cannot pay is out,
    and some may skip rounds.
    """

    @cache
    def value(t: int, left: int) -> float:
        if last is not None and t > last:
            return 0.0
        outcomes = (
            [(chance, reward, cost) for chance, reward, cost in arm if cost <= left]
            for arm in row(t)
        )
        pulled = (
            sum(chance * (reward + value(t + 1, left - cost)) for chance, reward, cost in paid)
            for paid in outcomes
        )
        return max(0.0, value(t + 1, left) if skip else 0.0, *pulled)

    return value(1, budget)


def rewards_of(rows: list[Arms]) -> list[list[float]]:
    return [[reward / 16 for reward, _ in row] for row in rows]


def costs_of(rows: list[Arms]) -> list[list[float]]:
    return [[cost / 1000 for _, cost in row] for row in rows]


def table_of(rows: list[Arms]) -> purse.lab.World:
    return table(rewards_of(rows), costs_of(rows))


def atoms_of(row: Row) -> purse.lab.World:
    probabilities, rewards, costs = (
        [[atom[field] for atom in arm] for arm in row] for field in range(3)
    )
    return atoms(probabilities, rewards, [[cost / 1000 for cost in arm] for arm in costs])


def chances(reward: int, cost: int) -> list[tuple[float, float, int]]:
    """The atoms of a reward of 1 or 0 with this mean, in sixteenths."""
    return [(reward / 16, 1.0, cost), (1 - reward / 16, 0.0, cost)]


def rounds_alone(costs: list[int], budget: int) -> int:
    """How many rounds an arm with these costs, one for each round, can be paid for."""
    return sum(spent <= budget for spent in accumulate(costs))


def alone(
    arm: int, world: purse.lab.World | str, budget: float, **options: Any
) -> tuple[float, int]:
    """Gain and rounds of one arm on one path."""
    run = purse.simulate(f"fixed:arm={arm}", world, budget, n_paths=1, n_workers=1, **options)
    return float(run.gain[0]), int(run.rounds[0])
