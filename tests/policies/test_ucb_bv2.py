from __future__ import annotations

import math

import pytest

import purse
from purse import worlds
from purse.kernels.index_rules import FIRST
from purse.types import Floats
from tests.support.index_rules import edges
from tests.support.policies import EXACT, index_deviation, scores, tell_all


def plain(t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    lam = min(cost for cost in costs if not math.isnan(cost))
    eta = math.sqrt(math.log(t - 1) / pulls[i])
    return (
        rewards[i] / costs[i] + (1 / lam) * (1 + 1 / (lam - eta)) * eta if eta < lam else math.inf
    )


def test_rounds_by_hand() -> None:
    live = purse.Policy("ucb-bv2", n_arms=2, budget=100, cost_min=0.2, seed=0)
    assert tell_all(live, (1, 1), (0, 1)) == [0, 1]
    # t = 3: lam = 1, eta = sqrt(ln 2 / 1) = 0.83255, D = (1, 0) + (1 + 1 / 0.16745) * 0.83255 = (1,
    # 0) + 5.8047
    assert scores(live) == pytest.approx([6.8047, 5.8047], rel=1e-4)
    assert tell_all(live, (0, 1)) == [0]
    # t = 4: eta_0 = sqrt(ln 3 / 2) = 0.74115, D_0 = 0.5 + (1 + 1 / 0.25885) * 0.74115 = 4.1043;
    # eta_1 = sqrt(ln 3) = 1.0481 >= 1, so D_1 is infinite
    assert scores(live) == pytest.approx([4.1043, FIRST], rel=1e-4)
    assert tell_all(live, (1, 0.5)) == [1]
    # t = 5: lam = min(1, 1.5 / 2) = 0.75, eta = sqrt(ln 4 / 2) = 0.83255 for both: both are
    # infinite, a tie
    assert live.probabilities().tolist() == [0.5, 0.5]
    arms = tell_all(live, (0, 0.6), (1, 0.6), (1, 0.9), (1, 0.9))
    # t = 5 to 8: the infinite indices keep the pulls within one of each other
    assert sorted(arms) == [0, 0, 1, 1]


def test_follows_the_formula() -> None:
    assert index_deviation("ucb-bv2", plain) < EXACT


def test_one_cheap_arm_makes_all_arms_explored_for_long() -> None:
    # lam = 0.1, so every arm gets ln(t) / lam^2 pulls before any index is finite: some 700, where c
    # = 0.8 everywhere needs a few
    for least, low, high in ((0.8, 0, 250), (0.08, 600, math.inf)):
        world = worlds.function("bernoulli")([0.9, 0.1, 0.1], [0.8, 0.8, least])
        pulls = purse.simulate("ucb-bv2", world, 1500, n_paths=5).pulls[:, 1]
        assert ((low < pulls) & (pulls < high)).all()


def test_edges_and_refusals() -> None:
    edges("ucb-bv2", (2,))
