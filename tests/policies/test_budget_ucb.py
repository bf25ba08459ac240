from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import purse
from purse import worlds
from purse.types import Floats
from tests.support.policies import EXACT, index_deviation, index_edges, refuses, scores, tell_all


def plain(lam: float) -> Callable[..., float]:
    def index(t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
        x = math.sqrt(2 * math.log(t - 1) / pulls[i])
        return (
            rewards[i] / costs[i]
            + x / costs[i]
            + x / costs[i] * min(rewards[i] + x, 1) / max(costs[i] - x, lam)
        )

    return index


def test_rounds_by_hand() -> None:
    live = purse.Policy("budget-ucb:lam=0.5", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    # t = 3: x = sqrt(2 ln 2) = 1.17741, so min = 1 and max = lam = 0.5: D = (2 + 2.35482 + 2.35482
    # * 2, 0 + 1.17741 + 1.17741 * 2)
    assert scores(live) == pytest.approx([9.06446, 3.53223], rel=1e-5)
    assert tell_all(live, (0, 1)) == [0]
    # t = 4: x_0 = sqrt(ln 3) = 1.04815, x_0 / c = 1.39753, D_0 = 0.66667 + 1.39753 * 3; x_1 =
    # sqrt(2 ln 3) = 1.48230, D_1 = 1.48230 * 3
    assert scores(live) == pytest.approx([4.85926, 4.44691], rel=1e-5)
    assert tell_all(live, (0, 1)) == [0]
    # t = 5: x_0 = sqrt(2 ln 4 / 3) = 0.96135, D_0 = 0.4 + 1.15362 * 3; x_1 = sqrt(2 ln 4) =
    # 1.66511, D_1 = 1.66511 * 3: the other arm's turn
    assert scores(live) == pytest.approx([3.86085, 4.99533], rel=1e-5)
    assert tell_all(live, (1, 0.5), (0, 1)) == [1, 1]
    # t = 7: both have 3 pulls, 1 in reward, 2.5 in cost: a tie
    assert live.probabilities().tolist() == [0.5, 0.5]


@pytest.mark.parametrize("lam", [0.2, 0.5])
def test_follows_the_formula(lam: float) -> None:
    assert index_deviation(f"budget-ucb:lam={lam}", plain(lam)) < EXACT


def test_is_upper_reward_per_lower_cost_where_nothing_is_cut_off() -> None:
    live = purse.Policy("budget-ucb", n_arms=1, budget=1000, cost_min=0.1)
    for _ in range(100):
        live.tell(live.ask(), 0.5, 0.8)
    x = math.sqrt(2 * math.log(100) / 100)
    assert scores(live) == pytest.approx([(0.5 + x) / (0.8 - x)], rel=1e-12)


def test_c_min_stands_for_lam() -> None:
    world = worlds.function("two_point")([0.9, 0.3], [0.6, 0.4], cost_min=0.2)
    runs = [
        purse.simulate(policy, world, 500, n_paths=3)
        for policy in ("budget-ucb", "budget-ucb:lam=0.2")
    ]
    assert (runs[0].pulls == runs[1].pulls).all()


def test_edges_and_refusals() -> None:
    index_edges("budget-ucb")
    refuses(
        "budget-ucb", "lam=0", "lam=1.5", "lam=x", allowed="must be a number above 0 and at most 1"
    )
