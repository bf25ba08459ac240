from __future__ import annotations

import math
from functools import partial

import pytest

import purse
from purse.types import Floats
from tests.support.index_rules import edges, rounds_by_hand
from tests.support.knapsack_learners import three_arms
from tests.support.policies import EXACT, index_deviation


def plain(kappa: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    x = math.sqrt(kappa * math.log(t - 1) / pulls[i])
    low = max(0.0, costs[i] - x)
    return min(1.0, rewards[i] + x) / low if low else math.inf


def test_rounds_by_hand() -> None:
    rounds_by_hand(
        "mrcb:kappa=0.25",
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


@pytest.mark.parametrize("kappa", [2e-4, 0.25])
def test_follows_the_formula(kappa: float) -> None:
    assert index_deviation(f"mrcb:kappa={kappa}", partial(plain, kappa)) < EXACT


def test_is_m_ucb_by_another_scale() -> None:
    runs = [
        purse.simulate(policy, three_arms(), 500, n_paths=5)
        for policy in ("mrcb:kappa=0.0625", "m-ucb:alpha=0.25")
    ]
    assert (runs[0].pulls == runs[1].pulls).all()


def test_edges_and_refusals() -> None:
    edges("mrcb", (2e-4,), "kappa=0", "kappa=-1", "kappa=x")
