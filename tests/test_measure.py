from __future__ import annotations

import math
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import purse
import purse.engine.counterfactual
from purse.base.progress import Progress
from purse.engine import cpu
from purse.engine.draws import draws
from purse.study import executors
from purse.study.regrets import first_line, mean_and_half, measure
from purse.study.store import Store
from purse.theory import knapsack
from purse.theory.notions import NOTIONS, Estimate
from purse.types import World
from purse.worlds import bernoulli, make, table, two_point

SCRIPTED = str(Path(__file__).parent / "engine" / "policies_for_tests" / "scripted.py")
UNIT = 10**9
PLAIN = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
MEANS = {"best_efficiency", "pseudo_regret", "paper_pseudo_regret"}
BENCHMARKS = {"greedy", "knapsack", "optimum"}


class Game(NamedTuple):
    """One path of one player."""

    gain: float
    rounds: int
    left: float
    efficiency: float
    pulls: list[int]


def replayed(
    world: World, budget: float, script: list[int], *, seed: int, path: int, stop: str
) -> Game:
    """The arms of a script over and over, in plain Python, on the draws of a path. Under `retry`
    with two arms the other one steps in.
    """
    most = min(1_000, world.n_rounds or 1_000)
    rewards, units = (part.tolist() for part in draws(world, most, seed=seed, path=path))
    left, pulls, paid, ratios = round(budget * UNIT), [0] * world.n_arms, [], []
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
    return Game(math.fsum(paid), len(paid), left / UNIT, math.fsum(ratios), pulls)


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
    values = {
        "best_fixed_arm": [alone[best][p].gain - ours[p].gain for p in paths],
        "paper_arm": [alone[star][p].gain - ours[p].gain for p in paths],
        "line_1": [
            budget / alone[star][p].rounds * alone[star][p].efficiency - ours[p].gain for p in paths
        ],
        "line_2": [
            max(budget / alone[star][p].rounds, (budget - ours[p].left) / ours[p].rounds)
            * (alone[star][p].efficiency - ours[p].efficiency)
            for p in paths
        ],
        "efficiency_sums": [alone[star][p].efficiency - ours[p].efficiency for p in paths],
        "own_rounds": [shadow[rival][p] - ours[p].efficiency for p in paths],
        "round_gap": [abs(alone[star][p].rounds - ours[p].rounds) for p in paths],
        "leftover": [game.left for game in ours],
    }
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


@pytest.mark.parametrize("stop", ["exit", "hold"])
@pytest.mark.parametrize("name", WORLDS)
def test_every_number_is_what_a_replay_of_the_draws_gives(name: str, stop: str) -> None:
    text, budget = WORLDS[name]
    world, n_paths, seed = make(text, budget), 5, 4
    script = [arm % world.n_arms for arm in (0, 1, 1, 2)]
    found = purse.regrets(
        f"{SCRIPTED}:script={[[arm] for arm in script]}",
        text,
        budget,
        n_paths=n_paths,
        seed=seed,
        stop=stop,
    )
    ours = [replayed(world, budget, script, seed=seed, path=p, stop=stop) for p in range(n_paths)]
    alone = [
        [replayed(world, budget, [arm], seed=seed, path=p, stop=stop) for p in range(n_paths)]
        for arm in range(world.n_arms)
    ]
    shadow = [
        [worth(world, arm, ours[p].rounds, seed=seed, path=p) for p in range(n_paths)]
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


@pytest.mark.parametrize("n_paths", [1, 6])
def test_under_retry_what_the_policy_did_is_what_a_replay_gives(n_paths: int) -> None:
    world = two_point(rewards=[0.9, 0.6], costs=[0.8, 0.3], cost_min=0.2)
    found = purse.regrets(
        f"{SCRIPTED}:script=[[0],[1],[0]]", world, 15.5, n_paths=n_paths, seed=2, stop="retry"
    )
    ours = [replayed(world, 15.5, [0, 1, 0], seed=2, path=p, stop="retry") for p in range(n_paths)]
    seen = found.evidence
    assert seen.rounds.tolist() == [game.rounds for game in ours]
    assert seen.pulls.tolist() == [game.pulls for game in ours]
    assert seen.left.tolist() == [game.left for game in ours]
    np.testing.assert_allclose(seen.gain, [game.gain for game in ours])
    np.testing.assert_allclose(seen.efficiency, [game.efficiency for game in ours])
    shadow = [
        [worth(world, arm, ours[p].rounds, seed=2, path=p) for p in range(n_paths)]
        for arm in (0, 1)
    ]
    np.testing.assert_allclose(seen.counterfactual, shadow)
    alone = [
        [replayed(world, 15.5, [arm], seed=2, path=p, stop="exit") for p in range(n_paths)]
        for arm in (0, 1)
    ]
    assert seen.fixed_rounds.tolist() == [[game.rounds for game in row] for row in alone]
    np.testing.assert_allclose(seen.fixed_gain, [[game.gain for game in row] for row in alone])
    np.testing.assert_allclose(
        seen.fixed_efficiency, [[game.efficiency for game in row] for row in alone]
    )
    formulas = by_formula(world, 15.5, ours, alone, shadow)
    assert set(found.estimates) == set(formulas)
    for notion, values in formulas.items():
        assert found[notion].mean == pytest.approx(mean(values), rel=1e-9, abs=1e-9), notion


def test_under_retry_an_arm_alone_is_alone_and_affords_what_its_own_costs_allow() -> None:
    world = bernoulli(rewards=[1, 1], costs=[0.8, 0.3])
    # the other arm steps in for the last 0.4
    assert purse.simulate("fixed:arm=0", world, 2, n_paths=1, stop="retry").rounds.tolist() == [3]
    for stop in ("exit", "retry"):
        found = purse.regrets("uniform", world, 2, n_paths=3, stop=stop)
        assert found.evidence.fixed_rounds.tolist() == [[2] * 3, [6] * 3]
        assert found.evidence.fixed_gain.tolist() == [[2] * 3, [6] * 3]


def test_under_retry_nobody_knows_the_optimum_and_a_player_may_beat_the_one_of_exit() -> None:
    world = two_point(rewards=[1, 0.6], costs=[0.6, 0.3], cost_min=0.2)
    exit_, retry = (
        purse.regrets("oracle", world, 1.1, n_paths=2000, stop=stop) for stop in ("exit", "retry")
    )
    assert exit_.evidence.optimum == knapsack.dynamic_optimum(world, 1.1)
    assert retry.evidence.optimum is None
    assert "optimum" not in retry.estimates
    gain = retry.evidence.gain
    assert gain.mean() - 4 * gain.std() / math.sqrt(len(gain)) > exit_.evidence.optimum
    plain = purse.regrets("uniform", PLAIN, 20, n_paths=2, stop="retry")
    assert set(plain.estimates) & BENCHMARKS == {"greedy", "knapsack"}


def test_with_a_single_arm_all_stop_rules_but_hold_are_one() -> None:
    world = two_point(rewards=[0.6], costs=[0.5], cost_min=0.2)
    exit_, retry, hold = (
        purse.regrets("exp3.bwk", world, 20.5, n_paths=8, stop=stop)
        for stop in ("exit", "retry", "hold")
    )
    assert {**retry.estimates, "optimum": exit_["optimum"]} == exit_.estimates
    assert hold["leftover"].mean > exit_["leftover"].mean
    for found in (exit_, hold):
        for notion in (
            "best_fixed_arm",
            "paper_arm",
            "efficiency_sums",
            "round_gap",
            "pseudo_regret",
            "paper_pseudo_regret",
        ):
            assert found[notion].mean == 0
        assert found["own_rounds"] == (0, 0, 0, 0)


# what is known of some worlds


def test_on_constant_arms_the_sums_of_efficiencies_cry_wolf_and_line_1_sleeps() -> None:
    found = purse.regrets(
        "exp3.bwk",
        "atoms:probabilities=[[1],[1]],rewards=[[1],[.05]],costs=[[1],[.1]]",
        1e4,
        n_paths=10,
    )
    assert found["efficiency_sums"].mean / 1e4 == pytest.approx(3.78, abs=0.01)
    assert found["line_1"].mean / 1e4 == pytest.approx(-0.47, abs=0.005)
    assert found["best_fixed_arm"].mean / 1e4 == pytest.approx(0.028, abs=0.002)
    # all of them put 1e4 into arm 0
    for benchmark in ("greedy", "knapsack", "optimum", "best_efficiency"):
        assert found[benchmark].mean == pytest.approx(found["best_fixed_arm"].mean)
    assert found["own_rounds"].mean == pytest.approx(found["paper_pseudo_regret"].mean)
    assert found["pseudo_regret"].mean + found["leftover"].mean == pytest.approx(
        found["best_fixed_arm"].mean
    )


def test_on_equal_costs_that_change_line_1_is_five_times_the_regret() -> None:
    found = purse.regrets("exp3.bwk", "same_costs", 1e4, n_paths=10)
    assert found["line_1"].mean / 1e4 == pytest.approx(1.99, abs=0.015)
    assert found["best_fixed_arm"].mean / 1e4 == pytest.approx(0.394, abs=0.015)
    assert found["round_gap"].mean == found["round_gap"].error == 0
    assert found["efficiency_sums"].mean == pytest.approx(found["own_rounds"].mean)


@pytest.mark.parametrize("policy", ["uniform", "exp3++.bwk"])
def test_where_all_costs_are_one_constant_the_notions_agree(policy: str) -> None:
    found = purse.regrets(
        policy, "bernoulli:rewards=[.9,.5,.2],costs=[.25,.25,.25]", 200, n_paths=12, seed=1
    )
    regret = found["best_fixed_arm"]
    assert regret.mean > 0
    for notion in ("paper_arm", "line_1", "line_2"):
        assert found[notion] == pytest.approx(regret)
    for notion in ("efficiency_sums", "own_rounds"):
        assert found[notion] == pytest.approx([number / 0.25 for number in regret])
    assert found["round_gap"].mean == found["leftover"].mean == 0


def test_a_policy_that_is_the_best_arm_has_no_regret() -> None:
    found = purse.regrets("fixed:arm=1", PLAIN, 60, n_paths=6)
    for notion in (
        "best_fixed_arm",
        "paper_arm",
        "line_2",
        "efficiency_sums",
        "round_gap",
        "pseudo_regret",
        "paper_pseudo_regret",
        "leftover",
    ):
        assert found[notion][:2] == (0, 0)
    assert found["own_rounds"] == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("world", "budget"),
    [
        # 271,428 rounds, none of whose efficiencies is a float
        (bernoulli(rewards=[0.9], costs=[7e-9]), 0.0019),
        (bernoulli(rewards=[0.9, 0.1], costs=[0.3, 0.7]), 1_000),
        (two_point(rewards=[0.9, 0.1], costs=[60, 70], cost_min=20, cost_max=250), 30_000),
        (make("beta:rewards=[.7,.2],costs=[.3,.6],concentration=4,cost_min=.1", 1), 300),
        (make("drifting:rounds=50,rewards=[[.9,.1],[.8,.2]],costs=[[.3,.7],[.1,.9]]", 1), 300),
    ],
    ids=["small costs", "thirds", "large costs", "many values", "drifting"],
)
@pytest.mark.parametrize("stop", ["exit", "hold"])
def test_the_best_arm_loses_nothing_to_itself_over_its_own_rounds_not_even_rounding(
    world: World, budget: float, stop: str
) -> None:
    found = purse.regrets("fixed:arm=0", world, budget, n_paths=3, stop=stop)
    assert found["own_rounds"] == (0, 0, 0, 0)
    assert (
        found.evidence.counterfactual[0].tolist()
        == found.evidence.efficiency.tolist()
        == found.evidence.fixed_efficiency[0].tolist()
    )


@pytest.mark.parametrize("policy", ["uniform", "fixed:arm=1", "exp3.bwk"])
@pytest.mark.parametrize(
    ("world", "budget", "stop"),
    [
        (bernoulli(rewards=[0.5, 0.5], costs=[5, 7]), 1, "exit"),  # nobody can pay for anything
        (two_point(rewards=[0.9, 0.6], costs=[0.5, 0.5], cost_min=0.2), 0.5, "hold"),
        # on some paths somebody can
        (two_point(rewards=[0.9, 0.6], costs=[0.5, 0.5], cost_min=0.2), 0.5, "exit"),
        (two_point(rewards=[0.9, 0.6], costs=[0.5, 0.5], cost_min=0.2), 0.5, "retry"),
        (table(rewards=[[1, 1]], costs=[[2, 0.5]]), 1, "exit"),
    ],
)
def test_where_arms_cannot_be_paid_for_once_every_notion_is_a_number(
    policy: str, world: World, budget: float, stop: str
) -> None:
    found = purse.regrets(policy, world, budget, n_paths=20, stop=stop)
    assert (found.evidence.fixed_rounds == 0).any()
    for name, each in found.estimates.items():
        assert all(map(math.isfinite, each)), name
    if (found.evidence.rounds == 0).all() and (found.evidence.fixed_rounds == 0).all():
        assert found["line_1"] == found["line_2"] == (0, 0, 0, 0)


# benchmarks that know the world


def test_known_arms_have_all_three_benchmarks() -> None:
    found = purse.regrets("fixed:arm=0", "bernoulli:rewards=[1,.75],costs=[1,.8]", 1.6, n_paths=3)
    assert found.evidence.gain.tolist() == [1, 1, 1]
    assert (
        found.evidence.greedy,
        found.evidence.knapsack,
        found.evidence.optimum,
    ) == pytest.approx((1, 1.5, 1.5))
    assert [found[name].mean for name in ("greedy", "knapsack", "optimum")] == pytest.approx(
        [0, 0.5, 0.5]
    )


@pytest.mark.parametrize(
    ("world", "budget", "there"),
    [
        (PLAIN, 20, BENCHMARKS),
        ("misleading_ratio", 20, {"optimum"}),
        ("two_worlds", 20, {"optimum"}),
        ("table:rewards=[[1,0],[0,1]],costs=[.5,.5]", 20, {"optimum"}),
        ("table:rewards=[[1,0],[0,1]],costs=[.5,.5],shuffle=True", 20, set()),
        ("table:rewards=[[1,0]],costs=[.5,.5]", 20, {"optimum"}),
        ("table:rewards=[[1,0]],costs=[.5,.5],shuffle=True", 20, set()),
        ("bernoulli:rewards=[.5,.5],costs=['0.123456789','0.987654321']", 20, {"greedy"}),
        ("beta:rewards=[.7,.5],costs=[.6,.3],concentration=4,cost_min=.1", 20, set()),
    ],
)
def test_a_benchmark_that_does_not_apply_or_would_take_too_long_is_left_out(
    world: str, budget: float, there: set[str]
) -> None:
    found = purse.regrets("uniform", world, budget, n_paths=2)
    assert set(found.estimates) & BENCHMARKS == there
    assert {name for name in BENCHMARKS if getattr(found.evidence, name) is not None} == there


@pytest.mark.parametrize("n_rounds", [1, 2])
def test_a_table_of_one_row_has_no_means_either_and_one_does_not_lose_what_it_cannot_pay(
    n_rounds: int,
) -> None:
    found = purse.regrets(
        "fixed:arm=0", table(rewards=[[1, 0.5]] * n_rounds, costs=[0.5, 0.5]), 20, n_paths=2
    )
    assert not (MEANS | {"greedy", "knapsack"}) & set(found.estimates)
    assert found.evidence.reward_means is found.evidence.cost_means is None
    assert found["optimum"].mean == found["best_fixed_arm"].mean == 0
    assert found["leftover"].mean == 20 - 0.5 * n_rounds


def test_a_world_with_a_horizon_has_the_optimum_of_who_may_wait_and_no_knapsack() -> None:
    world = replace(table(rewards=[[0.25, 0], [0.5, 1], [1, 0]], costs=[1, 1]), horizon=3)
    found = purse.regrets("fixed:arm=0", world, 1, n_paths=2)
    assert set(found.estimates) & BENCHMARKS == {"optimum"}
    assert found.evidence.optimum == 1
    assert found["optimum"].mean == 0.75


def test_nobody_is_expected_to_beat_the_optimum() -> None:
    found = purse.regrets("oracle", "misleading_ratio", 30.4, n_paths=200)
    assert found["optimum"].high > 0
    assert found["optimum"].mean < found["best_efficiency"].mean


# the estimates


def test_estimates_are_means_with_students_interval() -> None:
    found = purse.regrets("uniform", PLAIN, 20, n_paths=5, seed=3)
    for name, each in found.estimates.items():
        values = NOTIONS[name](found.evidence)
        assert values is not None
        assert each.mean == pytest.approx(mean(values.tolist()))
        error = math.sqrt(math.fsum((value - each.mean) ** 2 for value in values.tolist()) / 4 / 5)
        assert each.error == pytest.approx(error)
        assert each.high - each.mean == pytest.approx(2.776445105 * error)
        assert each.mean - each.low == pytest.approx(2.776445105 * error)
        assert found[name] is each


def test_a_constant_has_an_interval_of_no_width() -> None:
    found = purse.regrets("fixed:arm=0", "bernoulli:rewards=[1,1],costs=[1,.25]", 10, n_paths=4)
    assert found["best_fixed_arm"] == (30, 0, 30, 30)


def test_one_path_has_means_and_no_intervals() -> None:
    found = purse.regrets("uniform", PLAIN, 20, n_paths=1)
    for each in found.estimates.values():
        assert math.isfinite(each.mean)
        assert all(map(math.isnan, each[1:]))
    assert "±" not in str(found)
    assert "nan" not in str(found)
    assert str(found).startswith(f"uniform on {PLAIN}: 1 path, budget 20\n")


def test_thousands_of_paths_have_a_comma() -> None:
    assert (
        str(purse.regrets("uniform", PLAIN, 1, n_paths=1000))
        .splitlines()[0]
        .endswith(": 1,000 paths, budget 1")
    )


def test_notions_keep_their_order_and_those_without_a_number_are_left_out() -> None:
    all_, some = (
        purse.regrets("uniform", PLAIN, 20, n_paths=2),
        purse.regrets("uniform", "two_worlds", 20, n_paths=2),
    )
    assert list(all_.estimates) == list(NOTIONS)
    assert list(some.estimates) == [
        name for name in NOTIONS if name not in MEANS | {"greedy", "knapsack"}
    ]


@pytest.mark.parametrize(
    ("notion", "hint"),
    [
        ("best_fixed_arms", "did you mean 'best_fixed_arm'?"),
        ("line1", "did you mean 'line_1'?"),
        ("leftovers", "did you mean 'leftover'?"),
        # not on this world
        (
            "greedy",
            "known: best_fixed_arm, efficiency_sums, leftover, line_1, line_2, optimum, "
            "own_rounds, paper_arm, round_gap",
        ),
    ],
)
def test_a_notion_that_is_not_there_is_refused_with_the_nearest_that_is(
    notion: str, hint: str
) -> None:
    found = purse.regrets("uniform", "two_worlds", 20, n_paths=2)
    with pytest.raises(purse.InvalidInput) as caught:
        found[notion]
    assert str(caught.value) == f"unknown notion of regret on this world {notion!r}; {hint}"


@pytest.mark.parametrize("world", [PLAIN, "same_costs"])
def test_it_prints_every_notion_with_what_it_is(world: str) -> None:
    found = purse.regrets("exp3.bwk:gamma=0.5", world, 20, n_paths=4)
    head, *lines = str(found).splitlines()
    assert head == f"exp3.bwk:gamma=0.5 on {world}: 4 paths, budget 20"
    assert [line.split()[0] for line in lines] == list(found.estimates)
    for name, line in zip(found.estimates, lines, strict=True):
        assert line.count("±") == 1
        assert line.endswith(first_line(NOTIONS[name]))
    assert len({line.index("±") for line in lines}) == 1
    for name in MEANS:
        assert (name in str(found)) == (world == PLAIN)


@pytest.mark.parametrize(
    ("mean", "half", "texts"),
    [
        (1234.5678, 123.4, ("1,235", "± 123")),
        (1234.5678, 12.34, ("1,235", "± 12")),
        (1234.5678, 1.234, ("1,234.6", "± 1.2")),
        (1234.5678, 0.1234, ("1,234.57", "± 0.12")),
        (-0.4719, 0.0234, ("-0.472", "± 0.023")),
        (0.0001, 5.25, ("0.0", "± 5.2")),
        (12345678.9, 98765.4, ("12,345,679", "± 98,765")),
        (3e-8, 1.5e-9, ("0.0000000300", "± 0.0000000015")),
        (30.0, 0.0, ("30", "± 0")),
        (8.4857142857, 0.0, ("8.48571", "± 0")),
        (0.0, 0.0, ("0", "± 0")),
        (-4719.25, math.nan, ("-4,719.25", "")),
        (1 / 3, math.nan, ("0.333333", "")),
    ],
)
def test_a_mean_is_written_to_the_place_of_two_digits_of_half_its_interval(
    mean: float, half: float, texts: tuple[str, str]
) -> None:
    assert mean_and_half(Estimate(mean, half / 2, mean - half, mean + half)) == texts


@pytest.mark.parametrize("budget", [2, 20, 2_000])
def test_what_is_printed_is_the_mean_and_half_the_interval_to_the_same_place(budget: float) -> None:
    found = purse.regrets("uniform", "misleading_ratio", budget, n_paths=9)
    for line, each in zip(str(found).splitlines()[1:], found.estimates.values(), strict=True):
        mean, half = line.split()[1].replace(",", ""), line.split()[3].replace(",", "")
        places = len(half.partition(".")[2])
        assert len(mean.partition(".")[2]) == places
        assert float(mean) == pytest.approx(each.mean, abs=0.500001 * 10**-places)
        assert float(half) == pytest.approx(each.high - each.mean, abs=0.500001 * 10**-places)
        assert places == 0 or 9.5 <= float(half) * 10**places <= 100
        assert places > 0 or each.high - each.mean >= 9.5


def test_what_is_said_is_the_first_line_of_a_docstring() -> None:
    def one() -> None:
        """First.

        Second.
        """

    assert first_line(one) == "First."
    assert all(map(first_line, NOTIONS.values()))


# what decides the numbers, and what does not


def same(one: purse.Regrets, other: purse.Regrets) -> bool:
    pairs = [(value, getattr(other.evidence, name)) for name, value in vars(one.evidence).items()]
    return one.estimates == other.estimates and all(
        np.array_equal(ours, theirs) for ours, theirs in pairs
    )


def test_the_same_call_gives_the_same_numbers_and_another_seed_others() -> None:
    first, again, other = (
        purse.regrets("exp3.bwk", PLAIN, 30, n_paths=5, seed=seed) for seed in (1, 1, 2)
    )
    assert same(first, again)
    assert not same(first, other)


@pytest.mark.parametrize("n_workers", [1, 2, 7])
def test_workers_change_nothing(n_workers: int) -> None:
    assert same(
        purse.regrets("uniform", PLAIN, 30, n_paths=9),
        purse.regrets("uniform", PLAIN, 30, n_paths=9, n_workers=n_workers),
    )


def test_it_is_the_regret_of_a_comparison() -> None:
    found = purse.regrets("exp3.bwk", PLAIN, 30, n_paths=6, seed=5)
    row = purse.compare("exp3.bwk", PLAIN, budgets=30, n_paths=6, seed=5).table().to_dicts()[0]
    assert found["best_fixed_arm"] == (row["regret"], row["error"], row["low"], row["high"])


def test_policies_may_be_modules_worlds_may_be_worlds_and_budgets_text() -> None:
    plain = purse.regrets("uniform", PLAIN, 20.5, n_paths=3)
    fancy = purse.regrets(
        purse.policies.load("uniform"),
        bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3]),
        "20.5",
        n_paths=3,
    )  # type: ignore[arg-type]
    assert same(plain, fancy)
    assert (fancy.policy, fancy.world, fancy.budget) == ("uniform", "bernoulli", 20.5)


def test_with_a_folder_nothing_is_computed_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = purse.regrets("exp3.bwk", "misleading_ratio", 30, n_paths=5)
    first = purse.regrets("exp3.bwk", "misleading_ratio", 30, n_paths=5, folder=tmp_path)
    computed = []
    monkeypatch.setattr(
        executors, "play_shard", lambda shard, *args: computed.append(shard.job.name)
    )
    monkeypatch.setattr(
        purse.engine.counterfactual,
        "counterfactual_sums",
        lambda *args, **kwargs: computed.append("shadows"),
    )
    again = purse.regrets("exp3.bwk", "misleading_ratio", 30, n_paths=5, folder=tmp_path)
    assert computed == []
    assert same(first, without)
    assert same(first, again)


@pytest.mark.parametrize(
    "world",
    [
        PLAIN,
        "bernoulli:rewards=[.9],costs=[.8]",
        "table:rewards=[[1,0],[0,1]],costs=[.5,.5],shuffle=True",
    ],
)
def test_what_is_found_again_has_the_same_shapes_and_types(world: str, tmp_path: Path) -> None:
    fresh, found = (
        vars(purse.regrets("uniform", world, 20, n_paths=1, folder=tmp_path).evidence)
        for _ in range(2)
    )
    for name, value in fresh.items():
        assert type(found[name]) is type(value)
        if isinstance(value, np.ndarray):
            assert (found[name].shape, found[name].dtype) == (value.shape, value.dtype)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"n_paths": 4},
        {"stop": "hold"},
        {"budget": 31},
        {"world": "misleading_costs"},
        {"policy": "exp3++.bwk"},
    ],
    ids=str,
)
def test_a_folder_holds_several_measurements_apart(change: dict[str, Any], tmp_path: Path) -> None:
    call: dict[str, Any] = {
        "policy": "uniform",
        "world": "misleading_ratio",
        "budget": 30,
        "n_paths": 5,
        "folder": tmp_path,
    }
    purse.regrets(**call)
    assert same(purse.regrets(**call | change), purse.regrets(**call | change | {"folder": None}))


def interrupt(monkeypatch: pytest.MonkeyPatch, at: int) -> list[str]:
    """Let the piece of work of this number be interrupted; the list grows with what was begun."""
    begun: list[str] = []
    for module, name in (
        (executors, "play_shard"),
        (purse.engine.counterfactual, "counterfactual_sums"),
    ):
        real = getattr(module, name)

        def work(*args: Any, name: str = name, real: Any = real, **kwargs: Any) -> Any:
            begun.append(name)
            if len(begun) == at:
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, work)
    return begun


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_an_interrupted_measurement_continues_where_it_was(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = purse.regrets("uniform", PLAIN, 30, n_paths=5)
    begun = interrupt(monkeypatch, at)
    with pytest.raises(KeyboardInterrupt):
        purse.regrets("uniform", PLAIN, 30, n_paths=5, folder=tmp_path)
    assert not list(tmp_path.rglob(".*"))
    assert same(purse.regrets("uniform", PLAIN, 30, n_paths=5, folder=tmp_path), whole)
    assert sorted(begun) == sorted(
        [*["play_shard"] * 3, "shadows", "shadows" if at == 4 else "play_shard"]
    )


@pytest.mark.parametrize(("start", "length"), [(0.0, 1.0), (0.25, 0.5)])
@pytest.mark.parametrize("kept", [False, True], ids=["made", "found"])
def test_progress_moves_on_with_each_piece_of_work_within_the_part_that_it_was_given(
    start: float, length: float, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kept:
        purse.regrets("uniform", PLAIN, 30, n_paths=5, folder=tmp_path)
    shown, parts = Progress("regret"), []
    shown.part(start, length, "mine")
    real = shown.part

    def part(start: float, length: float, title: str) -> None:
        parts.append((start, length, title))
        real(start, length, title)

    monkeypatch.setattr(shown, "part", part)
    measure(Store(tmp_path), "uniform", PLAIN, 30, n_paths=5, shown=shown)
    # the policy, two arms alone, and what the other arms were worth
    assert [title for _, _, title in parts] == ["mine"] * 4
    assert [at for at, _, _ in parts] == pytest.approx(
        [start + number * length / 4 for number in range(4)]
    )
    assert [size for _, size, _ in parts] == pytest.approx([length / 4] * 4)


class Ran(Exception):
    pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"world": "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]"},
            "has 2 resources; these notions of regret are for one",
        ),
        (
            {"world": bernoulli(rewards=[1], costs=[[1, 1, 1]])},
            "bernoulli has 3 resources; these notions of regret are for one",
        ),
        ({"world": "bernuli"}, "unknown world 'bernuli'; did you mean 'bernoulli'?"),
        ({"world": 3}, "world=3: must be a World"),
        ({"policy": "exp3.bwkk"}, "unknown policy 'exp3.bwkk'; did you mean 'exp3.bwk'?"),
        ({"policy": "oracle", "world": "two_worlds"}, "oracle needs the true mean efficiency"),
        ({"budget": 0}, "budget=0: must be positive"),
        ({"budget": float("nan")}, "budget=nan: must be a number"),
        ({"budget": [10, 20]}, "budget=[10, 20]: must be one positive number"),
        ({"n_paths": 0}, "n_paths=0: must be a whole number from 1 up"),
        ({"n_paths": 2.5}, "n_paths=2.5: must be a whole number"),
        ({"seed": -1}, "seed=-1: must be a whole number"),
        ({"stop": "never"}, "stop='never': must be one of 'exit', 'hold', 'retry'"),
        ({"n_workers": 0}, "n_workers=0: must be a whole number from 1 up"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_bad_input_is_refused_in_one_line_before_anything_runs(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*args: Any) -> None:
        raise Ran

    monkeypatch.setattr(cpu, "simulate", run)
    with pytest.raises(purse.InvalidInput) as caught:
        purse.regrets(**{"policy": "uniform", "world": PLAIN, "budget": 20} | options)
    assert "\n" not in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("n_workers", [0, -1, 1.5, "two", True])
def test_a_bad_number_of_workers_is_refused_before_a_folder_is_made_or_with_nothing_to_do(
    n_workers: Any, tmp_path: Path
) -> None:
    message = f"^n_workers={n_workers!r}: must be a whole number from 1 up$"
    with pytest.raises(purse.InvalidInput, match=message):
        purse.regrets("uniform", PLAIN, 20, n_paths=1, folder=tmp_path / "new", n_workers=n_workers)
    assert not (tmp_path / "new").exists()
    purse.regrets("uniform", PLAIN, 20, n_paths=1, folder=tmp_path)
    with pytest.raises(purse.InvalidInput, match=message):
        purse.regrets("uniform", PLAIN, 20, n_paths=1, folder=tmp_path, n_workers=n_workers)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(purse.PurseError, match="cannot write to folder"):
        purse.regrets("uniform", PLAIN, 20, n_paths=1, folder=tmp_path / "taken")


def test_a_notebook_shows_every_notion_with_what_it_is() -> None:
    found = purse.regrets("uniform", PLAIN, 20, n_paths=4)
    shown = found._repr_html_()
    assert shown.startswith(f"<p>uniform on {PLAIN}: 4 paths, budget 20</p><table>")
    head, *rows = (
        [unescape(cell) for cell in re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", shown)
    )
    assert head == ["regret", "mean", "± 95%", "what it is"]
    assert rows == [
        [name, *mean_and_half(each), first_line(NOTIONS[name])]
        for name, each in found.estimates.items()
    ]
