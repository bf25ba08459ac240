from __future__ import annotations

import math
from functools import partial

import pytest

from purse.types import Floats
from tests.support.index_rules import edges, rounds_by_hand
from tests.support.policies import EXACT, index_deviation


def plain(alpha: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    return rewards[i] / costs[i] + alpha * math.sqrt(math.log(t - 1) / pulls[i])


def test_rounds_by_hand() -> None:
    rounds_by_hand(
        "i-ucb:alpha=1",
        # t = 3: x = sqrt(ln 2) = 0.83255, D = (1 / 0.5, 0 / 1) + 0.83255
        [2.83255, 0.83255],
        # t = 4: D_0 = 0.5 / 0.75 + sqrt(ln 3 / 2) = 0.66667 + 0.74115, D_1 = sqrt(ln 3)
        [1.40782, 1.04815],
        # t = 5: D_0 = 1 / 2.5 + sqrt(ln 4 / 3) = 0.4 + 0.67978, D_1 = sqrt(ln 4)
        [1.07978, 1.17741],
        rel=1e-5,
    )


@pytest.mark.parametrize("alpha", [0.25, 1.0])
def test_follows_the_formula(alpha: float) -> None:
    assert index_deviation(f"i-ucb:alpha={alpha}", partial(plain, alpha)) < EXACT


def test_edges_and_refusals() -> None:
    edges("i-ucb", (0.25**2,), "alpha=0", "alpha=-1", "alpha=x")
