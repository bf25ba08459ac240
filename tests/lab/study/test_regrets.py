from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.lab.theory.own_clock import block_values
from purse.types import World
from purse.worlds import bernoulli, make, table, two_point
from purse.worlds._draw import Tables
from tests.support.paths import SCRIPTED

UNIT = 10**9
PLAIN = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
BENCHMARKS = {"greedy", "knapsack", "optimum"}
MEANS = {"best_efficiency", "pseudo_regret", "paper_pseudo_regret"}


class Game(NamedTuple):
    """One path of one player."""

    gain: float
    rounds: int
    left: float
    efficiency: float
    pulls: list[int]
    paid: list[float]  # in each round


def replayed(
    world: World, budget: float, script: list[int], *, seed: int, path: int, stop: str
) -> Game:
    """The arms of a script over and over, in plain Python, on the draws of a path. Under `retry`
    with two arms the other one steps in.
    """
    most = min(1_000, world.n_rounds or 1_000)
    rewards, units = (part.tolist() for part in draws(world, most, seed=seed, path=path))
    left, pulls, paid, ratios = round(budget * UNIT), [0] * world.n_arms, [], []
    costs = []
    for t in range(most):
        arm = script[t % len(script)]
        if stop == "retry" and units[t][arm][0] > left and world.n_arms == 2:
            arm = 1 - arm
        if units[t][arm][0] > left or (stop == "hold" and world.cost_max[arm, 0] > left):
            break
        left -= units[t][arm][0]
        pulls[arm] += 1
        paid.append(rewards[t][arm])
        ratios.append(rewards[t][arm] / (units[t][arm][0] / UNIT))
        costs.append(units[t][arm][0] / UNIT)
    return Game(math.fsum(paid), len(paid), left / UNIT, math.fsum(ratios), pulls, costs)


def worth(world: World, arm: int, rounds: int, *, seed: int, path: int) -> float:
    """The arm's efficiencies over rounds 1 .. rounds."""
    rewards, units = draws(world, rounds, seed=seed, path=path)
    return math.fsum(float(rewards[t, arm]) / (int(units[t, arm, 0]) / UNIT) for t in range(rounds))


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def by_formula(
    world: World,
    budget: float,
    ours: list[Game],
    alone: list[list[Game]],
    shadow: list[list[float]],
) -> dict[str, list[float]]:
    """The notions that every world has, or that its means give, from what was replayed; loops
    instead of arrays.
    """
    paths, arms = range(len(ours)), range(world.n_arms)
    best = max(arms, key=lambda i: mean([game.gain for game in alone[i]]))
    star = max(arms, key=lambda i: mean([game.efficiency for game in alone[i]]))
    rival = max(arms, key=lambda i: mean(shadow[i]))
    pairs = list(zip(alone[star], ours, strict=True))
    values: dict[str, list[float]] = {
        "best_fixed_arm": [alone[best][p].gain - ours[p].gain for p in paths],
        "paper_arm": [other.gain - own.gain for other, own in pairs],
        "line_1": [budget / other.rounds * other.efficiency - own.gain for other, own in pairs],
        "line_2": [
            max(budget / other.rounds, (budget - own.left) / own.rounds)
            * (other.efficiency - own.efficiency)
            for other, own in pairs
        ],
        "efficiency_sums": [other.efficiency - own.efficiency for other, own in pairs],
        "own_rounds": [shadow[rival][p] - ours[p].efficiency for p in paths],
        "round_gap": [abs(other.rounds - own.rounds) for other, own in pairs],
        "leftover": [game.left for game in ours],
    }
    if not isinstance(world.tables, Tables) or not world.tables.shuffle:
        largest, each = world.cost_max.max() / UNIT, block_values(world, 1_000).tolist()
        credit = [
            [
                each[0][i] + sum(c / largest * each[t][i] for t, c in enumerate(game.paid, 1))
                for game in ours
            ]
            for i in arms
        ]
        rival = max(arms, key=lambda i: mean(credit[i]))
        values["own_clock"] = [credit[rival][p] - ours[p].gain for p in paths]
    if world.reward_means is None or world.cost_means is None:
        return values
    costs = world.cost_means[:, 0].tolist()
    ratios = [
        reward / cost for reward, cost in zip(world.reward_means.tolist(), costs, strict=True)
    ]
    values["best_efficiency"] = [budget * max(ratios) - game.gain for game in ours]
    values["pseudo_regret"] = [
        sum(game.pulls[i] * costs[i] * (max(ratios) - ratios[i]) for i in arms) for game in ours
    ]
    values["paper_pseudo_regret"] = [
        sum(game.pulls[i] * (max(ratios) - ratios[i]) for i in arms) for game in ours
    ]
    return values


def long_table(n_rounds: int) -> World:
    numbers = np.random.default_rng(7)
    return table(
        rewards=numbers.random((n_rounds, 3)).round(3),
        costs=numbers.uniform(0.1, 2, (n_rounds, 3)).round(3),
        shuffle=True,
    )


WORLDS: dict[str, tuple[str | World, float]] = {
    "fixed costs": (PLAIN, 20),
    "random costs": (two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2), 15.5),
    "large costs": (
        two_point(rewards=[0.9, 0.6, 0.3], costs=[60, 30, 90], cost_min=20, cost_max=250),
        3_000,
    ),
    "small costs": (bernoulli(rewards=[0.5, 0.4], costs=["0.000000003", "0.000000002"]), 1e-7),
    "many values": ("beta:rewards=[.7,.5,.3],costs=[.6,.3,.25],concentration=4,cost_min=.1", 12),
    "misleading ratio": ("misleading_ratio", 20),
    "same costs": ("same_costs", 25),
    "two worlds": ("two_worlds:world=2", 13),
    "spend or save": ("spend_or_save", 12),
    "theorem 5": ("theorem5", 16),
    "switching": ("switching:segments=[7,3],rewards=[[.9,.1],[.1,.9]],costs=[[.5,.2],[.1,.1]]", 12),
    "a shuffled table": (long_table(200), 20),
    "a table that ends": (long_table(9), 20),
    "a single arm": (two_point(rewards=[0.7], costs=[0.5], cost_min=0.2), 15.5),
}


def check_replay(
    text: str | World, budget: float, script: list[int], n_paths: int, seed: int, stop: str
) -> purse.lab.Regrets:
    """Every number is what a replay of the draws gives; return what was found."""
    world, paths = make(text, budget), range(n_paths)
    policy = f"{SCRIPTED}:script={[[arm] for arm in script]}"
    found = purse.lab.regrets(policy, text, budget, n_paths=n_paths, seed=seed, stop=stop)
    ours = [replayed(world, budget, script, seed=seed, path=p, stop=stop) for p in paths]
    lonely = "exit" if stop == "retry" else stop
    alone = [
        [replayed(world, budget, [arm], seed=seed, path=p, stop=lonely) for p in paths]
        for arm in range(world.n_arms)
    ]
    shadow = [
        [worth(world, arm, ours[p].rounds, seed=seed, path=p) for p in paths]
        for arm in range(world.n_arms)
    ]
    seen = found.evidence
    assert seen.budget == found.budget == budget
    assert seen.rounds.tolist() == [game.rounds for game in ours]
    assert seen.pulls.tolist() == [game.pulls for game in ours]
    assert seen.fixed_rounds.tolist() == [[game.rounds for game in row] for row in alone]
    for array, expected in (
        (seen.gain, [game.gain for game in ours]),
        (seen.left, [game.left for game in ours]),
        (seen.efficiency, [game.efficiency for game in ours]),
        (seen.fixed_gain, [[game.gain for game in row] for row in alone]),
        (seen.fixed_efficiency, [[game.efficiency for game in row] for row in alone]),
        (seen.counterfactual, shadow),
    ):
        np.testing.assert_allclose(array, expected, rtol=1e-11, atol=1e-11)
    formulas = by_formula(world, budget, ours, alone, shadow)
    assert set(found.estimates) - BENCHMARKS == set(formulas)
    for notion, values in formulas.items():
        assert found[notion].mean == pytest.approx(
            mean(values), rel=1e-9, abs=1e-9 * max(game.efficiency + 1 for game in ours)
        ), notion
    return found


@pytest.mark.parametrize("stop", ["exit", "hold"])
@pytest.mark.parametrize("name", WORLDS)
def test_every_number_is_what_a_replay_of_the_draws_gives(name: str, stop: str) -> None:
    text, budget = WORLDS[name]
    n_arms = make(text, budget).n_arms
    check_replay(text, budget, [arm % n_arms for arm in (0, 1, 1, 2)], 5, 4, stop)


def test_under_retry_what_the_policy_did_is_what_a_replay_gives() -> None:
    world = two_point(rewards=[0.9, 0.6], costs=[0.8, 0.3], cost_min=0.2)
    found = check_replay(world, 15.5, [0, 1, 0], 6, 2, "retry")
    assert not set(found.estimates) & BENCHMARKS
    plain = purse.lab.regrets("uniform", PLAIN, 20, n_paths=2, stop="retry")
    assert set(plain.estimates) & BENCHMARKS == {"greedy", "knapsack"}


@pytest.mark.parametrize(
    ("world", "budget"),
    [
        # 271,428 rounds, none of whose efficiencies is a float
        (bernoulli(rewards=[0.9], costs=[7e-9]), 0.0019),
        (bernoulli(rewards=[0.9, 0.1], costs=[0.3, 0.7]), 1_000),
        (make("drifting:rounds=50,rewards=[[.9,.1],[.8,.2]],costs=[[.3,.7],[.1,.9]]", 1), 300),
    ],
    ids=["small costs", "thirds", "drifting"],
)
def test_the_best_arm_loses_nothing_to_itself_over_its_own_rounds_not_even_rounding(
    world: World, budget: float
) -> None:
    found = purse.lab.regrets("fixed:arm=0", world, budget, n_paths=3)
    assert found["own_rounds"] == (0, 0, 0, 0)
    assert (
        found.evidence.counterfactual[0].tolist()
        == found.evidence.efficiency.tolist()
        == found.evidence.fixed_efficiency[0].tolist()
    )


@pytest.mark.parametrize("policy", ["uniform", "fixed:arm=1"])
@pytest.mark.parametrize(
    ("world", "budget", "stop"),
    [
        (bernoulli(rewards=[0.5, 0.5], costs=[5, 7]), 1, "exit"),  # nobody can pay for anything
        (two_point(rewards=[0.9, 0.6], costs=[0.5, 0.5], cost_min=0.2), 0.5, "hold"),
        # on some paths somebody can
        (two_point(rewards=[0.9, 0.6], costs=[0.5, 0.5], cost_min=0.2), 0.5, "retry"),
        (table(rewards=[[1, 1]], costs=[[2, 0.5]]), 1, "exit"),
    ],
)
def test_where_arms_cannot_be_paid_for_once_every_notion_is_a_number(
    policy: str, world: World, budget: float, stop: str
) -> None:
    found = purse.lab.regrets(policy, world, budget, n_paths=20, stop=stop)
    assert (found.evidence.fixed_rounds == 0).any()
    for name, each in found.estimates.items():
        assert all(map(math.isfinite, each)), name
    if (found.evidence.rounds == 0).all() and (found.evidence.fixed_rounds == 0).all():
        assert found["line_1"] == found["line_2"] == (0, 0, 0, 0)


def test_known_arms_have_all_three_benchmarks() -> None:
    found = purse.lab.regrets(
        "fixed:arm=0", "bernoulli:rewards=[1,.75],costs=[1,.8]", 1.6, n_paths=3
    )
    assert found.evidence.gain.tolist() == [1, 1, 1]
    for name, gain in (("greedy", 1), ("knapsack", 1.5), ("optimum", 1.5)):
        assert getattr(found.evidence, name) == pytest.approx(gain)
        assert found[name].mean == pytest.approx(gain - 1)


@pytest.mark.parametrize(
    ("world", "budget", "there"),
    [
        (PLAIN, 20, BENCHMARKS),
        ("misleading_ratio", 20, {"optimum"}),
        ("two_worlds", 20, {"optimum"}),
        ("table:rewards=[[1,0]],costs=[.5,.5]", 20, {"optimum"}),
        ("table:rewards=[[1,0]],costs=[.5,.5],shuffle=True", 20, set()),
        ("bernoulli:rewards=[.5,.5],costs=['0.123456789','0.987654321']", 20, {"greedy"}),
        ("beta:rewards=[.7,.5],costs=[.6,.3],concentration=4,cost_min=.1", 20, set()),
    ],
)
def test_a_benchmark_that_does_not_apply_or_would_take_too_long_is_left_out(
    world: str, budget: float, there: set[str]
) -> None:
    found = purse.lab.regrets("uniform", world, budget, n_paths=2)
    assert set(found.estimates) & BENCHMARKS == there
    assert {name for name in BENCHMARKS if getattr(found.evidence, name) is not None} == there


def test_a_world_with_a_horizon_has_the_optimum_of_who_may_wait_and_no_knapsack() -> None:
    world = replace(table(rewards=[[0.25, 0], [0.5, 1], [1, 0]], costs=[1, 1]), horizon=3)
    found = purse.lab.regrets("fixed:arm=0", world, 1, n_paths=2)
    assert set(found.estimates) & BENCHMARKS == {"optimum"}
    assert found.evidence.optimum == 1
    assert found["optimum"].mean == 0.75
