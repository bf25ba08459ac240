from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.theory import knapsack
from purse.theory.knapsack import dynamic_optimum, exact, greedy
from purse.worlds import atoms, bernoulli, corrupted, switching, table

# Money is in thousandths here, rewards are in sixteenths and chances in eighths: floats hold them
# exactly.
Arms = list[tuple[int, int]]  # (sixteenths of reward, thousandths of cost) of constant arms
Row = list[list[tuple[float, float, int]]]  # for each arm the (chance, reward, cost) of its atoms
SEEDS = range(300)
SCRIPTED = str(Path(__file__).parent / "engine" / "policies_for_tests" / "scripted.py")


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


def table_of(rows: list[Arms]) -> purse.World:
    return table(rewards_of(rows), costs_of(rows))


def atoms_of(row: Row) -> purse.World:
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


def alone(arm: int, world: purse.World | str, budget: float, **options: Any) -> tuple[float, int]:
    """Gain and rounds of one arm on one path."""
    run = purse.simulate(f"fixed:arm={arm}", world, budget, n_paths=1, n_workers=1, **options)
    return float(run.gain[0]), int(run.rounds[0])


def test_greedy_is_the_rule_played_pull_by_pull() -> None:
    for seed in SEEDS:
        arms, budget = some_knapsack(seed)
        assert greedy(*numbers(arms, budget)) == pull_by_pull(arms, budget)


def test_exact_is_the_best_of_all_multisets_of_pulls() -> None:
    for seed in SEEDS:
        arms, budget = some_knapsack(seed)
        assert exact(*numbers(arms, budget)) == best_multiset(arms, budget)


def test_an_arm_alone_is_paid_for_as_often_as_its_cost_fits() -> None:
    for seed in SEEDS:
        arms, budget = some_knapsack(seed)
        rewards, costs, money = numbers(arms, budget)
        arm = seed % len(arms)
        assert alone(arm, bernoulli(rewards, costs), money)[1] == budget // arms[arm][1]


def test_what_lies_below_and_above_greedy_and_exact() -> None:
    for seed in SEEDS:
        arms, budget = some_knapsack(seed)
        rewards, costs, money = numbers(arms, budget)
        simple, most = greedy(rewards, costs, money), exact(rewards, costs, money)
        single = [budget // cost * reward / 16 for reward, cost in arms]
        best = max(range(len(arms)), key=lambda i: efficiency(arms[i]))
        assert single[best] <= simple <= most
        assert max(single) <= most
        assert most <= simple + rewards[best] <= simple + max(rewards)
        assert most <= money * max(
            reward / cost for reward, cost in zip(rewards, costs, strict=True)
        ) * (1 + 1e-12)


def test_a_fixed_arm_may_beat_greedy_by_less_than_the_reward_of_the_most_efficient_arm() -> None:
    arms = {"rewards": [1, 0.75], "costs": [1, 0.8], "budget": 1.6}
    assert greedy(**arms) == 1  # the pull at cost 1 leaves 0.6, which buys nothing
    assert alone(1, "table:rewards=[[1,.75],[1,.75],[1,.75]],costs=[1,.8]", 1.6) == (1.5, 2)
    assert exact(**arms) == 1.5


def test_greedy_takes_the_first_of_two_arms_that_are_equally_efficient() -> None:
    assert greedy(rewards=[0.75, 0.5], costs=[0.75, 0.5], budget=1) == 0.75
    assert greedy(rewards=[0.5, 0.75], costs=[0.5, 0.75], budget=1) == 1


def test_greedy_takes_the_first_of_two_arms_equally_efficient_in_decimals_not_in_floats() -> None:
    assert 0.175 / 350_000_000 != 0.05 / 100_000_000
    assert greedy(rewards=[0.175, 0.05], costs=[0.35, 0.1], budget=0.35) == 0.175
    assert greedy(rewards=[0.05, 0.175], costs=[0.1, 0.35], budget=0.35) == pytest.approx(0.15)
    for seed in SEEDS:
        random = Random(seed)
        tenths, first, second, budget = (
            random.randint(1, 10),
            random.randint(1, 99),
            random.randint(1, 99),
            random.randint(1, 300),
        )
        # both pay so many tenths of their cost
        rewards, costs = (
            [tenths * first / 1000, tenths * second / 1000],
            [first / 100, second / 100],
        )
        spent = budget // first * first + budget % first // second * second
        assert greedy(rewards, costs, budget / 100) == pytest.approx(
            tenths * spent / 1000, rel=1e-12
        )


def test_greedy_tells_arms_apart_that_differ_in_the_ninth_digit() -> None:
    assert greedy(rewards=[0.5, 0.500000001], costs=[0.5, 0.5], budget=0.5) == 0.500000001
    assert greedy(rewards=[0, 0], costs=[0.5, 0.3], budget=3) == 0


def test_with_fixed_costs_the_dynamic_optimum_is_the_knapsack() -> None:
    for seed in SEEDS:
        arms, budget = some_knapsack(seed)
        rewards, costs, money = numbers(arms, budget)
        optimum = dynamic_optimum(bernoulli(rewards, costs), money)
        assert optimum == pytest.approx(float(best_multiset(arms, budget)), rel=1e-12)
        assert optimum == pytest.approx(exact(rewards, costs, money), rel=1e-12)


def test_the_dynamic_optimum_with_random_costs_is_the_best_play() -> None:
    for seed in SEEDS:
        random = Random(seed)
        row, budget, horizon = some_atoms(random), some_budget(random, 2500), some_horizon(random)
        played = best_play(lambda t, row=row: row, budget, horizon, skip=horizon is not None)
        assert dynamic_optimum(atoms_of(row), budget / 1000, horizon=horizon) == pytest.approx(
            played, rel=1e-12
        )


def test_the_dynamic_optimum_of_a_table_is_the_best_play_up_to_its_last_row() -> None:
    for seed in SEEDS:
        random = Random(seed)
        rows, budget, horizon = some_rows(random), some_budget(random, 4000), some_horizon(random)
        steady = [[[(1.0, reward / 16, cost)] for reward, cost in row] for row in rows]
        played = best_play(
            lambda t, steady=steady: steady[t - 1],
            budget,
            min(len(rows), horizon or len(rows)),
            skip=horizon is not None,
        )
        assert dynamic_optimum(table_of(rows), budget / 1000, horizon=horizon) == pytest.approx(
            played, rel=1e-12
        )


def test_an_arm_alone_on_a_table_ends_where_a_cost_does_not_fit_and_gains_at_most_the_optimum() -> (
    None
):
    for seed in SEEDS:
        random = Random(seed)
        rows, budget, horizon = some_rows(random), some_budget(random, 4000), some_horizon(random)
        arm = seed % len(rows[0])
        gain, rounds = alone(arm, table_of(rows), budget / 1000, horizon=horizon)
        assert rounds == min(
            rounds_alone([row[arm][1] for row in rows], budget), horizon or len(rows)
        )
        assert gain == sum(row[arm][0] for row in rows[:rounds]) / 16
        assert gain <= dynamic_optimum(table_of(rows), budget / 1000, horizon=horizon)


def test_the_dynamic_optimum_of_a_periodic_world_is_the_best_play() -> None:
    for seed in SEEDS:
        random = Random(seed)
        rows, budget, horizon = (
            some_rows(random)[:5],
            some_budget(random, 2500),
            some_horizon(random),
        )
        lengths = [random.randint(1, 4) for _ in rows]
        period = [
            [chances(*arm) for arm in row]
            for row, length in zip(rows, lengths, strict=True)
            for _ in range(length)
        ]
        played = best_play(
            lambda t, period=period: period[(t - 1) % len(period)],
            budget,
            horizon,
            skip=horizon is not None,
        )
        world = switching(lengths, rewards_of(rows), costs_of(rows))
        assert dynamic_optimum(world, budget / 1000, horizon=horizon) == pytest.approx(
            played, rel=1e-12
        )


def test_the_dynamic_optimum_of_a_world_that_changes_once_is_the_best_play() -> None:
    for seed in SEEDS:
        random = Random(seed)
        arms, budget, horizon, rounds = (
            some_arms(random),
            some_budget(random, 2500),
            some_horizon(random),
            random.randint(1, 15),
        )
        fake = [random.randint(0, 16) for _ in arms]
        before = [chances(reward, cost) for reward, (_, cost) in zip(fake, arms, strict=True)]
        after = [chances(reward, cost) for reward, cost in arms]
        rewards, costs, money = numbers(arms, budget)
        played = best_play(
            lambda t, b=before, a=after, last=rounds: b if t <= last else a,
            budget,
            horizon,
            skip=horizon is not None,
        )
        world = corrupted(rewards, costs, rounds, [reward / 16 for reward in fake])
        assert dynamic_optimum(world, money, horizon=horizon) == pytest.approx(played, rel=1e-12)


def test_who_may_skip_loses_nothing_by_it_and_gains_where_what_comes_later_pays_better() -> None:
    better = 0
    for seed in SEEDS:
        random = Random(seed)
        rows, budget = some_rows(random), some_budget(random, 4000)
        must_play, may_skip, longer = (
            dynamic_optimum(table_of(rows), budget / 1000, horizon=horizon)
            for horizon in (None, len(rows), 10**9)
        )
        assert must_play <= may_skip == longer
        better += must_play < may_skip
    assert better > 100


def test_in_a_world_that_does_not_change_there_is_nothing_to_wait_for() -> None:
    for seed in SEEDS:
        random = Random(seed)
        row, budget = some_atoms(random), some_budget(random, 2500)
        assert dynamic_optimum(atoms_of(row), budget / 1000, horizon=10**15) == dynamic_optimum(
            atoms_of(row), budget / 1000
        )


# the money is for one round, and the second is the better one
PATIENCE = "table:rewards=[[.1],[1]],costs=[[1],[1]]"


def test_by_hand_with_a_horizon_one_waits_for_the_better_round() -> None:
    assert dynamic_optimum(PATIENCE, 1, horizon=2) == 1.0
    assert dynamic_optimum(PATIENCE, 1, horizon=1) == 0.1
    assert dynamic_optimum(PATIENCE, 1) == 0.1
    assert dynamic_optimum(PATIENCE, 2, horizon=2) == 1.1
    # in rounds 4 and 8
    assert (
        dynamic_optimum("switching:segments=[3,1],rewards=[[0],[1]],costs=[1]", 2, horizon=8) == 2
    )
    assert (
        dynamic_optimum("switching:segments=[3,1],rewards=[[0],[1]],costs=[1]", 2, horizon=7) == 1
    )


@pytest.mark.parametrize(("horizon", "gain"), [(1, 0), (2, 1), (3, 1), (None, 0)])
def test_a_player_who_skips_gains_the_optimum_where_that_is_allowed(
    horizon: int | None, gain: float
) -> None:
    run = purse.simulate(f"{SCRIPTED}:script=[[-1],[0]]", PATIENCE, 1, n_paths=1, horizon=horizon)
    assert run.gain.tolist() == [gain]
    assert dynamic_optimum(PATIENCE, 1, horizon=horizon) == max(gain, 0.1)


def test_a_world_may_have_a_horizon_of_its_own_which_the_argument_overrides() -> None:
    rows = [[(2, 1000)], [(4, 1000)], [(8, 1000)], [(16, 1000)]]
    world = replace(table_of(rows), horizon=3)
    assert dynamic_optimum(world, 1) == 8 / 16
    assert dynamic_optimum(replace(world, horizon=1), 1) == 2 / 16
    assert [dynamic_optimum(world, 1, horizon=horizon) for horizon in (1, 2, 3, 4, 5)] == [
        2 / 16,
        4 / 16,
        8 / 16,
        1,
        1,
    ]
    assert dynamic_optimum(replace(world, horizon=None), 1) == 2 / 16


@pytest.mark.parametrize("horizon", [0, -1, 2.5, float("nan"), float("inf"), "2", True, [2]])
@pytest.mark.parametrize("world", [PATIENCE, "bernoulli:rewards=[1],costs=[.1]"])
def test_a_horizon_that_is_no_number_of_rounds_is_refused(horizon: Any, world: str) -> None:
    with pytest.raises(purse.InvalidInput) as caught:
        dynamic_optimum(world, 1, horizon=horizon)
    assert str(caught.value) == f"horizon={horizon!r}: must be a whole number from 1 up"


def test_more_money_more_rounds_and_more_arms_never_hurt_and_only_ratios_of_amounts_matter() -> (
    None
):
    for seed in SEEDS:
        random = Random(seed)
        row, budget, horizon = some_atoms(random), some_budget(random, 2500), some_horizon(random)
        value = dynamic_optimum(atoms_of(row), budget / 1000, horizon=horizon)
        least = value * (1 - 1e-12)
        assert (
            dynamic_optimum(
                atoms_of(row), (budget + random.randint(0, 500)) / 1000, horizon=horizon
            )
            >= least
        )
        assert (
            dynamic_optimum(
                atoms_of(row), budget / 1000, horizon=None if horizon is None else horizon + 1
            )
            >= least
        )
        assert (
            dynamic_optimum(atoms_of([*row, *some_atoms(random)]), budget / 1000, horizon=horizon)
            >= least
        )
        factor = random.randint(2, 5)
        scaled = [[(chance, reward, cost * factor) for chance, reward, cost in arm] for arm in row]
        assert dynamic_optimum(
            atoms_of(scaled), budget * factor / 1000, horizon=horizon
        ) == pytest.approx(value, rel=1e-12)


def test_by_hand_the_cheap_arm_is_better_when_little_is_left() -> None:
    """Arm 0 pays 1 at cost 0.5 or 1, arm 1 pays 0.6 at 0.5: V(0.5) = max(1/2, 0.6), V(1) = max((1 +
    0.6)/2 + 1/2, 1.2) = 1.3.
    """
    world = "atoms:probabilities=[[.5,.5],[1,0]],rewards=[[1,1],[.6,0]],costs=[[.5,1],[.5,.5]]"
    assert dynamic_optimum(world, 0.5) == pytest.approx(0.6)
    assert dynamic_optimum(world, 1) == pytest.approx(1.3)
    assert dynamic_optimum(world, 1, horizon=1) == 1
    assert dynamic_optimum(world, 0.4) == 0


@pytest.mark.parametrize(
    ("world", "budget", "best"),
    [
        # half a unit of reward in each of 8 rounds, and nothing later
        ("two_worlds:cost_min=.5,world=1", 8, 4),
        ("two_worlds:cost_min=.5,world=2", 8, 8),  # 8 rounds of saving leave 4, which buy 8
        ("theorem5:alpha=.5,best=1", 100, 10),
        ("same_costs", 11, 15),  # two rounds cost 1.1 and the better arms pay 1.5
        ("spend_or_save:later=1", 10, 95),  # 5 rounds at 0.1 leave 9.5, which buy 95
        ("spend_or_save:later=0", 10, 5),
    ],
)
def test_the_dynamic_optimum_of_shipped_worlds_by_hand(
    world: str, budget: int, best: float
) -> None:
    assert dynamic_optimum(world, budget) == pytest.approx(best)


SMALL_WORLDS = {
    "bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.2]": (3, None),
    "two_point:rewards=[.9,.3],costs=[.6,.3],cost_min=.2": (4, None),
    "misleading_ratio": (3, 12),
    "switching:segments=[3,2],rewards=[[.9,.1],[.1,.9]],costs=[.5,.2]": (4, None),
    "table:rewards=[[1,0],[0,1],[.5,.5],[.2,.9]],costs=[[.5,.2],[.1,.1],[.3,.4],[.6,.3]]": (
        1.2,
        None,
    ),
    "two_worlds:cost_min=.5,world=2": (6, None),
}


@pytest.mark.parametrize(
    "policy", ["exp3++.bwk", "exp3++.price", "exp3.bwk", "fixed", "oracle", "ucb-bv1", "uniform"]
)
def test_no_policy_gains_more_than_the_dynamic_optimum(policy: str) -> None:
    for world, (budget, horizon) in SMALL_WORLDS.items():
        if policy == "oracle" and worlds.make(world, budget).efficiencies is None:
            continue
        gain = purse.simulate(policy, world, budget, n_paths=4000, seed=5, horizon=horizon).gain
        assert (
            gain.mean()
            <= dynamic_optimum(world, budget, horizon=horizon)
            + 4 * gain.std(ddof=1) / np.sqrt(len(gain))
            + 1e-9
        )


@pytest.mark.parametrize("horizon", [None, 3])
def test_a_single_arm_gains_the_dynamic_optimum(horizon: int | None) -> None:
    world = "atoms:probabilities=[[.25,.25,.5]],rewards=[[1,.5,0]],costs=[[.7,.3,.2]]"
    gain = purse.simulate("fixed", world, 2, n_paths=40_000, seed=1, horizon=horizon).gain
    assert gain.mean() == pytest.approx(
        dynamic_optimum(world, 2, horizon=horizon), abs=4 * gain.std(ddof=1) / np.sqrt(len(gain))
    )


def test_a_budget_of_1000_at_cost_a_tenth_buys_10000_pulls() -> None:
    world = "bernoulli:rewards=[1],costs=[.1]"
    assert greedy(rewards=[1], costs=[0.1], budget=1000) == 10_000
    assert exact(rewards=[1], costs=[0.1], budget=1000) == 10_000
    assert dynamic_optimum(world, 1000) == 10_000
    assert dynamic_optimum(world, 100, horizon=999) == 999
    assert dynamic_optimum(world, 100, horizon=1_001) == 1_000
    assert alone(0, world, 1000) == (10_000, 10_000)


def test_amounts_may_be_texts_and_finer_than_floats() -> None:
    assert greedy(rewards=[1, 1], costs=["0.3", "0.100000001"], budget="0.3") == 2
    assert (
        greedy(rewards=[1, 0.5], costs=["4000000000", "0.000000001"], budget="4000000000.000000001")
        == 2_000_000_000_000_000_000.5
    )
    assert exact(rewards=[1], costs=["0.1"], budget="0.299999999") == 2
    assert dynamic_optimum("bernoulli:rewards=[1],costs=[.1]", "0.3") == 3


def test_a_budget_below_every_cost_buys_nothing() -> None:
    for budget in (1e-9, 0.05, 0.099999999):
        assert greedy(rewards=[1, 1], costs=[0.1, 0.3], budget=budget) == 0
        assert exact(rewards=[1, 1], costs=[0.1, 0.3], budget=budget) == 0
        assert dynamic_optimum("bernoulli:rewards=[1,1],costs=[.1,.3]", budget) == 0
        assert (
            dynamic_optimum("switching:segments=1,rewards=[[1,0],[0,1]],costs=[.1,.3]", budget) == 0
        )


@pytest.mark.parametrize("solve", [greedy, exact])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"costs": [1]}, r"costs of shape \(1,\) do not match rewards of 2 arms"),
        ({"costs": [1, 1, 1]}, r"costs of shape \(3,\) do not match rewards of 2 arms"),
        ({"costs": 1}, r"costs of shape \(\) do not match rewards of 2 arms"),
        ({"costs": [1, 0]}, "costs=0: must be positive, at least 1e-9"),
        ({"costs": [1, 1e-10]}, "costs=0: must be positive, at least 1e-9"),
        ({"costs": [-0.5, 1]}, "costs=-0.5: must be positive, at least 1e-9"),
        ({"costs": [[1, 1], [1, 1]]}, "costs: a knapsack has one resource"),
        ({"costs": [1, "x"]}, "costs='x': must be a number"),
        ({"costs": [1, float("nan")]}, "costs=nan: must be a number"),
        ({"budget": -1}, "budget=-1: must be positive, at least 1e-9"),
        ({"budget": 0}, "budget=0: must be positive, at least 1e-9"),
        ({"budget": [1, 2]}, r"budget=\[1, 2\]: must be one positive number"),
        ({"budget": "ten"}, "budget='ten': must be a number"),
        ({"rewards": []}, r"rewards=\[\]: must have 1 dimension and at least one entry"),
        (
            {"rewards": [], "costs": []},
            r"rewards=\[\]: must have 1 dimension and at least one entry",
        ),
        ({"rewards": [[1, 1]]}, "rewards=.*: must have 1 dimension"),
        ({"rewards": [1, 1.5]}, "rewards=1.5: must lie between 0 and 1"),
        ({"rewards": [1, -0.5]}, "rewards=-0.5: must lie between 0 and 1"),
        ({"rewards": [1, float("nan")]}, "rewards=nan: must be a finite number"),
    ],
)
def test_a_knapsack_refuses_what_it_cannot_use_and_says_why(
    solve: Callable[..., float], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(purse.InvalidInput, match=f"^{message}"):
        solve(**({"rewards": [1, 0.5], "costs": [1, 0.5], "budget": 3} | given))


@pytest.mark.parametrize(
    ("world", "message"),
    [
        (
            "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]",
            "is for worlds that are tables of one resource, in a known order",
        ),
        (
            "table:rewards=[[1,0],[0,1]],costs=[.5,.5],shuffle=True",
            "is for worlds that are tables of one resource, in a known order",
        ),
        ("bernoulli:rewards=[.9,.6],costs=[.5,0]", "costs=0: must be positive"),
        ("bernouli", "did you mean 'bernoulli'"),
    ],
)
def test_the_dynamic_optimum_refuses_worlds_that_it_cannot_know(world: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        dynamic_optimum(world, 3)


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (-1, "budget=-1: must be positive"),
        (0, "budget=0: must be positive"),
        ([1, 2], "must be one positive number"),
    ],
)
def test_the_dynamic_optimum_refuses_budgets_that_are_none(budget: Any, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        dynamic_optimum(bernoulli([1], [0.5]), budget)


def test_too_many_steps_are_refused_before_they_are_taken() -> None:
    message = (
        "budget=1: 1,000,000,000 steps of 0.000000001, the common divisor of all costs, are "
        "too many"
    )
    for call in (
        lambda: exact(rewards=[1, 1], costs=[0.5, 0.499999999], budget=1),
        lambda: dynamic_optimum("bernoulli:rewards=[1,1],costs=[.5,.499999999]", 1),
        lambda: dynamic_optimum("table:rewards=[[1,0],[0,1]],costs=[.5,.499999999]", 1),
    ):
        with pytest.raises(purse.InvalidInput, match=message):
            call()
    assert greedy(rewards=[1, 1], costs=[0.5, 0.499999999], budget=1) == 2


def test_the_limit_counts_arms_atoms_steps_and_where_the_world_changes_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    constant = {"rewards": [1, 1], "costs": [0.1, 0.2], "budget": 1}  # 2 arms, 10 steps
    steady = "bernoulli:rewards=[1,.5],costs=[.1,.2]"  # 2 arms of 2 atoms, 10 steps
    # 3 rounds, 2 arms, 10 steps and none
    changing = "table:rewards=[[1,0],[0,1],[1,1]],costs=[.1,.2]"
    calls: dict[int, Callable[[], float]] = {
        20: lambda: exact(**constant),
        40: lambda: dynamic_optimum(steady, 1),
        66: lambda: dynamic_optimum(changing, 1),
    }
    for work, call in calls.items():
        monkeypatch.setattr(knapsack, "MOST_WORK", work)
        assert call() > 0
        monkeypatch.setattr(knapsack, "MOST_WORK", work - 1)
        with pytest.raises(purse.InvalidInput, match=r"budget=1: 10 steps of 0\.1"):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: exact([1], [0.1], 1),
        lambda: dynamic_optimum("bernoulli:rewards=[1],costs=[.1]", 1),
        lambda: dynamic_optimum("table:rewards=[[1],[1]],costs=[.1]", 1),
        lambda: dynamic_optimum("table:rewards=[[1],[1]],costs=[.1]", 1, horizon=1),
    ],
    ids=["exact", "steady", "changing", "with a horizon"],
)
def test_steps_are_limited_by_the_memory_that_they_take_however_little_work_they_are(
    call: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knapsack, "MOST_STEPS", 10)
    assert call() > 0
    monkeypatch.setattr(knapsack, "MOST_STEPS", 9)
    with pytest.raises(
        purse.InvalidInput,
        match=r"^budget=1: 10 steps of 0\.1, the common divisor of all costs, are too many$",
    ):
        call()


def test_a_single_arm_does_not_make_30_million_steps_few() -> None:
    assert knapsack.MOST_STEPS < 30_000_000 < knapsack.MOST_WORK
    with pytest.raises(
        purse.InvalidInput,
        match=r"^budget=0\.03: 30,000,000 steps of 0\.000000001, the common divisor of all "
        r"costs, are too many$",
    ):
        exact([1], ["0.000000001"], "0.03")


def test_the_limit_counts_the_rounds_of_a_horizon_which_the_budget_does_not_shorten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 2 arms of 2 atoms, 2 steps and none
    world = "switching:segments=1,rewards=[[1,0],[0,1]],costs=[.5,1]"
    monkeypatch.setattr(knapsack, "MOST_WORK", 3 * 4 * 100)
    assert dynamic_optimum(world, 1, horizon=100) == 2
    with pytest.raises(purse.InvalidInput, match=r"^budget=1: 2 steps of 0\.5"):
        dynamic_optimum(world, 1, horizon=101)
    assert dynamic_optimum(world, 1) == 1
