from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest

import purse
from purse import worlds
from purse.lab.theory.knapsack import dynamic_optimum, exact
from purse.worlds.bernoulli import bernoulli
from purse.worlds.corrupted import corrupted
from purse.worlds.switching import switching
from tests.lab.theory.knapsacks import (
    SEEDS,
    Row,
    alone,
    atoms_of,
    best_multiset,
    best_play,
    chances,
    costs_of,
    numbers,
    rewards_of,
    rounds_alone,
    some_arms,
    some_atoms,
    some_budget,
    some_horizon,
    some_knapsack,
    some_rows,
    table_of,
)
from tests.support.paths import SCRIPTED


def test_with_fixed_costs_the_dynamic_optimum_is_the_knapsack() -> None:
    for seed in SEEDS:
        arms, budget = some_knapsack(seed)
        rewards, costs, money = numbers(arms, budget)
        optimum = dynamic_optimum(bernoulli(rewards, costs), money)
        assert optimum == pytest.approx(float(best_multiset(arms, budget)), rel=1e-12)
        assert optimum == pytest.approx(exact(rewards, costs, money), rel=1e-12)


def cyclic(period: list[Row]) -> Callable[[int], Row]:
    return lambda t: period[(t - 1) % len(period)]


def check_best_play(
    world: purse.lab.World,
    row: Callable[[int], Row],
    budget: int,
    horizon: int | None,
    last: int | None = None,
) -> None:
    """The optimum of a world is that of its rows, by the definition; `last` is its last round."""
    ends = min((end for end in (horizon, last) if end is not None), default=None)
    played = best_play(row, budget, ends, skip=horizon is not None)
    found = dynamic_optimum(world, budget / 1000, horizon=horizon)
    assert found == pytest.approx(played, rel=1e-12)


def test_the_dynamic_optimum_with_random_costs_is_the_best_play() -> None:
    for seed in SEEDS:
        random = Random(seed)
        row, budget, horizon = some_atoms(random), some_budget(random, 2500), some_horizon(random)
        check_best_play(atoms_of(row), cyclic([row]), budget, horizon)


def test_the_dynamic_optimum_of_a_table_is_the_best_play_up_to_its_last_row() -> None:
    for seed in SEEDS:
        random = Random(seed)
        rows, budget, horizon = some_rows(random), some_budget(random, 4000), some_horizon(random)
        steady = [[[(1.0, reward / 16, cost)] for reward, cost in row] for row in rows]
        check_best_play(table_of(rows), cyclic(steady), budget, horizon, len(rows))


def test_an_arm_alone_on_a_table_gains_at_most_the_optimum() -> None:
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
        rows, budget = some_rows(random)[:5], some_budget(random, 2500)
        horizon = some_horizon(random)
        lengths = [random.randint(1, 4) for _ in rows]
        period = [
            [chances(*arm) for arm in row]
            for row, length in zip(rows, lengths, strict=True)
            for _ in range(length)
        ]
        world = switching(lengths, rewards_of(rows), costs_of(rows))
        check_best_play(world, cyclic(period), budget, horizon)


def test_the_dynamic_optimum_of_a_world_that_changes_once_is_the_best_play() -> None:
    for seed in SEEDS:
        random = Random(seed)
        arms, budget, horizon = some_arms(random), some_budget(random, 2500), some_horizon(random)
        rounds, fake = random.randint(1, 15), [random.randint(0, 16) for _ in arms]
        before = [chances(reward, cost) for reward, (_, cost) in zip(fake, arms, strict=True)]
        after = [chances(reward, cost) for reward, cost in arms]
        rewards, costs, _ = numbers(arms, budget)

        def at(t: int, b: Row = before, a: Row = after, last: int = rounds) -> Row:
            return b if t <= last else a

        world = corrupted(rewards, costs, rounds, [reward / 16 for reward in fake])
        check_best_play(world, at, budget, horizon)


def test_who_may_skip_never_gains_less() -> None:
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
        world, budget = atoms_of(some_atoms(random)), some_budget(random, 2500) / 1000
        assert dynamic_optimum(world, budget, horizon=10**15) == dynamic_optimum(world, budget)


# the money is for one round, and the second is the better one
PATIENCE = "table:rewards=[[.1],[1]],costs=[[1],[1]]"
FOURTH = "switching:segments=[3,1],rewards=[[0],[1]],costs=[1]"  # in rounds 4, 8, ...
# arm 0 pays 1 at cost 0.5 or 1, arm 1 pays 0.6 at 0.5: V(0.5) = max(1/2, 0.6), V(1) = max((1 +
# 0.6)/2 + 1/2, 1.2) = 1.3
CHEAP = "atoms:probabilities=[[.5,.5],[1,0]],rewards=[[1,1],[.6,0]],costs=[[.5,1],[.5,.5]]"


@pytest.mark.parametrize(
    ("world", "budget", "horizon", "best"),
    [
        # with a horizon one waits for the better round
        (PATIENCE, 1, 2, 1.0),
        (PATIENCE, 1, 1, 0.1),
        (PATIENCE, 1, None, 0.1),
        (PATIENCE, 2, 2, 1.1),
        (FOURTH, 2, 8, 2),
        (FOURTH, 2, 7, 1),
        # the cheap arm is better when little is left
        (CHEAP, 0.5, None, 0.6),
        (CHEAP, 1, None, 1.3),
        (CHEAP, 1, 1, 1),
        (CHEAP, 0.4, None, 0),
        # half a unit of reward in each of 8 rounds, and nothing later
        ("two_worlds:cost_min=.5,world=1", 8, None, 4),
        # 8 rounds of saving leave 4, which buy 8
        ("two_worlds:cost_min=.5,world=2", 8, None, 8),
        ("theorem5:alpha=.5,best=1", 100, None, 10),
        ("same_costs", 11, None, 15),  # two rounds cost 1.1 and the better arms pay 1.5
        ("spend_or_save:later=1", 10, None, 95),  # 5 rounds at 0.1 leave 9.5, which buy 95
        ("spend_or_save:later=0", 10, None, 5),
    ],
)
def test_the_dynamic_optimum_by_hand(
    world: str, budget: float, horizon: int | None, best: float
) -> None:
    assert dynamic_optimum(world, budget, horizon=horizon) == pytest.approx(best)


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
    found = [16 * dynamic_optimum(world, 1, horizon=horizon) for horizon in (1, 2, 3, 4, 5)]
    assert found == [2, 4, 8, 16, 16]
    assert dynamic_optimum(replace(world, horizon=None), 1) == 2 / 16


def test_more_money_rounds_or_arms_never_hurt() -> None:
    for seed in SEEDS:
        random = Random(seed)
        row, budget, horizon = some_atoms(random), some_budget(random, 2500), some_horizon(random)

        def optimum(row: Row, budget: int, horizon: int | None = horizon) -> float:
            return dynamic_optimum(atoms_of(row), budget / 1000, horizon=horizon)

        value = optimum(row, budget)
        least = value * (1 - 1e-12)
        assert optimum(row, budget + random.randint(0, 500)) >= least
        assert optimum(row, budget, None if horizon is None else horizon + 1) >= least
        assert optimum([*row, *some_atoms(random)], budget) >= least
        factor = random.randint(2, 5)
        scaled = [[(chance, reward, cost * factor) for chance, reward, cost in arm] for arm in row]
        assert optimum(scaled, budget * factor) == pytest.approx(value, rel=1e-12)


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


@pytest.mark.parametrize("policy", ["exp3.bwk", "fixed", "oracle", "uniform"])
def test_no_policy_gains_more_than_the_dynamic_optimum(policy: str) -> None:
    for world, (budget, horizon) in SMALL_WORLDS.items():
        if policy == "oracle" and worlds.make(world, budget).efficiencies is None:
            continue
        gain = purse.simulate(policy, world, budget, n_paths=4000, seed=5, horizon=horizon).gain
        most = dynamic_optimum(world, budget, horizon=horizon) + 1e-9
        assert gain.mean() <= most + 4 * gain.std(ddof=1) / np.sqrt(len(gain))


@pytest.mark.parametrize("horizon", [None, 3])
def test_a_single_arm_gains_the_dynamic_optimum(horizon: int | None) -> None:
    world = "atoms:probabilities=[[.25,.25,.5]],rewards=[[1,.5,0]],costs=[[.7,.3,.2]]"
    gain = purse.simulate("fixed", world, 2, n_paths=40_000, seed=1, horizon=horizon).gain
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    assert gain.mean() == pytest.approx(dynamic_optimum(world, 2, horizon=horizon), abs=4 * error)
