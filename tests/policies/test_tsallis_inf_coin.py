from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.kernels.random import POLICY, U, at, stream, uniform
from purse.testing import check_policy
from purse.types import Floats
from tests.support.exp3_learners import random_edges, tsallis_weights, two_arms, world_of
from tests.support.policies import follows, refuses, tell_all

FIVE = "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]"


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
    # theta = 1 / 0.5 = 2; 1 / sqrt w(0) - 1 / sqrt w(1) = (eta / 2) (L(0) - L(1)),
    # eta / 2 = sqrt(2 / b) / 4
    assert coin(1) == pytest.approx(0.3495437, abs=1e-7)
    live = two_arms("tsallis-inf.coin")
    assert live.probabilities().tolist() == [0.5, 0.5]
    assert tell_all(live, (0.5, 0.8)) == [1]  # heads: the block has ended
    # b = 2: L(1) = (2 * 0.8 - 0.5) / 0.5 = 2.2, eta / 2 = 0.25, 0.25 * 2.2 = 0.55
    #   = 1 / sqrt w(1) - 1 / sqrt w(0)
    chances = live.probabilities()
    assert 1 / math.sqrt(chances[1]) - 1 / math.sqrt(chances[0]) == pytest.approx(0.55)
    assert chances == pytest.approx([0.6786043, 0.3213957], abs=1e-7)


def test_a_block_goes_on_until_heads() -> None:
    seed = next(seed for seed in range(99) if coin(1, seed=seed) > 0.9 > 0.8 > coin(2, seed=seed))
    live = two_arms("tsallis-inf.coin", seed=seed)
    assert live.probabilities().tolist() == [0.5, 0.5]
    (arm,) = tell_all(live, (1, 0.9))  # tails
    assert live.probabilities()[arm] == 1
    ticket = live.ask()
    assert (ticket.arm, ticket.probability) == (arm, 1)
    live.tell(ticket, 0.5, 0.8)  # heads
    # L = (2 * 1.7 - 1.5) / 0.5 = 3.8
    chances = live.probabilities()
    apart = 1 / math.sqrt(chances[arm]) - 1 / math.sqrt(chances[1 - arm])
    assert apart == pytest.approx(0.25 * 3.8)


def test_a_block_with_a_price_by_hand() -> None:
    # l = 1, so eta = 2 / sqrt(16 + 8 b); b = 1: no arm has weight (3 eta)^2 = 1.5, and all pay
    # theta = 2
    live = two_arms("tsallis-inf.coin:price_max=1")
    assert tell_all(live, (0.5, 0.8)) == [1]
    # L = (-2, 2.2 - 2); b = 2: eta / 2 = 1 / sqrt 32
    chances = live.probabilities()
    apart = 1 / math.sqrt(chances[1]) - 1 / math.sqrt(chances[0])
    assert apart == pytest.approx(2.2 / math.sqrt(32))
    assert live.state.earned.tolist() == [0.5, 0.8]


@pytest.mark.parametrize(
    ("n_arms", "option", "unit", "out"),
    [
        (3, "", 1, 1),
        (3, "", 1, 40),
        (3, "", 5, 1),
        (10, "", 1, 1),
        (4, "efficiency_max=2.5", 5, 1),
        (4, "price_max=0.3", 1, 1),
        (4, "price_max=0.3", 5, 1),
        (3, "price_max=4", 1, 40),
    ],
)
def test_follows_the_formula(n_arms: int, option: str, unit: int, out: int) -> None:
    name, _, value = option.partition("=")
    theta = 1 / 0.2 if name != "efficiency_max" else float(value) * unit
    price_max = float(value) * unit if name == "price_max" else None
    plain, world = PlainCoin(n_arms, theta, price_max), world_of(n_arms, unit=unit)
    follows(f"tsallis-inf.coin{':' if option else ''}{option}", plain, world, 2000, out=out)
    assert plain.taught == 2000 if out == 1 else 200 < plain.taught < 2000


def test_only_unlikely_arms_pay_the_safe_price_in_the_end() -> None:
    plain, world = PlainCoin(2, 5.0, 4.0), world_of(2)
    follows("tsallis-inf.coin:price_max=4", plain, world, 4000)
    assert 100 < plain.mixed < plain.n_blocks


def test_finds_the_arm_that_a_budget_buys_most_of_where_the_mean_ratio_misleads() -> None:
    world = worlds.function("misleading_ratio")()
    ours = purse.simulate("tsallis-inf.coin", world, budget=10_000, n_paths=20)
    blind = purse.simulate("tsallis-inf.bwk", world, budget=10_000, n_paths=20)
    assert ours.gain.mean() > blind.gain.max()


@pytest.mark.parametrize(("world", "times"), [("misleading_ratio", 5), (FIVE, 2)])
def test_is_a_yardstick_and_no_default(world: str, times: float) -> None:
    # measured over 1,000 paths: 14 and 5 times the regret of tsallis-inf.price
    regrets = (
        purse.compare(["tsallis-inf.price", "tsallis-inf.coin"], world, budgets=1e4, n_paths=40)
        .table()["regret"]
        .to_list()
    )
    assert regrets[1] > times * regrets[0]


def test_a_block_waits_while_its_arm_is_not_allowed() -> None:
    seed = next(seed for seed in range(99) if coin(1, seed=seed) > 0.9)
    live = two_arms("tsallis-inf.coin", seed=seed)
    (arm,) = tell_all(live, (1, 0.9))
    before = live.state.block.tolist()
    other = live.ask([1 - arm])
    assert live.tell(other, 0, 1)
    assert live.state.block.tolist() == before
    assert live.ask().arm == arm


def test_edges_and_refusals() -> None:
    check_policy("tsallis-inf.coin:price_max=2", quick=True)
    random_edges("tsallis-inf.coin")
    wrong = ("efficiency_max=0", "efficiency_max=x", "price_max=0", "price_max=-1")
    refuses("tsallis-inf.coin", *wrong)
    with pytest.raises(purse.InvalidInput, match="cost_min=0: this policy needs every pull"):
        purse.Policy("tsallis-inf.coin", n_arms=2, budget=10, cost_min=0, horizon=9)
