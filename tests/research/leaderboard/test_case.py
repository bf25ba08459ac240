from __future__ import annotations

import numpy as np
import pytest

import purse
from purse import worlds
from research.leaderboard import case as cases
from research.leaderboard.case import Case

WORLD = "atoms:probabilities=[[.5,.5],[1,0]],rewards=[[1,0],[1,1]],costs=[[.3,.6],[.9,.9]]"
FIXED = "bernoulli:rewards=[.9,.5],costs=[.9,.3]"


@pytest.mark.parametrize(
    ("bounds", "least", "most"),
    [
        ("own", [0.3, 0.9], [0.6, 0.9]),
        ("common", [0.3, 0.3], [0.9, 0.9]),
        ("wide", [0.1, 0.3], [1.8, 2.7]),
    ],
)
def test_the_bounds_that_players_are_told(
    bounds: str, least: list[float], most: list[float]
) -> None:
    case = Case("c", "s", WORLD, 10, bounds=bounds)
    (world,) = cases.worlds_of(case)
    problem = cases.make_case_job("uniform", case, world, seed=0).problem
    assert problem.cost_min.ravel().tolist() == [round(1e9 * cost) for cost in least]
    assert problem.cost_max.ravel().tolist() == [round(1e9 * cost) for cost in most]


def test_several_resources_have_a_common_bound_each() -> None:
    world = worlds.ad_slots(clicks=[0.1, 0.2], values=[1, 1], prices=[0.5, 0.1], views=10)
    least, most = cases.declared_bounds(Case("c", "s", "", (5, 10), bounds="common"), world)
    assert (least.tolist(), most.tolist()) == ([[0, 1]] * 2, [[0.5, 1]] * 2)


def test_constant_costs_are_told_with_the_arms_own_bounds_only() -> None:
    case = Case("c", "s", FIXED, 10)
    (world,) = cases.worlds_of(case)
    assert cases.make_case_job("kube", case, world, seed=0).problem.costs is not None
    with pytest.raises(purse.InvalidInput, match="needs to know what each arm costs"):
        cases.make_case_job("kube", case._replace(bounds="wide"), world, seed=0)
    with pytest.raises(purse.InvalidInput, match="bounds='any': must be one of 'own'"):
        cases.make_case_job("kube", case._replace(bounds="any"), world, seed=0)


def test_stop_rule_horizon_and_delay_reach_the_game() -> None:
    case = Case("c", "s", FIXED, 10, horizon=7, stop="hold", delay=3)
    (world,) = cases.worlds_of(case)
    job = cases.make_case_job("uniform", case, world, seed=5)
    assert (job.problem.stop, job.problem.horizon, job.game.seed) == ("hold", 7, 5)
    assert job.delay.mean == 3


def test_arms_alone_have_own_bounds_and_no_other_rule() -> None:
    case = Case("c", "s", FIXED, 10, bounds="wide", stop="retry", delay=2)
    (world,) = cases.worlds_of(case)
    jobs = cases.make_alone_jobs(case, world, seed=0)
    assert [job.name for job in jobs] == ["fixed:arm=0", "fixed:arm=1"]
    for job in jobs:
        assert job.problem.stop == "exit"
        assert (job.problem.cost_max == world.cost_max).all()
        assert job.delay.mean == 0


def test_the_cheapest_arm_is_that_of_the_smallest_part_of_a_budget() -> None:
    case = Case("c", "s", FIXED, 10)
    (world,) = cases.worlds_of(case)
    assert cases.find_cheapest(case, world, np.array([1.0, 0.5])) == 1
    same = worlds.bernoulli(rewards=[0.1, 0.9, 0.5], costs=[0.5, 0.5, 0.6])
    assert cases.find_cheapest(case, same, np.array([0.2, 0.9, 1.0])) == 1
    # of 1 the first arm takes half, of 100 the second takes a tenth
    two = worlds.bernoulli(rewards=[0.5, 0.5], costs=[[0.5, 1], [0.1, 10]])
    many = case._replace(budget=(1.0, 100.0))
    assert cases.find_cheapest(many, two, np.array([1.0, 0.5])) == 1
    changing = worlds.switching(
        segments=5, rewards=[[1, 1], [0, 1]], costs=[[0.2, 0.4], [0.8, 0.4]]
    )
    assert cases.find_cheapest(case, changing, np.array([1.0, 0.5])) == 1
