from __future__ import annotations

import math

import pytest

import purse
from purse.kernels.index_rules import FIRST
from purse.types import Floats
from tests.support.index_rules import edges, rounds_by_hand
from tests.support.policies import EXACT, index_deviation, scores


def plain(t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    a = math.log(t) / (2 * pulls[i])
    if costs[i] <= math.sqrt(a):
        return math.inf
    b = math.sqrt(a / (rewards[i] ** 2 + costs[i] ** 2 - a))
    return (rewards[i] + b * costs[i]) / (costs[i] - b * rewards[i])


def test_rounds_by_hand() -> None:
    rounds_by_hand(
        "ucb-sc",
        # t = 3: a = ln 3 / 2 = 0.54931: sqrt(a) = 0.74115 > 0.5, so D_0 is infinite; D_1 = b =
        # sqrt(0.54931 / 0.45069)
        [FIRST, 1.10400],
        # t = 4: a_0 = ln 4 / 4 = 0.34657, b_0 = sqrt(0.34657 / (0.25 + 0.5625 - 0.34657)) =
        # 0.86230, D_0 = (0.5 + 0.64673) / (0.75 - 0.43115);
        #        a_1 = ln 4 / 2 = 0.69315, D_1 = sqrt(0.69315 / 0.30685)
        [3.5977, 1.50297],
        # t = 5: a_0 = ln 5 / 6 = 0.26824, b_0 = sqrt(0.26824 / (0.11111 + 0.69444 - 0.26824)) =
        # 0.70657, D_0 = (0.33333 + 0.58881) / (0.83333 - 0.23552);
        #        a_1 = ln 5 / 2 = 0.80472, D_1 = sqrt(0.80472 / 0.19528)
        [1.54253, 2.03],
        rel=1e-4,
    )


def test_follows_the_formula() -> None:
    assert index_deviation("ucb-sc", plain) < EXACT


def test_is_the_largest_ratio_on_a_disc() -> None:
    live = purse.Policy("ucb-sc", n_arms=1, budget=1000, cost_min=0.1)
    for _ in range(100):
        live.tell(live.ask(), 0.5, 0.8)
    radius = math.sqrt(math.log(101) / 200)
    angles = [2 * math.pi * k / 100_000 for k in range(100_000)]
    largest = max(
        (0.5 + radius * math.sin(angle)) / (0.8 + radius * math.cos(angle)) for angle in angles
    )
    assert scores(live) == pytest.approx([largest], rel=1e-8)


def test_edges_and_refusals() -> None:
    edges("ucb-sc", (2,))
