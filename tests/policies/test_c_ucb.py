from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import purse
from purse.policies import c_ucb
from purse.types import Floats, Problem
from tests.support.policies import EXACT, index_deviation, index_edges, refuses, scores, tell_all


def plain(alpha: float) -> Callable[..., float]:
    def index(t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
        return (rewards[i] + alpha * math.sqrt(math.log(t - 1) / pulls[i])) / costs[i]

    return index


def test_rounds_by_hand() -> None:
    live = purse.Policy("c-ucb:alpha=2", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    # t = 3: x = 2 sqrt(ln 2) = 1.66511, D = (2.66511 / 0.5, 1.66511 / 1)
    assert scores(live) == pytest.approx([5.33022, 1.66511], rel=1e-5)
    assert tell_all(live, (0, 1)) == [0]
    # t = 4: D_0 = (0.5 + 2 sqrt(ln 3 / 2)) / 0.75 = 1.98230 / 0.75, D_1 = 2 sqrt(ln 3)
    assert scores(live) == pytest.approx([2.64307, 2.09629], rel=1e-5)
    assert tell_all(live, (0, 1)) == [0]
    # t = 5: D_0 = (0.33333 + 2 sqrt(ln 4 / 3)) / 0.83333 = 1.69289 / 0.83333, D_1 = 2 sqrt(ln 4):
    # the other arm's turn
    assert scores(live) == pytest.approx([2.03146, 2.35482], rel=1e-5)
    assert tell_all(live, (1, 0.5), (0, 1)) == [1, 1]
    # t = 7: both have 3 pulls, 1 in reward, 2.5 in cost: a tie
    assert live.probabilities().tolist() == [0.5, 0.5]


@pytest.mark.parametrize("alpha", [0.125, 1.0])
def test_follows_the_formula(alpha: float) -> None:
    assert index_deviation(f"c-ucb:alpha={alpha}", plain(alpha)) < EXACT


def test_default() -> None:
    assert c_ucb.params(Problem.of(n_arms=2, budget=1, cost_min=0.5)) == (0.125**2,)


def test_edges_and_refusals() -> None:
    index_edges("c-ucb")
    refuses("c-ucb", "alpha=0", "alpha=-1", "alpha=x")
