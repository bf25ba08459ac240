from __future__ import annotations

import math
from functools import partial

import pytest

import purse
from purse.kernels.index_rules import FIRST
from purse.types import Floats
from tests.support.index_rules import edges, rounds_by_hand
from tests.support.policies import EXACT, index_deviation, scores, tell_all


def plain(alpha: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    x = alpha * math.sqrt(math.log(t - 1) / pulls[i])
    return min(rewards[i] + x, 1) / (costs[i] - x) if x < costs[i] else math.inf


def test_rounds_by_hand() -> None:
    rounds_by_hand(
        "m-ucb:alpha=0.5",
        # t = 3: x = 0.5 sqrt(ln 2) = 0.41628, D = (min(1.41628, 1) / 0.08372, 0.41628 / 0.58372)
        [11.9442, 0.71314],
        # t = 4: x_0 = 0.5 sqrt(ln 3 / 2) = 0.37058, D_0 = 0.87058 / 0.37942; x_1 = 0.5 sqrt(ln 3) =
        # 0.52407, D_1 = 0.52407 / 0.47593
        [2.29448, 1.10116],
        # t = 5: x_0 = 0.5 sqrt(ln 4 / 3) = 0.33989, D_0 = 0.67322 / 0.49344; x_1 = 0.5 sqrt(ln 4) =
        # 0.58871, D_1 = 0.58871 / 0.41129
        [1.36433, 1.43135],
        rel=1e-4,
    )


def test_an_arm_that_may_cost_nothing_comes_first() -> None:
    live = purse.Policy("m-ucb:alpha=1", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert tell_all(live, (1, 1), (0, 0.5)) == [0, 1]
    # t = 3: x = sqrt(ln 2) = 0.83255, D_0 = 1 / 0.16745, and 0.5 < x
    assert scores(live) == pytest.approx([5.97201, FIRST], rel=1e-4)
    assert live.probabilities().tolist() == [0, 1]


@pytest.mark.parametrize("alpha", [0.0625, 0.25, 1.0])
def test_follows_the_formula(alpha: float) -> None:
    assert index_deviation(f"m-ucb:alpha={alpha}", partial(plain, alpha)) < EXACT


def test_edges_and_refusals() -> None:
    edges("m-ucb", (0.25**2,), "alpha=0", "alpha=-1", "alpha=x")
