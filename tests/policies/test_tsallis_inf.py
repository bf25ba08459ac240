"""Tsallis-INF: blind to costs, on efficiency, with a price, and in blocks that a coin ends."""

import math
from typing import Any

import numpy as np
import pytest

import purse
from purse.kernels.random import POLICY, U, at, stream, uniform
from purse.testing import check_policy
from purse.types import Floats
from tests.support.exp3_learners import (
    PlainTsallis,
    play,
    same_pulls,
    tsallis_weights,
    two_arms,
    world_of,
)
from tests.support.policies import follows, plays_two_resources, tell_all
from tests.support.soak import scale

ROUNDS = scale(400, 2000)


class PlainTsallisPrice:
    """Every score with today's price."""

    def __init__(self, n_arms: int, scale: float) -> None:
        self.scale, self.earned, self.paid = scale, 0.0, 0.0
        self.reward_estimates, self.cost_estimates = np.zeros(n_arms), np.zeros(n_arms)

    def probabilities(self, t: int) -> Floats:
        theta = self.earned / self.paid if self.paid else 0.0
        losses = (theta * self.cost_estimates - self.reward_estimates) / (1 + theta)
        return tsallis_weights(self.scale / math.sqrt(t), losses)

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.earned += reward
        self.paid += cost
        self.reward_estimates[arm] += reward / (probability + 1 / t)
        self.cost_estimates[arm] += cost / (probability + 1 / t)


def coin(t: int, *, seed: int = 0) -> float:
    """The number that decides whether a block ends with the pull of round t."""
    return float(uniform(U(at(U(stream(seed, 0, POLICY)), t)), 1))


class PlainCoin:
    """Blocks written out; `price_max` None: the safe price alone."""

    def __init__(self, n_arms: int, theta: float, price_max: float | None = None) -> None:
        self.theta, self.price_max, self.n_blocks = theta, price_max, 1
        self.losses, self.earned, self.paid = np.zeros(n_arms), 0.0, 0.0
        self.arm: int | None = None
        self.taught = self.mixed = 0

    def eta(self) -> float:
        if self.price_max is None:
            return math.sqrt(2 / self.n_blocks) / self.theta
        variance = self.price_max + 3 * self.price_max**2
        return 2 / math.sqrt(4 * self.theta**2 + 2 * variance * self.n_blocks)

    def weights(self) -> Floats:
        return tsallis_weights(self.eta(), self.losses)

    def probabilities(self, t: int) -> Floats:
        return self.weights() if self.arm is None else np.eye(len(self.losses))[self.arm]

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        if self.arm is None and probability < 1:
            self.arm, self.chance, self.reward, self.cost = arm, probability, 0.0, 0.0
        if self.arm != arm:
            return
        self.taught += 1
        self.reward += reward
        self.cost += cost
        if coin(t) < cost:
            self.end()

    def end(self) -> None:
        drawn = np.arange(len(self.losses)) == self.arm
        if self.price_max is None:
            self.losses += drawn * (self.theta * self.cost - self.reward) / self.chance
        else:
            price = min(self.price_max, self.earned / self.paid) if self.paid else 0.0
            edge = self.eta() * (2 * self.price_max + 1) * (1 + 2 * math.log(self.n_blocks))
            charged = np.where(self.weights() >= edge**2, price, self.theta)
            self.mixed += bool(charged.min() < self.theta == charged.max())
            self.losses += drawn * (charged * self.cost - self.reward) / self.chance
            self.losses -= charged - price
            self.earned += self.reward
            self.paid += self.cost
        self.arm, self.n_blocks = None, self.n_blocks + 1


def test_rounds_by_hand() -> None:
    # 1 / sqrt w(0) - 1 / sqrt w(1) = (eta / 2) (L(0) - L(1)), and eta / 2 = 1 / sqrt t
    play(
        two_arms("tsallis-inf"),
        ((0.2, 1), 1, 0.8021062),  # t = 2: L = (0, 0.8 / 0.5), the roots differ by 1.6 / sqrt 2
        ((0.5, 0.5), 0, 0.6823930),  # t = 3: L(0) = 0.5 / 0.802 = 0.6233588
        ((1, 0.5), 0, 0.6612282),  # t = 4: a reward of 1 is no loss, but eta / 2 is now 1 / 2
    )


@pytest.mark.parametrize(
    ("policy", "n_arms", "unit", "out"),
    [
        ("tsallis-inf", 2, 1, 1),
        ("tsallis-inf", 10, 1, 40),
        ("tsallis-inf:estimator=rv", 3, 1, 40),
        ("tsallis-inf:estimator=rv", 10, 1, 1),
        ("tsallis-inf.bwk", 3, 5, 1),
        ("tsallis-inf.bwk", 10, 1, 40),
        ("tsallis-inf.bwk:estimator=rv", 3, 5, 1),
        ("tsallis-inf.bwk:estimator=rv", 4, 1, 40),
        ("tsallis-inf.price", 3, 1, 40),
        ("tsallis-inf.price", 3, 5, 1),
        ("tsallis-inf.price", 10, 1, 1),
        ("tsallis-inf.price:scale=1.5", 4, 1, 1),
    ],
)
def test_follows_the_formula(policy: str, n_arms: int, unit: int, out: int) -> None:
    name, _, option = policy.partition("=")
    plain: Any = PlainTsallis(n_arms, option or "iw", 0.2 if ".bwk" in name else None)
    if ".price" in name:
        plain = PlainTsallisPrice(n_arms, float(option or 4))
    follows(policy, plain, world_of(n_arms, unit=unit), ROUNDS, out=out)
    # some weights have a base, and some have not
    assert option != "rv" or ROUNDS / 2 < plain.below < ROUNDS * (n_arms - 0.5)


@pytest.mark.parametrize(
    ("n_arms", "option", "unit", "out"),
    [
        (3, "", 1, 40),
        (3, "", 5, 1),
        (10, "", 1, 1),
        (4, "efficiency_max=2.5", 5, 1),
        (4, "price_max=0.3", 5, 1),
        (3, "price_max=4", 1, 40),
    ],
)
def test_coin_follows_the_formula(n_arms: int, option: str, unit: int, out: int) -> None:
    name, _, value = option.partition("=")
    theta = 1 / 0.2 if name != "efficiency_max" else float(value) * unit
    price_max = float(value) * unit if name == "price_max" else None
    plain, world = PlainCoin(n_arms, theta, price_max), world_of(n_arms, unit=unit)
    follows(f"tsallis-inf.coin{':' if option else ''}{option}", plain, world, ROUNDS, out=out)
    assert plain.taught == ROUNDS if out == 1 else ROUNDS / 10 < plain.taught < ROUNDS


def test_coin_charges_only_unlikely_arms_the_safe_price_in_the_end() -> None:
    plain, world = PlainCoin(2, 5.0, 4.0), world_of(2)
    follows("tsallis-inf.coin:price_max=4", plain, world, 4000)
    assert 100 < plain.mixed < plain.n_blocks


def test_a_block_waits_while_its_arm_is_not_allowed() -> None:
    seed = next(seed for seed in range(99) if coin(1, seed=seed) > 0.9)
    live = two_arms("tsallis-inf.coin", seed=seed)
    (arm,) = tell_all(live, (1, 0.9))
    before = live.state.block.tolist()
    other = live.ask([1 - arm])
    assert live.tell(other, 0, 1)
    assert live.state.block.tolist() == before
    assert live.ask().arm == arm


def test_other_problems() -> None:
    plays_two_resources("tsallis-inf")
    same_pulls("tsallis-inf.bwk", "tsallis-inf", cost=0.5)
    check_policy("tsallis-inf.coin:price_max=2", quick=True)
    with pytest.raises(purse.InvalidInput, match="cost_min=0: this policy needs every pull"):
        purse.Policy("tsallis-inf.coin", n_arms=2, budget=10, cost_min=0, horizon=9)
