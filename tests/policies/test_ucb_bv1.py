from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.types import Floats
from tests.support.policies import EXACT, largest_deviation, make_live, tell_all


class Plain:
    """The formula written out, with means kept round by round."""

    def __init__(self, n_arms: int, lam: float) -> None:
        self.lam, self.pulls, self.rewards, self.costs = (
            lam,
            np.zeros(n_arms),
            np.zeros(n_arms),
            np.zeros(n_arms),
        )

    def probabilities(self, t: int) -> Floats:
        n_arms = len(self.pulls)
        if t <= n_arms:
            return np.eye(n_arms)[t - 1]
        index = np.full(n_arms, math.inf)
        for i in range(n_arms):
            eta = math.sqrt(math.log(t - 1) / self.pulls[i]) if self.pulls[i] else math.inf
            if eta < self.lam:
                index[i] = (self.rewards[i] / self.pulls[i]) / (self.costs[i] / self.pulls[i]) + (
                    1 + 1 / self.lam
                ) * eta / (self.lam - eta)
        best = index == index.max()
        return best / best.sum()

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self.costs[arm] += cost


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
    world = worlds.function("two_point")([0.9, 0.6, 0.3], [0.6, 0.4, 0.9], cost_min=0.2)
    live = make_live(world, f"ucb-bv1:lam={lam}")
    assert largest_deviation(live, Plain(3, lam), world, 3000, out=out) < EXACT


def test_c_min_stands_for_lam() -> None:
    world = worlds.function("two_point")([0.9, 0.3], [0.6, 0.4], cost_min=0.2)
    runs = [
        purse.simulate(policy, world, 500, n_paths=3) for policy in ("ucb-bv1", "ucb-bv1:lam=0.2")
    ]
    assert (runs[0].pulls == runs[1].pulls).all()


@pytest.mark.parametrize("lam", [0, -1, 1.5, "x"])
def test_refuses_a_bound_that_is_none(lam: object) -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"^lam=.*: must be a number above 0 and at most 1"
    ):
        purse.Policy(f"ucb-bv1:lam={lam}", n_arms=2, budget=10, cost_min=0.5)


def test_refuses_several_plays() -> None:
    with pytest.raises(purse.InvalidInput, match="ucb-bv1 plays problems with plays=1"):
        purse.Policy("ucb-bv1", n_arms=3, budget=10, cost_min=0.5, plays=2)
