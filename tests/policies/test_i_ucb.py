from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import purse
from purse.policies import i_ucb
from purse.types import Floats, Problem
from tests.support.policies import EXACT, index_deviation, index_edges, refuses, scores, tell_all


def plain(alpha: float) -> Callable[..., float]:
    def index(t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
        return rewards[i] / costs[i] + alpha * math.sqrt(math.log(t - 1) / pulls[i])

    return index


def test_rounds_by_hand() -> None:
    live = purse.Policy("i-ucb:alpha=1", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    # t = 3: x = sqrt(ln 2) = 0.83255, D = (1 / 0.5, 0 / 1) + 0.83255
    assert scores(live) == pytest.approx([2.83255, 0.83255], rel=1e-5)
    assert tell_all(live, (0, 1)) == [0]
    # t = 4: D_0 = 0.5 / 0.75 + sqrt(ln 3 / 2) = 0.66667 + 0.74115, D_1 = sqrt(ln 3)
    assert scores(live) == pytest.approx([1.40782, 1.04815], rel=1e-5)
    assert tell_all(live, (0, 1)) == [0]
    # t = 5: D_0 = 1 / 2.5 + sqrt(ln 4 / 3) = 0.4 + 0.67978, D_1 = sqrt(ln 4): the other arm's turn
    assert scores(live) == pytest.approx([1.07978, 1.17741], rel=1e-5)
    assert tell_all(live, (1, 0.5), (0, 1)) == [1, 1]
    # t = 7: both have 3 pulls, 1 in reward, 2.5 in cost: a tie
    assert live.probabilities().tolist() == [0.5, 0.5]


@pytest.mark.parametrize("alpha", [0.25, 1.0])
def test_follows_the_formula(alpha: float) -> None:
    assert index_deviation(f"i-ucb:alpha={alpha}", plain(alpha)) < EXACT


def test_default() -> None:
    assert i_ucb.params(Problem.of(n_arms=2, budget=1, cost_min=0.5)) == (0.25**2,)


def test_edges_and_refusals() -> None:
    index_edges("i-ucb")
    refuses("i-ucb", "alpha=0", "alpha=-1", "alpha=x")
