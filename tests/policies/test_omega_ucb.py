from __future__ import annotations

import math
from functools import partial

import pytest

import purse
from purse.types import Floats
from tests.support.index_rules import edges, rounds_by_hand
from tests.support.policies import EXACT, index_deviation, scores


def wilson(n: float, mean: float, z: float, sign: int) -> float:
    hits, misses = n * mean, n - n * mean
    return (hits + z**2 / 2) / (n + z**2) + sign * z / (n + z**2) * math.sqrt(
        hits * misses / n + z**2 / 4
    )


def plain(rho: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    z = math.sqrt(2 * rho * math.log(t))
    return min(1.0, wilson(pulls[i], rewards[i], z, 1)) / wilson(pulls[i], costs[i], z, -1)


def test_rounds_by_hand() -> None:
    rounds_by_hand(
        "omega-ucb",
        # t = 3: z^2 = 2 ln 3 = 2.19722, N + z^2 = 3.19722
        # arm 0: w+ = (1 + 2.19722) / 3.19722 = 1, w- = (0.5 + 1.09861 - sqrt(2.19722 (0.25 +
        # 0.54931))) / 3.19722 = 0.27338 / 3.19722 = 0.08551
        # arm 1: w+ = 2.19722 / 3.19722 = 0.68723, w- = (1 + 1.09861 - 1.09861) / 3.19722 = 0.31277
        [11.695, 2.19722],
        # t = 4: z^2 = 2 ln 4 = 2.77259
        # arm 0: N + z^2 = 4.77259, w+ = (1 + 1.38629 + sqrt(2.77259 (0.5 + 0.69315))) / 4.77259 =
        # 0.88110, w- = (1.5 + 1.38629 - sqrt(2.77259 (0.375 + 0.69315))) / 4.77259 = 0.24418
        # arm 1: D = (2.77259 / 3.77259) / (1 / 3.77259)
        [3.6084, 2.77259],
        # t = 5: z^2 = 2 ln 5 = 3.21888, arm 0: N + z^2 = 6.21888, w+ = (1 + 1.60944 + 2.17410) /
        # 6.21888 = 0.76920, w- = (2.5 + 1.60944 - 1.98389) / 6.21888 = 0.34180; arm 1: D = z^2
        [2.2504, 3.21888],
        rel=1e-4,
    )


@pytest.mark.parametrize("rho", [0.25, 1.0])
def test_follows_the_formula(rho: float) -> None:
    assert index_deviation(f"omega-ucb:rho={rho}", partial(plain, rho)) < EXACT


def test_a_tiny_cost_does_not_cancel() -> None:
    live = purse.Policy("omega-ucb", n_arms=1, budget=10, cost_min=1e-9)
    for _ in range(3):
        live.tell(live.ask(), 1, 1e-9)
    # w+ = 1, and w-(s) = s^2 / N / (s + z^2 / 2 + z sqrt(s (N - s) / N + z^2 / 4)) is s^2 / N / z^2
    # for s = 3e-9, up to 1e-8
    assert scores(live) == pytest.approx([2 * math.log(4) * 3 / 9e-18], rel=1e-7)


def test_edges_and_refusals() -> None:
    edges("omega-ucb", (2.0,), "rho=0", "rho=-1", "rho=x")
