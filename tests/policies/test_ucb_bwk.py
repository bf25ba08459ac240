from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.lab.theory.fluid import lp_optimum
from purse.policies import ucb_bwk
from purse.testing import check_policy
from purse.types import SKIP, Floats, Problem
from tests.support.knapsack_learners import follow, four_arms
from tests.support.policies import make_live
from tests.support.soak import scale


def plain_mixture(limit: float, costs: list[float], rewards: list[float]) -> Floats:
    """The best of all single points and pairs of points; nothing is a point too. Arms at a point
    share it; of equally good points the cheapest.
    """
    points = sorted({(0.0, 0.0), *zip(costs, rewards, strict=True)})
    best, value = {(0.0, 0.0): 1.0}, 0.0
    for a, b in product(points, points):
        if a[0] > limit or (a != b and b[0] <= limit):
            continue
        weight = 0.0 if a == b else (limit - a[0]) / (b[0] - a[0])
        if (1 - weight) * a[1] + weight * b[1] > value + 1e-13:
            best, value = {b: weight, a: 1 - weight}, (1 - weight) * a[1] + weight * b[1]
    here = [(cost, reward) for cost, reward in zip(costs, rewards, strict=True)]
    return np.array([best.get(point, 0.0) / here.count(point) for point in here])


class Plain:
    """The formula written out; the linear program is solved anew in every round."""

    def __init__(self, n_arms: int, c_rad: float, pace: float, skips: bool) -> None:
        self.c_rad, self.pace, self.skips = c_rad, pace, skips
        self.reports: list[list[tuple[float, float]]] = [[] for _ in range(n_arms)]
        self.solve()

    def rad(self, mean: float, n: int) -> float:
        return math.sqrt(self.c_rad * mean / n) + self.c_rad / n

    def solve(self) -> None:
        upper, lower = [1.0] * len(self.reports), [0.0] * len(self.reports)
        for i, reports in enumerate(self.reports):
            if n := len(reports):
                reward, cost = (sum(each) / n for each in zip(*reports, strict=True))
                upper[i] = min(1.0, reward + 2 * self.rad(reward, n + 1))
                lower[i] = max(0.0, cost - 2 * self.rad(cost, n + 1))
        self.shares = plain_mixture(self.pace, lower, upper)
        total = self.shares.sum()
        self.p = (
            np.append(self.shares, 1 - total) if self.skips else np.append(self.shares / total, 0)
        )

    def gap(self, live: purse.Policy) -> float:
        return float(np.abs(live.state.shares - self.shares).max())

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Any) -> None:
        self.reports[arm].append((reward, cost))
        self.solve()


def two_arms(seed: int, **more: object) -> purse.Policy:
    return purse.Policy(
        "ucb-bwk:c_rad=0.02", n_arms=2, budget=40, cost_min=0.1, seed=seed, stop="exit", **more
    )


def test_nothing_is_done_with_the_rest() -> None:
    live = purse.Policy("ucb-bwk:c_rad=0.02", n_arms=1, budget=39, cost_min=0.1, horizon=100)
    live.tell(live.ask(), 1, 1)
    # l = 0.78, twice the pace of 0.39
    assert live.state.shares == pytest.approx([0.5])
    seen = {
        (ticket.arm, round(ticket.probability, 12)) for ticket in (live.ask() for _ in range(30))
    }
    assert seen == {(0, 0.5), (SKIP, 0.5)}


def test_without_a_horizon_it_is_the_largest_ratio_of_bounds() -> None:
    live = two_arms(7)
    live.tell(live.ask(), 0.25, 0.25)
    live.tell(live.ask(), 1, 1)
    # T = 40 / 0.1 = 400, so the pace is 0.1: 0.37 / 0.13 is more than 1 / 0.78, and arm 0 has x =
    # 0.1 / 0.13
    assert live.state.shares == pytest.approx([0.1 / 0.13, 0])
    assert {(ticket.arm, ticket.probability) for ticket in (live.ask() for _ in range(10))} == {
        (0, 1.0)
    }


@pytest.mark.parametrize(("out", "horizon"), [(30, 30_000), (1, None)])
def test_follows_the_formula(out: int, horizon: int | None) -> None:
    budget, pace = (9000, 0.3) if horizon else (6000, 0.2)
    live = make_live(four_arms(), "ucb-bwk:c_rad=0.05", budget=budget, horizon=horizon)
    plain = Plain(4, 0.05, pace, horizon is not None)
    follow(live, plain, four_arms(), scale(500, 2000), out=out)


def test_the_default_radius() -> None:
    problem = {"n_arms": 3, "budget": 50, "cost_min": 0.5}
    assert ucb_bwk.params(Problem.of(**problem, horizon=200)) == (math.log(3 * 200), 0.25, True)
    assert ucb_bwk.params(Problem.of(**problem)) == (math.log(3 * 100), 0.5, False)


def test_eps_as_theory_has_it() -> None:
    share = 2 * 3 / 1000
    eps = math.sqrt(share) + share * math.log(4000)
    problem = Problem.of(n_arms=3, budget=1000, cost_min=0.5, horizon=4000)
    known = ucb_bwk.params(problem, eps="theory", c_rad=2)
    assert known.pace == pytest.approx((1 - eps) / 4)
    assert ucb_bwk.params(problem, eps=0.2).pace == pytest.approx(0.2)


def test_mixes_models_nearly_as_well_as_one_who_knows_them() -> None:
    world = worlds.function("routing")([0.55, 0.75, 0.9], [0.02, 0.1, 0.6], prompts=20_000)
    run = purse.simulate("ucb-bwk:c_rad=0.1", world, 4000, n_paths=10)
    assert 0.95 < run.gain.mean() / lp_optimum(world, 4000).value < 1


@pytest.mark.parametrize("horizon", [150, 20])
def test_passes_the_checks_with_a_horizon(horizon: int) -> None:
    check_policy("ucb-bwk:c_rad=0.05,eps=0.1", horizon=horizon, quick=True)


def test_plays_where_a_pull_may_cost_nothing() -> None:
    world = worlds.function("pricing")([2, 4, 6], [0.8, 0.6, 0.4], customers=2000)
    assert (purse.simulate("ucb-bwk:c_rad=0.2", world, 600, n_paths=5).spent > 500).all()


def test_all_reports_missing_leaves_all_arms_equal() -> None:
    live = purse.Policy("ucb-bwk", n_arms=4, budget=100, cost_min=0.5, horizon=100)
    assert {live.ask().probability for _ in range(40)} == {0.25}
