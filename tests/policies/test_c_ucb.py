from __future__ import annotations

import math
from functools import partial

import pytest

from purse.types import Floats
from tests.support.index_rules import edges, rounds_by_hand
from tests.support.policies import EXACT, index_deviation


def plain(alpha: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    return (rewards[i] + alpha * math.sqrt(math.log(t - 1) / pulls[i])) / costs[i]


def test_rounds_by_hand() -> None:
    rounds_by_hand(
        "c-ucb:alpha=2",
        # t = 3: x = 2 sqrt(ln 2) = 1.66511, D = (2.66511 / 0.5, 1.66511 / 1)
        [5.33022, 1.66511],
        # t = 4: D_0 = (0.5 + 2 sqrt(ln 3 / 2)) / 0.75 = 1.98230 / 0.75, D_1 = 2 sqrt(ln 3)
        [2.64307, 2.09629],
        # t = 5: D_0 = (1 / 3 + 2 sqrt(ln 4 / 3)) / 0.83333 = 1.69289 / 0.83333, D_1 = 2 sqrt(ln 4)
        [2.03146, 2.35482],
        rel=1e-5,
    )


@pytest.mark.parametrize("alpha", [0.125, 1.0])
def test_follows_the_formula(alpha: float) -> None:
    assert index_deviation(f"c-ucb:alpha={alpha}", partial(plain, alpha)) < EXACT


def test_edges_and_refusals() -> None:
    edges("c-ucb", (0.125**2,), "alpha=0", "alpha=-1", "alpha=x")
