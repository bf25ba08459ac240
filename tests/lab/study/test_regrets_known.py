from __future__ import annotations

import math
import re
from dataclasses import replace
from html import unescape

import pytest

import purse
from purse.base.text import first_paragraph, split_mean
from purse.lab.theory.notions import NOTIONS
from purse.types import World
from purse.worlds import bernoulli, make, table, two_point

PLAIN = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
MEANS = {"best_efficiency", "pseudo_regret", "paper_pseudo_regret"}
BENCHMARKS = {"greedy", "knapsack", "optimum"}


def test_on_constant_arms_the_sums_of_efficiencies_cry_wolf_and_line_1_sleeps() -> None:
    found = purse.lab.regrets(
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
    found = purse.lab.regrets("exp3.bwk", "same_costs", 1e4, n_paths=10)
    assert found["line_1"].mean / 1e4 == pytest.approx(1.99, abs=0.015)
    assert found["best_fixed_arm"].mean / 1e4 == pytest.approx(0.394, abs=0.015)
    assert found["round_gap"].mean == found["round_gap"].error == 0
    assert found["efficiency_sums"].mean == pytest.approx(found["own_rounds"].mean)


def test_where_all_costs_are_one_constant_the_notions_agree() -> None:
    found = purse.lab.regrets(
        "uniform", "bernoulli:rewards=[.9,.5,.2],costs=[.25,.25,.25]", 200, n_paths=12, seed=1
    )
    regret = found["best_fixed_arm"]
    assert regret.mean > 0
    for notion in ("paper_arm", "line_1", "line_2"):
        assert found[notion] == pytest.approx(regret)
    for notion in ("efficiency_sums", "own_rounds"):
        assert found[notion] == pytest.approx([number / 0.25 for number in regret])
    assert found["round_gap"].mean == found["leftover"].mean == 0


def test_a_policy_that_is_the_best_arm_has_no_regret() -> None:
    found = purse.lab.regrets("fixed:arm=1", PLAIN, 60, n_paths=6)
    # the clock of budget counts the pull that is refused, too
    some = {"line_1", "best_efficiency", "own_clock", *BENCHMARKS}
    assert {name for name, each in found.estimates.items() if each[:2] != (0, 0)} <= some
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
    found = purse.lab.regrets("fixed:arm=0", world, budget, n_paths=3, stop=stop)
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
        (two_point(rewards=[0.9, 0.6], costs=[0.5, 0.5], cost_min=0.2), 0.5, "exit"),
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


# benchmarks that know the world


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
    found = purse.lab.regrets("uniform", world, budget, n_paths=2)
    assert set(found.estimates) & BENCHMARKS == there
    assert {name for name in BENCHMARKS if getattr(found.evidence, name) is not None} == there


@pytest.mark.parametrize("n_rounds", [1, 2])
def test_a_table_of_one_row_has_no_means_either_and_one_does_not_lose_what_it_cannot_pay(
    n_rounds: int,
) -> None:
    found = purse.lab.regrets(
        "fixed:arm=0", table(rewards=[[1, 0.5]] * n_rounds, costs=[0.5, 0.5]), 20, n_paths=2
    )
    assert not (MEANS | {"greedy", "knapsack"}) & set(found.estimates)
    assert found.evidence.reward_means is found.evidence.cost_means is None
    assert found["optimum"].mean == found["best_fixed_arm"].mean == 0
    assert found["leftover"].mean == 20 - 0.5 * n_rounds


def test_a_world_with_a_horizon_has_the_optimum_of_who_may_wait_and_no_knapsack() -> None:
    world = replace(table(rewards=[[0.25, 0], [0.5, 1], [1, 0]], costs=[1, 1]), horizon=3)
    found = purse.lab.regrets("fixed:arm=0", world, 1, n_paths=2)
    assert set(found.estimates) & BENCHMARKS == {"optimum"}
    assert found.evidence.optimum == 1
    assert found["optimum"].mean == 0.75


def test_nobody_is_expected_to_beat_the_optimum() -> None:
    found = purse.lab.regrets("oracle", "misleading_ratio", 30.4, n_paths=200)
    assert found["optimum"].high > 0
    assert found["optimum"].mean < found["best_efficiency"].mean


# what is printed


def test_one_path_has_means_and_no_intervals() -> None:
    found = purse.lab.regrets("uniform", PLAIN, 20, n_paths=1)
    for each in found.estimates.values():
        assert math.isfinite(each.mean)
        assert all(map(math.isnan, each[1:]))
    assert "±" not in str(found)
    assert "nan" not in str(found)
    assert str(found).startswith(f"uniform on {PLAIN}: 1 path, budget 20\n")
    many = str(purse.lab.regrets("uniform", PLAIN, 1, n_paths=1000))
    assert many.splitlines()[0].endswith(": 1,000 paths, budget 1")


def test_notions_keep_their_order_and_those_without_a_number_are_left_out() -> None:
    for world, without in ((PLAIN, set()), ("two_worlds", MEANS | {"greedy", "knapsack"})):
        found = purse.lab.regrets("uniform", world, 20, n_paths=2)
        assert list(found.estimates) == [name for name in NOTIONS if name not in without]


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
            "own_clock, own_rounds, paper_arm, round_gap",
        ),
    ],
)
def test_a_notion_that_is_not_there_is_refused_with_the_nearest_that_is(
    notion: str, hint: str
) -> None:
    found = purse.lab.regrets("uniform", "two_worlds", 20, n_paths=2)
    with pytest.raises(purse.InvalidInput) as caught:
        found[notion]
    assert str(caught.value) == f"unknown notion of regret on this world {notion!r}; {hint}"


@pytest.mark.parametrize("world", [PLAIN, "same_costs"])
def test_it_prints_every_notion_with_what_it_is(world: str) -> None:
    found = purse.lab.regrets("fixed:arm=1", world, 20, n_paths=4)
    head, *lines = str(found).splitlines()
    assert head == f"fixed:arm=1 on {world}: 4 paths, budget 20"
    assert [line.split()[0] for line in lines] == list(found.estimates)
    for name, line in zip(found.estimates, lines, strict=True):
        assert line.count("±") == 1
        assert line.endswith(first_paragraph(NOTIONS[name].__doc__))
    assert len({line.index("±") for line in lines}) == 1
    for name in MEANS:
        assert (name in str(found)) == (world == PLAIN)


def test_a_notebook_shows_every_notion_with_what_it_is() -> None:
    found = purse.lab.regrets("uniform", PLAIN, 20, n_paths=4)
    shown = found._repr_html_()
    assert shown.startswith(f"<p>uniform on {PLAIN}: 4 paths, budget 20</p><table>")
    head, *rows = (
        [unescape(cell) for cell in re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", shown)
    )
    assert head == ["regret", "mean", "± 95%", "what it is"]
    assert rows == [
        [name, *split_mean(each.mean, each.high), first_paragraph(NOTIONS[name].__doc__)]
        for name, each in found.estimates.items()
    ]
