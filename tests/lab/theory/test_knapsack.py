"""Knapsacks and the dynamic optimum, against their definitions by brute force."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from operator import mul
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

import purse
from purse import worlds
from purse.lab.theory.knapsack import bounded, dynamic_optimum, exact, greedy
from purse.types import World
from tests.support.soak import scale

# Money is in thousandths here, rewards are in sixteenths and chances in eighths: floats hold them
# exactly.
Arms = list[tuple[int, int]]  # (sixteenths of reward, thousandths of cost) of constant arms
Row = list[list[tuple[float, float, int]]]  # for each arm the (chance, reward, cost) of its atoms
SEEDS = range(scale(150, 600))


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


def numbers(arms: Arms) -> tuple[list[float], list[float]]:
    """Rewards and costs as a user would give them."""
    return [reward / 16 for reward, _ in arms], [cost / 1000 for _, cost in arms]


def efficiency(arm: tuple[int, int]) -> Fraction:
    return Fraction(arm[0] * 1000, 16 * arm[1])


def pull_by_pull(arms: Arms, budget: int) -> Fraction:
    """The greedy rule, one pull at a time: the first of the most efficient arms that fit."""
    gain = Fraction(0)
    while fits := [arm for arm in arms if arm[1] <= budget]:
        reward, cost = max(fits, key=efficiency)
        gain += Fraction(reward, 16)
        budget -= cost
    return gain


def best_counts(arms: Arms, caps: list[int], budget: int) -> Fraction:
    """The best of all counts up to the caps; the last arm is then pulled as often as it can be."""
    limits = [min(cap, budget // cost) for cap, (_, cost) in zip(caps, arms, strict=True)]
    rewards, costs = zip(*arms, strict=True)
    best = 0
    for counts in product(*(range(limit + 1) for limit in limits[:-1])):
        left = budget - sum(map(mul, counts, costs))
        if left >= 0:
            final = min(left // costs[-1], limits[-1])
            best = max(best, sum(map(mul, counts, rewards)) + final * rewards[-1])
    return Fraction(best, 16)


def test_greedy_exact_and_bounded_are_what_their_definitions_say() -> None:
    for seed in SEEDS:
        random = Random(seed)
        arms, budget = some_arms(random), some_budget(random, 4000)
        caps = [random.choice([0, 1, 2, 3, 6, 7, 31, 10**9]) for _ in arms]
        (rewards, costs), money = numbers(arms), budget / 1000
        simple, most = greedy(rewards, costs, money), exact(rewards, costs, money)
        assert simple == pull_by_pull(arms, budget)
        assert most == best_counts(arms, [10**9] * len(arms), budget)
        assert dynamic_optimum(worlds.bernoulli(rewards, costs), money) == pytest.approx(most)
        single = [budget // cost * reward / 16 for reward, cost in arms]
        best = max(range(len(arms)), key=lambda i: efficiency(arms[i]))
        assert max(single) <= most <= simple + rewards[best]
        assert single[best] <= simple <= most <= money * float(efficiency(arms[best])) + 1e-9
        capped = bounded(rewards, costs, caps, money)
        assert capped == best_counts(arms, caps, budget)
        assert capped <= bounded(rewards, costs, [cap + 1 for cap in caps], money) <= most
        assert bounded(rewards, costs, 10**9, money) == most


def test_greedy_takes_the_first_of_two_arms_that_are_equal_in_decimals() -> None:
    assert greedy(rewards=[0.75, 0.5], costs=[0.75, 0.5], budget=1) == 0.75
    assert greedy(rewards=[0.5, 0.75], costs=[0.5, 0.75], budget=1) == 1
    assert 0.175 / 350_000_000 != 0.05 / 100_000_000
    assert greedy(rewards=[0.175, 0.05], costs=[0.35, 0.1], budget=0.35) == 0.175
    assert greedy(rewards=[0.05, 0.175], costs=[0.1, 0.35], budget=0.35) == pytest.approx(0.15)
    # but it tells arms apart that differ in the ninth digit
    assert greedy(rewards=[0.5, 0.500000001], costs=[0.5, 0.5], budget=0.5) == 0.500000001
    assert greedy(rewards=[0, 0], costs=[0.5, 0.3], budget=3) == 0


NINE = "4000000000.000000001"


@pytest.mark.parametrize(
    ("solve", "given", "gain"),
    [
        (bounded, {"rewards": [1, 0.5], "costs": [0.5, 0.2], "caps": 0, "budget": 10}, 0),
        # floats do not hold a tenth, and amounts may be texts
        (greedy, {"rewards": [1], "costs": [0.1], "budget": 1000}, 10_000),
        (exact, {"rewards": [1], "costs": [0.1], "budget": 1000}, 10_000),
        (greedy, {"rewards": [1, 1], "costs": ["0.3", "0.100000001"], "budget": "0.3"}, 2),
        (
            greedy,
            {"rewards": [1, 0.5], "costs": ["4000000000", "0.000000001"], "budget": NINE},
            2_000_000_000_000_000_000.5,
        ),
        (exact, {"rewards": [1], "costs": ["0.1"], "budget": "0.299999999"}, 2),
        (bounded, {"rewards": [1, 1], "costs": ["0.1", "0.3"], "caps": 3, "budget": "1.2"}, 6),
        (bounded, {"rewards": [1], "costs": ["0.1"], "caps": 10**30, "budget": "0.3"}, 3),
        # a budget below every cost buys nothing
        (greedy, {"rewards": [1, 1], "costs": [0.1, 0.3], "budget": 0.099999999}, 0),
        (exact, {"rewards": [1, 1], "costs": [0.1, 0.3], "budget": 1e-9}, 0),
    ],
)
def test_knapsacks_by_hand(solve: Callable[..., float], given: dict[str, Any], gain: float) -> None:
    assert solve(**given) == gain


# the dynamic optimum


class Place(NamedTuple):
    """A world, and the same by its definition."""

    world: World
    row: Callable[[int], Row]  # the arms in each round
    last: int | None = None  # the last round


def chances(reward: int, cost: int) -> list[tuple[float, float, int]]:
    """The atoms of a reward of 1 or 0 with this mean, in sixteenths."""
    return [(reward / 16, 1.0, cost), (1 - reward / 16, 0.0, cost)]


def random_costs(random: Random) -> Place:
    """Arms of three atoms, some of which are never drawn."""
    row: Row = []
    for _ in range(random.randint(1, 4)):
        first, second = sorted(random.choices(range(9), k=2))
        eighths = (first, second - first, 8 - second)
        row.append(
            [
                (part / 8, reward / 16, cost)
                for part, (reward, cost) in zip(eighths, some_arms(random, 3), strict=True)
            ]
        )
    fields = ([[atom[i] for atom in arm] for arm in row] for i in range(3))
    probabilities, rewards, costs = fields
    prices = [[cost / 1000 for cost in arm] for arm in costs]
    return Place(worlds.atoms(probabilities, rewards, prices), lambda t: row)


def some_rows(random: Random, most: int = 12) -> list[Arms]:
    n_arms = random.randint(1, 4)
    return [some_arms(random, n_arms) for _ in range(random.randint(1, most))]


def rows_of_table(random: Random) -> Place:
    rows = some_rows(random)
    steady = [[[(1.0, reward / 16, cost)] for reward, cost in row] for row in rows]
    rewards, costs = zip(*map(numbers, rows), strict=True)
    return Place(worlds.table(rewards, costs), lambda t: steady[(t - 1) % len(rows)], len(rows))


def periodic(random: Random) -> Place:
    rows = some_rows(random, 5)
    lengths = [random.randint(1, 4) for _ in rows]
    pairs = zip(rows, lengths, strict=True)
    period = [[chances(*arm) for arm in row] for row, length in pairs for _ in range(length)]
    rewards, costs = zip(*map(numbers, rows), strict=True)
    world = worlds.switching(lengths, rewards, costs)
    return Place(world, lambda t: period[(t - 1) % len(period)])


def changing_once(random: Random) -> Place:
    arms = some_arms(random)
    rounds, fake = random.randint(1, 15), [random.randint(0, 16) for _ in arms]
    before = [chances(reward, cost) for reward, (_, cost) in zip(fake, arms, strict=True)]
    after = [chances(reward, cost) for reward, cost in arms]
    world = worlds.corrupted(*numbers(arms), rounds, [reward / 16 for reward in fake])
    return Place(world, lambda t: before if t <= rounds else after)


def best_play(place: Place, budget: int, horizon: int | None) -> float:
    """The largest expected gain, from the definition: a pull that cannot be paid ends the game, and
    with a horizon rounds may be skipped.
    """
    last = min((end for end in (horizon, place.last) if end is not None), default=None)

    @cache
    def value(t: int, left: int) -> float:
        if last is not None and t > last:
            return 0.0
        gains = [0.0, value(t + 1, left) if horizon is not None else 0.0]
        for arm in place.row(t):
            paid = [(chance, reward, cost) for chance, reward, cost in arm if cost <= left]
            gains.append(sum(p * (reward + value(t + 1, left - cost)) for p, reward, cost in paid))
        return max(gains)

    return value(1, budget)


@pytest.mark.parametrize("make", [random_costs, rows_of_table, periodic, changing_once])
def test_the_dynamic_optimum_is_the_best_play(make: Callable[[Random], Place]) -> None:
    for seed in SEEDS:
        random = Random(seed)
        place, budget = make(random), some_budget(random, 2500)
        horizon = random.choice([None, random.randint(1, 12)])
        optimum = dynamic_optimum(place.world, budget / 1000, horizon=horizon)
        assert optimum == pytest.approx(best_play(place, budget, horizon), rel=1e-12)
        # more money or rounds never hurt, nor does the freedom to skip
        least = optimum * (1 - 1e-12)
        more = (budget + random.randint(0, 500)) / 1000
        longer = None if horizon is None else horizon + 1
        assert dynamic_optimum(place.world, more, horizon=horizon) >= least
        assert dynamic_optimum(place.world, budget / 1000, horizon=longer) >= least
        free = dynamic_optimum(place.world, budget / 1000, horizon=300)
        if make is random_costs:  # there is nothing to wait for
            assert free == dynamic_optimum(place.world, budget / 1000)
        assert free >= least


TENTH = "bernoulli:rewards=[1],costs=[.1]"


@pytest.mark.parametrize(
    ("world", "budget", "horizon", "best"),
    [
        ("switching:segments=[3,1],rewards=[[0],[1]],costs=[1]", 2, 8, 2),  # in rounds 4 and 8
        ("switching:segments=[3,1],rewards=[[0],[1]],costs=[1]", 2, 7, 1),
        # 8 rounds of saving leave 4, which buy 8
        ("two_worlds:cost_min=.5,world=2", 8, None, 8),
        ("theorem5:alpha=.5,best=1", 100, None, 10),
        ("same_costs", 11, None, 15),  # two rounds cost 1.1 and the better arms pay 1.5
        ("spend_or_save:later=1", 10, None, 95),  # 5 rounds at 0.1 leave 9.5, which buy 95
        (TENTH, 1000, None, 10_000),
        (TENTH, "0.3", None, 3),
        (TENTH, 0.099999999, None, 0),
    ],
)
def test_the_dynamic_optimum_by_hand(
    world: str, budget: Any, horizon: int | None, best: float
) -> None:
    assert dynamic_optimum(world, budget, horizon=horizon) == pytest.approx(best)


def test_a_world_may_have_a_horizon_of_its_own_which_the_argument_overrides() -> None:
    world = worlds.table([[2 / 16], [4 / 16], [8 / 16], [1]], [1])
    limited = replace(world, horizon=3)
    assert dynamic_optimum(limited, 1) == 8 / 16
    assert dynamic_optimum(replace(world, horizon=1), 1) == 2 / 16
    optima = [16 * dynamic_optimum(limited, 1, horizon=horizon) for horizon in (1, 2, 3, 4, 5)]
    assert optima == [2, 4, 8, 16, 16]
    assert dynamic_optimum(world, 1) == 2 / 16


SMALL_WORLDS = {
    "bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.2]": (3, None),
    "misleading_ratio": (3, 12),
    "switching:segments=[3,2],rewards=[[.9,.1],[.1,.9]],costs=[.5,.2]": (4, None),
    "two_worlds:cost_min=.5,world=2": (6, None),
    # a single arm gains the optimum
    "atoms:probabilities=[[.25,.25,.5]],rewards=[[1,.5,0]],costs=[[.7,.3,.2]]": (2, 3),
}


def test_no_policy_gains_more_than_the_dynamic_optimum() -> None:
    for world, (budget, horizon) in SMALL_WORLDS.items():
        gain = purse.simulate("uniform", world, budget, n_paths=4000, seed=5, horizon=horizon).gain
        most = dynamic_optimum(world, budget, horizon=horizon)
        error = 4 * gain.std(ddof=1) / np.sqrt(len(gain)) + 1e-9
        assert gain.mean() <= most + error
        if world.startswith("atoms"):
            assert gain.mean() >= most - error
