"""Outcomes of worlds: exact chances of i.i.d. worlds, rows of worlds that change, gains of arms."""

import math
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.draws import draws
from purse.lab.theory.own_clock import block_values
from purse.testing import check_world
from purse.types import World
from purse.worlds._tables import FOREVER

WINS = {(1.0, 0.2): 0.1, (0.0, 0.2): 0.3, (1.0, 0.3): 0.075, (0.0, 0.3): 0.225}  # of auctions
Outcomes = list[dict[tuple[float, ...], float]]  # for each arm (reward, costs): chance
QUARTERS = {(reward, cost): 1 / 4 for reward in (0, 1) for cost in (0.1, 1)}
GAP = math.sqrt(0.25 * 3 / (32 * 64))  # of similar_costs
BEST = 0.5 + 0.5 * math.sqrt(0.5 / 3)  # of theorem2


def outcomes(world: World) -> Outcomes:
    """The outcomes of each arm in a world of one phase, with their chances."""
    tables = world.tables
    chances = np.diff(tables.below / 2.0**53, axis=2, prepend=0.0, append=1.0)[0]
    arms: Outcomes = []
    for arm in range(world.n_arms):
        seen: dict[tuple[float, ...], float] = {}
        for atom, chance in enumerate(chances[arm]):
            costs = tables.costs[0, arm, atom] / 1e9
            key = (round(float(tables.rewards[0, arm, atom]), 12), *costs.tolist())
            if chance > 0:
                seen[key] = seen.get(key, 0.0) + float(chance)
        arms.append(seen)
    return arms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "bernoulli:rewards=[0,.9,1],costs=[.5,.25,1]",
            [{(0, 0.5): 1}, {(1, 0.25): 0.9, (0, 0.25): 0.1}, {(1, 1): 1}],
        ),
        ("bernoulli:rewards=[1,0],costs=[[.1,2],[0,3]]", [{(1, 0.1, 2): 1}, {(0, 0, 3): 1}]),
        (
            "two_point:rewards=[.5,1,0],costs=[.6,2,.2],cost_min=.2,cost_max=2",
            [
                {(1, 0.2): 7 / 18, (0, 0.2): 7 / 18, (1, 2): 1 / 9, (0, 2): 1 / 9},
                {(1, 2): 1},
                {(0, 0.2): 1},
            ],
        ),
        (
            "atoms:probabilities=[[.5,.5]],rewards=[[1,0]],costs=[[[1,.1],[2,0]]]",
            [{(1, 1, 0.1): 0.5, (0, 2, 0): 0.5}],
        ),
        ("misleading_ratio", [QUARTERS, {(1, 0.5): 0.6, (0, 0.5): 0.4}]),
        ("misleading_costs", [{(0.5, 0.1): 0.5, (0.5, 1): 0.5}, {(1, 0.5): 1}]),
        (
            "theorem2:n_arms=2,cost_min=.25,budget=3,scale=.5,best=1",
            [{(1, 0.25): 0.5, (0, 0.25): 0.5}, {(1, 0.25): BEST, (0, 0.25): 1 - BEST}],
        ),
        (
            "similar_costs:n_arms=3,budget=64,cost_min=.25",
            [{(1, 1): 0.25 - GAP, (1, 0.25): 0.75 + GAP}, *[{(1, 1): 0.25, (1, 0.25): 0.75}] * 2],
        ),
        # the gap is at most half of the chance
        (
            "similar_costs:n_arms=8,budget=1,cost_min=.5",
            [{(1, 1): 0.25, (1, 0.5): 0.75}, *[{(1, 1): 0.5, (1, 0.5): 0.5}] * 7],
        ),
        (
            "pricing:prices=[2,8],chances=[.9,.1],customers=1000",
            [{(0.25, 1): 0.9, (0, 0): 0.1}, {(1, 1): 0.1, (0, 0): 0.9}],
        ),
        (
            "routing:quality=[.5],prices=[.5],prompts=2000",
            [{(r, round(0.25 + 0.125 * i, 3)): 0.1 for r in (0.3, 1) for i in range(5)}],
        ),
        (
            "ad_slots:clicks=[.1],values=[.5],prices=[.25],views=100",
            [{(0.5, 0.25, 1): 0.1, (0, 0, 1): 0.9}],
        ),
        # a bid wins against rivals up to its height, and costs the rival's bid
        (
            "auction:bids=[.1,.3],rivals=[.2,.3,.6,0],chances=[.4,.3,.2,.1],conversion=.25,auctions=9",
            [{(1, 0): 0.025, (0, 0): 0.975}, WINS | {(1, 0): 0.025, (0, 0): 0.275}],
        ),
    ],
)
def test_outcomes_and_their_chances(text: str, expected: Outcomes) -> None:
    world = worlds.make(text, budget=100)
    for seen, said in zip(outcomes(world), expected, strict=True):
        assert {key: chance for key, chance in seen.items() if chance > 1e-12} == pytest.approx(
            said, abs=1e-12
        )
    check_world(world, n_rounds=5_000)


def test_atoms_that_are_never_drawn_stay_out_of_reach_of_rounding() -> None:
    third = 0.3333333333
    world = worlds.atoms([[third] * 3 + [0]], rewards=[[1, 1, 1, 0]], costs=[[1, 1, 1, 5]])
    assert world.tables.below[0, 0, -1] == 2**53
    rewards, costs = draws(
        worlds.atoms([[0.1] * 10 + [0]], rewards=[[1] * 10 + [0]], costs=[[1] * 10 + [5]]), 50_000
    )
    assert (rewards == 1).all()
    assert (costs == 10**9).all()


def first_pay(cost: float) -> float:
    return min(1.0, (1 - cost) / (2 * cost))


Rows = list[list[Any]]
TWO = "switching:segments=[3,1,2],rewards=[[1,0],[0,0],[0,1]]"
# worlds without chance: budget, first round, rewards and costs of the rounds from there on
CHANGING: list[tuple[str, float, int, Rows, Rows]] = [
    (f"{TWO},costs=[.5,.25]", 9, 1, ([[1, 0]] * 3 + [[0, 0]] + [[0, 1]] * 2) * 2, [[0.5, 0.25]]),
    (f"{TWO},costs=[1,1]", 9, 6 * 10**9 + 1, [[1, 0]] * 3 + [[0, 0]], [[1, 1]]),
    ("switching:segments=2,rewards=[[1],[0]],costs=[1]", 9, 1, [[1], [1], [0], [0]] * 2, [[1]]),
    (
        "switching:segments=[1,2],rewards=[[1],[0]],costs=[[.5],[.25]]",
        9,
        1,
        [[1], [0], [0]] * 2,
        [[0.5], [0.25], [0.25]] * 2,
    ),
    (
        "corrupted:rewards=[1,0],costs=[.5,.2],rounds=3,fake_rewards=[0,1]",
        *(9, 1, [[0, 1]] * 3 + [[1, 0]] * 5, [[0.5, 0.2]]),
    ),
    (
        "corrupted:rewards=[1,0],costs=[.5,.2],rounds=3,fake_rewards=[0,1]",
        *(9, 10**15, [[1, 0]] * 3, [[0.5, 0.2]]),
    ),
    ("same_costs", 9, 1, [[1, 0], [0, 0.5]] * 3, [[1, 1], [0.1, 0.1]] * 3),
    ("same_costs", 9, 10**15 + 1, [[1, 0], [0, 0.5]] * 3, [[1, 1], [0.1, 0.1]] * 3),
    *(
        (
            f"spend_or_save:later={later}",
            budget,
            1,
            [[0, 1]] * half + [[later, later]] * 3,
            [[0.1, 1]] * half + [[0.1, 0.1]] * 3,
        )
        for later in (0, 0.5, 1)
        for budget, half in ((2, 1), (3, 1), (11, 5), (10.0, 5))
    ),
    ("spend_or_save:later=.5", 9, 10**15, [[0.5, 0.5]] * 2, [[0.1, 0.1]]),
    ("spend_or_save:fixed_costs=True", 4, 1, [[0, 1]] * 2 + [[1, 0]] * 3, [[0.1, 1]]),
    *(
        (
            f"two_worlds:cost_min={cost},world={world}",
            5,
            1,
            [[first_pay(cost), 0]] * 5 + [[0, world - 1]] * 3,
            [[1, cost]],
        )
        for cost in (0.01, 0.4, 0.5, 0.8, 1.0)
        for world in (1, 2)
    ),
    ("two_worlds:world=2", 5, 10**15, [[0, 1]] * 3, [[1, 0.1]]),
]


@pytest.mark.parametrize(("text", "budget", "first", "rewards", "costs"), CHANGING)
def test_rounds_of_worlds_without_chance(
    text: str, budget: float, first: int, rewards: Rows, costs: Rows
) -> None:
    seen, units = draws(worlds.make(text, budget), len(rewards), first=first)
    np.testing.assert_allclose(seen, rewards, rtol=1e-12)
    np.testing.assert_allclose(
        units[:, :, 0] / 1e9, np.broadcast_to(costs, seen.shape), rtol=0, atol=1e-9
    )


def test_several_resources_of_worlds_that_change() -> None:
    costs = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    switching = worlds.switching(segments=[1, 1], rewards=[[1, 0], [0, 1]], costs=costs)
    assert (draws(switching, 2)[1] / 10**9).tolist() == costs
    corrupted = worlds.corrupted([1, 0], [[1, 2], [0, 4]], rounds=1, fake_rewards=[0, 1])
    assert (draws(corrupted, 2)[1] / 10**9).tolist() == [[[1, 2], [0, 4]]] * 2


def test_a_single_segment_has_means_and_others_do_not() -> None:
    world = worlds.switching(segments=5, rewards=[[0.4, 0.8]], costs=[1, 2])
    assert world.efficiencies is not None
    np.testing.assert_allclose(world.efficiencies, [0.4, 0.4])
    tables = worlds.corrupted([0.75, 0.5], [0.5, 0.2], rounds=20, fake_rewards=[0.25, 1]).tables
    assert (tables.last.tolist(), tables.period) == ([20, FOREVER], 0)
    assert (tables.below[:, :, 0] / 2**53).tolist() == [[0.25, 1], [0.75, 0.5]]


def test_efficiencies_stay_while_costs_move() -> None:
    world = worlds.moving_costs([0.9, 0.5], segments=[2, 1], costs=[[0.1, 1], [1, 0.4]])
    check_world(world)
    costs = draws(world, 4, seed=2)[1][:, :, 0] / 1e9
    assert costs.tolist() == [[0.1, 1], [0.1, 1], [1, 0.4], [0.1, 1]]
    np.testing.assert_allclose(world.tables.below[:, :, 0] / 2**53, [[0.09, 0.5], [0.9, 0.2]])
    three = worlds.moving_costs([0.9, 0.5], segments=7, costs=[[0.1, 1], [1, 0.4], [0.3, 0.3]])
    assert block_values(three, 50) == pytest.approx(np.array([[0.9, 0.5]] * 51))


# outages
INNER = "bernoulli:rewards=[.9,.6,.3],costs=[.6,.5,.4]"
SWITCHING = "switching:segments=[4,2],rewards=[[.9,.1],[.1,.9]],costs=[.5,.5]"


def test_segments_of_outages_come_again_after_the_last() -> None:
    world = worlds.outages(INNER, up=[[1, 1, 1], [0, 1, 1], [0, 0, 1]], segments=[3, 2, 1])
    assert world.outages is not None
    allowed = [world.outages.allowed(t) for t in range(1, 9)]
    assert allowed == [[0, 1, 2]] * 3 + [[1, 2]] * 2 + [[2]] + [[0, 1, 2]] * 2
    for segments in (2, [2]):
        same = worlds.outages(INNER, up=[[1, 1, 0], [0, 1, 1]], segments=segments)
        assert same.outages is not None
        assert same.outages.last.tolist() == [2, 4]


def test_requests_are_of_kinds_that_come_as_often_as_their_shares() -> None:
    kinds = [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    half = [[5, 3, 2], [0, 0, 1]]
    world = worlds.requests(INNER, 20_000, kinds, half)
    assert world.outages is not None
    first, second = world.outages.up[:10_000], world.outages.up[10_000:]
    assert second.tolist() == [[False, False, True]] * 10_000
    # an arm is up with the sum of the shares of its kinds; the standard error is below 0.005
    assert first.mean(axis=0) == pytest.approx([0.5, 0.8, 1.0], abs=0.02)
    again, other = (worlds.requests(INNER, 20_000, kinds, half, seed=seed) for seed in (0, 1))
    assert again.outages is not None
    assert other.outages is not None
    assert (again.outages.up == world.outages.up).all()
    assert (other.outages.up != world.outages.up).any()
    runs = worlds.requests(INNER, 1_005, kinds, half[0], run=10).outages
    assert runs is not None
    assert (runs.up[:1_000].reshape(100, 10, 3) == runs.up[:1_000:10, None]).all()
    assert (runs.up[10] != runs.up[::10]).any()


def test_a_player_may_not_be_told_how_many_requests_come() -> None:
    told, untold = (worlds.requests(INNER, 300, told=told) for told in (True, False))
    assert (told.horizon, untold.horizon) == (300, None)
    assert not told.outages
    runs = [purse.simulate("replan", world, 1000, n_paths=20) for world in (told, untold)]
    for run in runs:
        assert (run.rounds == 300).all()  # there is money for more
    # who is told takes the dearest arm; a standard error is 1.5
    assert runs[0].gain.mean() > runs[1].gain.mean() + 6


def test_without_segments_the_phases_of_the_world_count() -> None:
    run = purse.simulate("uniform", worlds.outages(SWITCHING, up=[[1, 0], [0, 1]]), 3, n_paths=3)
    assert (run.pulls == [4, 2]).all()


def test_stock_customers_and_views_end_a_game() -> None:
    pricing = worlds.pricing(prices=[2, 4], chances=[0.9, 0.5], customers=300)
    assert (purse.simulate("uniform", pricing, 50, n_paths=10).spent[:, 0] == 50).all()
    assert (purse.simulate("uniform", pricing, 1000, n_paths=10).rounds == 300).all()
    ads = worlds.ad_slots(clicks=[0.1, 0.5], values=[1, 0.2], prices=[0.5, 0.1], views=100)
    assert (purse.simulate("uniform", ads, [100, 30], n_paths=5).rounds == 30).all()
