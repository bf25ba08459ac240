from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import purse
from purse import worlds
from purse.policies import mrcb
from purse.types import Floats, Problem
from tests.support.policies import EXACT, index_deviation, index_edges, refuses, scores, tell_all


def plain(kappa: float) -> Callable[..., float]:
    def index(t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
        x = math.sqrt(kappa * math.log(t - 1) / pulls[i])
        low = max(0.0, costs[i] - x)
        return min(1.0, rewards[i] + x) / low if low else math.inf

    return index


def test_rounds_by_hand() -> None:
    live = purse.Policy("mrcb:kappa=0.25", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    # t = 3: x = 0.5 sqrt(ln 2) = 0.41628, D = (min(1.41628, 1) / 0.08372, 0.41628 / 0.58372)
    assert scores(live) == pytest.approx([11.9442, 0.71314], rel=1e-4)
    assert tell_all(live, (0, 1)) == [0]
    # t = 4: x_0 = 0.5 sqrt(ln 3 / 2) = 0.37058, D_0 = 0.87058 / 0.37942; x_1 = 0.5 sqrt(ln 3) =
    # 0.52407, D_1 = 0.52407 / 0.47593
    assert scores(live) == pytest.approx([2.29448, 1.10116], rel=1e-4)
    assert tell_all(live, (0, 1)) == [0]
    # t = 5: x_0 = 0.5 sqrt(ln 4 / 3) = 0.33989, D_0 = 0.67322 / 0.49344; x_1 = 0.5 sqrt(ln 4) =
    # 0.58871, D_1 = 0.58871 / 0.41129
    assert scores(live) == pytest.approx([1.36433, 1.43135], rel=1e-4)
    assert tell_all(live, (1, 0.5), (0, 1)) == [1, 1]
    # t = 7: both have 3 pulls, 1 in reward, 2.5 in cost: a tie
    assert live.probabilities().tolist() == [0.5, 0.5]


@pytest.mark.parametrize("kappa", [2e-4, 0.25])
def test_follows_the_formula(kappa: float) -> None:
    assert index_deviation(f"mrcb:kappa={kappa}", plain(kappa)) < EXACT


def test_is_m_ucb_by_another_scale() -> None:
    world = worlds.function("two_point")([0.9, 0.6, 0.3], [0.6, 0.4, 0.9], cost_min=0.2)
    runs = [
        purse.simulate(policy, world, 500, n_paths=5)
        for policy in ("mrcb:kappa=0.0625", "m-ucb:alpha=0.25")
    ]
    assert (runs[0].pulls == runs[1].pulls).all()


def test_default() -> None:
    assert mrcb.params(Problem.of(n_arms=2, budget=1, cost_min=0.5)) == (2e-4,)


def test_edges_and_refusals() -> None:
    index_edges("mrcb")
    refuses("mrcb", "kappa=0", "kappa=-1", "kappa=x")
