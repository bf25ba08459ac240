from __future__ import annotations

import math
from functools import partial

import pytest

import purse
from purse.types import Floats
from tests.support.index_rules import edges, rounds_by_hand
from tests.support.policies import EXACT, index_deviation, scores


def plain(lam: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    x = math.sqrt(2 * math.log(t - 1) / pulls[i])
    more = min(rewards[i] + x, 1) / max(costs[i] - x, lam)
    return (rewards[i] + x + x * more) / costs[i]


def test_rounds_by_hand() -> None:
    rounds_by_hand(
        "budget-ucb:lam=0.5",
        # t = 3: x = sqrt(2 ln 2) = 1.17741, so min = 1 and max = lam = 0.5: D = (2 + 2.35482 +
        # 2.35482 * 2, 0 + 1.17741 + 1.17741 * 2)
        [9.06446, 3.53223],
        # t = 4: x_0 = sqrt(ln 3) = 1.04815, x_0 / c = 1.39753, D_0 = 0.66667 + 1.39753 * 3; x_1 =
        # sqrt(2 ln 3) = 1.48230, D_1 = 1.48230 * 3
        [4.85926, 4.44691],
        # t = 5: x_0 = sqrt(2 ln 4 / 3) = 0.96135, D_0 = 0.4 + 1.15362 * 3; x_1 = sqrt(2 ln 4) =
        # 1.66511, D_1 = 1.66511 * 3
        [3.86085, 4.99533],
        rel=1e-5,
    )


@pytest.mark.parametrize("lam", [0.2, 0.5])
def test_follows_the_formula(lam: float) -> None:
    assert index_deviation(f"budget-ucb:lam={lam}", partial(plain, lam)) < EXACT


def test_is_upper_reward_per_lower_cost_where_nothing_is_cut_off() -> None:
    live = purse.Policy("budget-ucb", n_arms=1, budget=1000, cost_min=0.1)
    for _ in range(100):
        live.tell(live.ask(), 0.5, 0.8)
    x = math.sqrt(2 * math.log(100) / 100)
    assert scores(live) == pytest.approx([(0.5 + x) / (0.8 - x)], rel=1e-12)


def test_edges_and_refusals() -> None:
    allowed = "must be a number above 0 and at most 1"
    edges("budget-ucb", (0.5,), "lam=0", "lam=1.5", "lam=x", allowed=allowed)
