from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import purse
from purse import worlds
from purse.types import Floats, World
from tests.support.policies import EXACT, frequency_surprise, largest_deviation, make_live, tell_all


def plain_weights(eta: float, losses: Floats) -> Floats:
    """The normaliser by bisection and secants, between where one arm alone weighs 1 and where all
    that weigh as much as the best sum to 1.
    """
    low = losses.min()
    x = brentq(
        lambda x: (4 / (eta * (losses - low + x)) ** 2).sum() - 1,
        2 / eta * (1 - 1e-12),
        2 / eta * math.sqrt(len(losses)) * (1 + 1e-12),
        xtol=1e-14,
    )
    weights = 4 / (eta * (losses - low + x)) ** 2
    return weights / weights.sum()


class PlainTsallis:
    """The formula written out."""

    def __init__(self, n_arms: int, estimator: str) -> None:
        self.losses, self.estimator, self.below = np.zeros(n_arms), estimator, 0

    def eta(self, t: int) -> float:
        return {"iw": 2, "rv": 4}[self.estimator] / math.sqrt(t)

    def probabilities(self, t: int) -> Floats:
        return plain_weights(self.eta(t), self.losses)

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.learn_loss(t, arm, probability, 1 - reward)

    def learn_loss(self, t: int, arm: int, probability: float, loss: float) -> None:
        weights = self.probabilities(t)
        weights[arm] = probability
        base = np.where((weights >= self.eta(t) ** 2) & (self.estimator == "rv"), 0.5, 0.0)
        self.below += int((base == 0).sum())
        drawn = np.arange(len(weights)) == arm
        self.losses += drawn * (loss - base) / weights + base


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
    live = purse.Policy("tsallis-inf", n_arms=2, budget=100, cost_min=0.5, seed=0)
    assert live.probabilities().tolist() == [0.5, 0.5]
    assert tell_all(live, (0.2, 1)) == [1]
    # t = 2: L = (0, 0.8 / 0.5), eta / 2 = 1 / sqrt 2, so the roots differ by 1.6 / sqrt 2 = 1.131,
    # and w = (0.802, 0.198)
    assert root_gap(live) == pytest.approx(-1.6 / math.sqrt(2), abs=1e-14)
    p = live.probabilities()
    assert p == pytest.approx([0.802, 0.198], abs=1e-3)
    assert tell_all(live, (0.5, 0.5)) == [0]
    # t = 3: L = (0.5 / 0.802, 1.6) = (0.623, 1.6), eta / 2 = 1 / sqrt 3: the roots differ by 0.564
    loss = 0.5 / p[0]
    assert root_gap(live) == pytest.approx((loss - 1.6) / math.sqrt(3), abs=1e-14)
    p = live.probabilities()
    assert tell_all(live, (1, 0.5)) == [0]
    # t = 4: a reward of 1 is no loss, but eta / 2 is now 1 / 2
    assert root_gap(live) == pytest.approx((loss - 1.6) / 2, abs=1e-14)


def test_three_rounds_with_reduced_variance_by_hand() -> None:
    live = purse.Policy("tsallis-inf:estimator=rv", n_arms=2, budget=100, cost_min=0.5, seed=0)
    # up to t = 16 eta^2 = 16 / t is above any weight, so b = 0 and only the rate, 4 / sqrt t, is
    # another
    assert tell_all(live, (0.2, 1)) == [1]
    assert root_gap(live) == pytest.approx(-1.6 * 2 / math.sqrt(2), abs=1e-14)
    tell_all(live, *[(1, 0.5)] * 21)
    # rewards of 1 are no loss: t = 23 has L = (0, 1.6), eta / 2 = 2 / sqrt 23, w = (0.709, 0.291),
    # and is the first with a weight above 16 / t = 0.696
    assert root_gap(live) == pytest.approx(-1.6 * 2 / math.sqrt(23), abs=1e-14)
    p = live.probabilities()
    assert p == pytest.approx([0.709, 0.291], abs=1e-3)
    assert tell_all(live, (0.75, 0.5)) == [1]
    # so b = (1/2, 0): L = (0.5, 1.6 + 0.25 / 0.291) = (0.5, 2.460)
    losses = [0.5, 1.6 + 0.25 / p[1]]
    assert root_gap(live) == pytest.approx((losses[0] - losses[1]) * 2 / math.sqrt(24), abs=1e-14)
    p = live.probabilities()
    assert tell_all(live, (1, 0.5)) == [0]
    # t = 24: w(0) = 0.740 is above 16 / 24 again, so L(0) += (0 - 0.5) / 0.740 + 0.5, a step back
    # of 0.175
    losses[0] += 0.5 - 0.5 / p[0]
    assert root_gap(live) == pytest.approx((losses[0] - losses[1]) * 2 / math.sqrt(25), abs=1e-14)


@pytest.mark.parametrize("estimator", ["iw", "rv"])
@pytest.mark.parametrize(("n_arms", "out"), [(2, 1), (3, 40), (10, 1)])
def test_follows_the_formula(estimator: str, n_arms: int, out: int) -> None:
    plain = PlainTsallis(n_arms, estimator)
    assert (
        largest_deviation(
            make_live(world_of(n_arms), f"tsallis-inf:estimator={estimator}"),
            plain,
            world_of(n_arms),
            4000,
            out=out,
        )
        < EXACT
    )
    assert estimator == "iw" or 1000 < plain.below < 4000 * n_arms - 1000


@pytest.mark.parametrize("estimator", ["iw", "rv"])
def test_arms_come_as_often_as_their_probabilities_say(estimator: str) -> None:
    assert (
        frequency_surprise(
            make_live(world_of(5), f"tsallis-inf:estimator={estimator}"), world_of(5), 5000
        )
        < 4
    )


@pytest.mark.parametrize("estimator", ["iw", "rv"])
def test_regret_is_within_the_bound(estimator: str) -> None:
    # T = 4,000 rounds at cost 0.5, gaps 0.2: 4 sqrt(K T) + 1 = 438, and measured far less; the
    # standard error over 50 paths is below 10
    world = worlds.function("bernoulli")([0.7, 0.5, 0.5], [0.5, 0.5, 0.5])
    run = purse.simulate(f"tsallis-inf:estimator={estimator}", world, budget=2000, n_paths=50)
    assert 0 < 0.2 * run.pulls[:, 1:].sum(axis=1).mean() < 438 / 2


@pytest.mark.parametrize("estimator", ["iw", "rv"])
def test_one_arm(estimator: str) -> None:
    live = purse.Policy(f"tsallis-inf:estimator={estimator}", n_arms=1, budget=30, cost_min=0.5)
    assert tell_all(live, *[(0, 0.5), (1, 1), (0.5, 0.5)] * 8) == [0] * 24
    assert live.probabilities().tolist() == [1.0]


def test_plays_several_resources() -> None:
    live = purse.Policy("tsallis-inf", n_arms=2, n_resources=2, budget=[10, 10], cost_min=0.5)
    assert live.tell(live.ask(), 0, [[0.5, 0.5]])
    assert live.probabilities().min() < 0.5


def test_options_and_plays_are_checked() -> None:
    with pytest.raises(purse.InvalidInput, match=r"^estimator='x': must be one of 'iw', 'rv'"):
        purse.Policy("tsallis-inf:estimator=x", n_arms=2, budget=10, cost_min=0.5)
    with pytest.raises(
        purse.InvalidInput,
        match=r"^tsallis-inf plays problems with plays=1, and this one has plays=2$",
    ):
        purse.Policy("tsallis-inf", n_arms=3, budget=10, cost_min=0.5, plays=2)
