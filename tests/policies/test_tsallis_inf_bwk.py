from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import purse
from purse import worlds
from purse.types import Floats, World
from tests.support.policies import (
    EXACT,
    frequency_surprise,
    largest_deviation,
    make_live,
    refuses,
    tell_all,
)


class PlainTsallisBwK:
    """The formula written out, costs as the policy sees them."""

    def __init__(self, n_arms: int, c_min: float, estimator: str = "iw") -> None:
        self.losses, self.c_min, self.reduced = np.zeros(n_arms), c_min, estimator == "rv"

    def eta(self, t: int) -> float:
        return (4 if self.reduced else 2) / math.sqrt(t)

    def probabilities(self, t: int) -> Floats:
        eta, above = self.eta(t), self.losses - self.losses.min()
        ends = 2 / eta * (1 - 1e-12), 2 / eta * math.sqrt(len(above)) * (1 + 1e-12)
        x = brentq(lambda x: (4 / (eta * (above + x)) ** 2).sum() - 1, *ends, xtol=1e-14)
        weights = 4 / (eta * (above + x)) ** 2
        return weights / weights.sum()

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        weights, loss = self.probabilities(t), 1 - self.c_min * reward / cost
        weights[arm] = probability
        base = np.where((weights >= self.eta(t) ** 2) & self.reduced, 0.5, 0.0)
        self.losses += (np.arange(len(weights)) == arm) * (loss - base) / weights + base


def world_of(n_arms: int) -> World:
    return worlds.function("two_point")(
        np.linspace(0.95, 0.1, n_arms), np.linspace(0.25, 0.95, n_arms), cost_min=0.2
    )


def root_gap(live: purse.Policy) -> float:
    """1 / sqrt(w(0)) - 1 / sqrt(w(1)), which is (eta / 2) (L(0) - L(1))."""
    p = live.probabilities()
    assert p.sum() == pytest.approx(1, abs=1e-15)
    return float(1 / math.sqrt(p[0]) - 1 / math.sqrt(p[1]))


def test_three_rounds_by_hand() -> None:
    live = purse.Policy("tsallis-inf.bwk", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert live.probabilities().tolist() == [0.5, 0.5]
    assert tell_all(live, (1, 1)) == [1]
    # t = 2: l = 1 - 0.5 * 1 / 1 = 0.5, L = (0, 0.5 / 0.5), eta / 2 = 1 / sqrt 2, w = (0.719, 0.281)
    assert root_gap(live) == pytest.approx(-1 / math.sqrt(2), abs=1e-14)
    p = live.probabilities()
    assert p == pytest.approx([0.719, 0.281], abs=1e-3)
    assert tell_all(live, (0.6, 0.75)) == [0]
    # t = 3: l = 1 - 0.5 * 0.6 / 0.75 = 0.6, L = (0.6 / 0.719, 1) = (0.835, 1)
    loss = 0.6 / p[0]
    assert root_gap(live) == pytest.approx((loss - 1) / math.sqrt(3), abs=1e-14)
    assert tell_all(live, (1, 0.5)) == [0]
    # t = 4: reward 1 at the least cost is no loss; only the rate falls
    assert root_gap(live) == pytest.approx((loss - 1) / 2, abs=1e-14)


@pytest.mark.parametrize("estimator", ["iw", "rv"])
@pytest.mark.parametrize(("n_arms", "out"), [(3, 1), (4, 40), (10, 1)])
def test_follows_the_formula(estimator: str, n_arms: int, out: int) -> None:
    live = make_live(world_of(n_arms), f"tsallis-inf.bwk:estimator={estimator}")
    assert (
        largest_deviation(
            live, PlainTsallisBwK(n_arms, 0.2, estimator), world_of(n_arms), 3000, out=out
        )
        < EXACT
    )


def test_follows_the_formula_with_costs_above_one() -> None:
    world = worlds.function("two_point")([0.9, 0.5, 0.2], [3, 2, 1.5], cost_min=1, cost_max=5)
    assert (
        largest_deviation(make_live(world, "tsallis-inf.bwk"), PlainTsallisBwK(3, 0.2), world, 3000)
        < EXACT
    )


def test_is_tsallis_inf_where_every_pull_costs_the_same() -> None:
    world = worlds.function("bernoulli")([0.8, 0.5, 0.3], [0.5, 0.5, 0.5])
    runs = [
        purse.simulate(policy, world, 500, n_paths=3)
        for policy in ("tsallis-inf.bwk", "tsallis-inf")
    ]
    assert (runs[0].pulls == runs[1].pulls).all()


def test_finds_the_efficient_arm_that_rewards_alone_hide() -> None:
    world = worlds.function("bernoulli")([0.6, 0.4], [0.9, 0.3])
    run = purse.simulate("tsallis-inf.bwk", world, 3000, n_paths=20)
    assert (run.pulls[:, 1] > 5 * run.pulls[:, 0]).all()
    blind = purse.simulate("tsallis-inf", world, 3000, n_paths=20)
    assert (blind.pulls[:, 0] > blind.pulls[:, 1]).all()


def test_arms_come_as_often_as_their_probabilities_say() -> None:
    assert frequency_surprise(make_live(world_of(5), "tsallis-inf.bwk"), world_of(5), 4000) < 4


def test_one_arm() -> None:
    live = purse.Policy("tsallis-inf.bwk", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5)) == [0, 0, 0]
    assert live.probabilities().tolist() == [1.0]


def test_refusals() -> None:
    refuses("tsallis-inf.bwk", "estimator=x", "estimator=1", allowed="must be one of 'iw', 'rv'")
