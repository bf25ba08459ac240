from __future__ import annotations

import math
from functools import partial

import pytest

import purse
from purse.types import Floats
from tests.support.index_rules import edges
from tests.support.knapsack_learners import three_arms
from tests.support.policies import PlainIndex, follows, tell_all
from tests.support.soak import scale


def plain(lam: float, t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    eta = math.sqrt(math.log(t - 1) / pulls[i])
    return rewards[i] / costs[i] + (1 + 1 / lam) * eta / (lam - eta) if eta < lam else math.inf


def test_rounds_by_hand() -> None:
    live = purse.Policy("ucb-bv1:lam=1", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    # t = 3: eta = sqrt(ln 2 / 1) = 0.833 < 1, D = (2, 0) + 2 * 0.833 / 0.167 = (11.95, 9.95)
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (0, 1)) == [0]
    # t = 4: eta_0 = sqrt(ln 3 / 2) = 0.741, D_0 = 1 / 1.5 + 2 * 0.741 / 0.259 = 6.39; eta_1 =
    # sqrt(ln 3) = 1.048 >= 1, so D_1 is infinite
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (1, 0.5)) == [1]
    # t = 5: eta = sqrt(ln 4 / 2) = 0.833 for both, and both have 1 / 1.5: a tie
    assert live.probabilities().tolist() == [0.5, 0.5]


@pytest.mark.parametrize("lam", [0.2, 1.0])
@pytest.mark.parametrize("out", [1, 30])
def test_follows_the_formula(lam: float, out: int) -> None:
    learner = PlainIndex(3, partial(plain, lam))
    follows(f"ucb-bv1:lam={lam}", learner, three_arms(), scale(1000, 3000), out=out)


def test_edges_and_refusals() -> None:
    allowed = "must be a number above 0 and at most 1"
    edges("ucb-bv1", (0.5,), "lam=0", "lam=-1", "lam=1.5", "lam=x", allowed=allowed)
