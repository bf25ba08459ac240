from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import purse
from purse.policies import omega_ucb
from purse.types import Floats, Problem
from tests.support.policies import EXACT, index_deviation, index_edges, refuses, scores, tell_all


def wilson(n: float, mean: float, z: float, sign: int) -> float:
    hits, misses = n * mean, n - n * mean
    return (hits + z**2 / 2) / (n + z**2) + sign * z / (n + z**2) * math.sqrt(
        hits * misses / n + z**2 / 4
    )


def plain(rho: float) -> Callable[..., float]:
    def index(t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
        z = math.sqrt(2 * rho * math.log(t))
        return min(1.0, wilson(pulls[i], rewards[i], z, 1)) / wilson(pulls[i], costs[i], z, -1)

    return index


def test_rounds_by_hand() -> None:
    live = purse.Policy("omega-ucb", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    # t = 3: z^2 = 2 ln 3 = 2.19722, N + z^2 = 3.19722
    # arm 0: w+ = (1 + 2.19722) / 3.19722 = 1, w- = (0.5 + 1.09861 - sqrt(2.19722 (0.25 + 0.54931)))
    # / 3.19722 = 0.27338 / 3.19722 = 0.08551
    # arm 1: w+ = 2.19722 / 3.19722 = 0.68723, w- = (1 + 1.09861 - 1.09861) / 3.19722 = 0.31277
    assert scores(live) == pytest.approx([11.695, 2.19722], rel=1e-4)
    assert tell_all(live, (0, 1)) == [0]
    # t = 4: z^2 = 2 ln 4 = 2.77259
    # arm 0: N + z^2 = 4.77259, w+ = (1 + 1.38629 + sqrt(2.77259 (0.5 + 0.69315))) / 4.77259 =
    # 0.88110,
    #               w- = (1.5 + 1.38629 - sqrt(2.77259 (0.375 + 0.69315))) / 4.77259 = 0.24418
    #        arm 1: D = (2.77259 / 3.77259) / (1 / 3.77259)
    assert scores(live) == pytest.approx([3.6084, 2.77259], rel=1e-4)
    assert tell_all(live, (0, 1)) == [0]
    # t = 5: z^2 = 2 ln 5 = 3.21888, arm 0: N + z^2 = 6.21888, w+ = (1 + 1.60944 + 2.17410) /
    # 6.21888 = 0.76920,
    #        w- = (2.5 + 1.60944 - 1.98389) / 6.21888 = 0.34180; arm 1: D = z^2 again: its turn
    assert scores(live) == pytest.approx([2.2504, 3.21888], rel=1e-4)
    assert tell_all(live, (1, 0.5), (0, 1)) == [1, 1]
    # t = 7: both have 3 pulls, 1 in reward, 2.5 in cost: a tie
    assert live.probabilities().tolist() == [0.5, 0.5]


@pytest.mark.parametrize("rho", [0.25, 1.0])
def test_follows_the_formula(rho: float) -> None:
    assert index_deviation(f"omega-ucb:rho={rho}", plain(rho)) < EXACT


def test_a_tiny_cost_does_not_cancel() -> None:
    live = purse.Policy("omega-ucb", n_arms=1, budget=10, cost_min=1e-9)
    for _ in range(3):
        live.tell(live.ask(), 1, 1e-9)
    # w+ = 1, and w-(s) = s^2 / N / (s + z^2 / 2 + z sqrt(s (N - s) / N + z^2 / 4)) is s^2 / N / z^2
    # for s = 3e-9, up to 1e-8
    assert scores(live) == pytest.approx([2 * math.log(4) * 3 / 9e-18], rel=1e-7)


def test_default() -> None:
    assert omega_ucb.params(Problem.of(n_arms=2, budget=1, cost_min=0.5)) == (2.0,)


def test_edges_and_refusals() -> None:
    index_edges("omega-ucb")
    refuses("omega-ucb", "rho=0", "rho=-1", "rho=x")
