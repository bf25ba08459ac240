from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.types import Floats
from tests.support.policies import EXACT, largest_deviation, make_live, tell_all

REWARDS, COSTS = [0.42, 0.5, 0.4, 0.3, 0.6], [0.3, 0.5, 0.6, 0.4, 0.9]


class Plain:
    """The formula written out; `left` is in largest costs, as the costs are."""

    def __init__(self, costs: list[float], left: float) -> None:
        self.costs, self.left = np.array(costs) / max(costs), left
        self.pulls, self.rewards = np.zeros(len(costs)), np.zeros(len(costs))

    def probabilities(self, t: int) -> Floats:
        n_arms = len(self.costs)
        if t <= n_arms:
            return np.eye(n_arms)[t - 1]
        index = np.full(n_arms, -math.inf)
        for i in range(n_arms):
            if self.costs[i] <= self.left + 1e-9:
                bound = (
                    self.rewards[i] / self.pulls[i] + math.sqrt(2 * math.log(t - 1) / self.pulls[i])
                    if self.pulls[i]
                    else math.inf
                )
                index[i] = bound / self.costs[i]
        best = (index == index.max()) & (index > -math.inf)
        return best / max(1, best.sum())

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self.left -= cost


def live_for(
    costs: list[float], budget: float, *, seed: int = 0, stop: str = "hold"
) -> purse.Policy:
    return purse.Policy(
        "fractional-kube",
        n_arms=len(costs),
        budget=budget,
        cost_min=costs,
        cost_max=costs,
        costs=costs,
        seed=seed,
        stop=stop,
    )


def test_rounds_by_hand() -> None:
    live = live_for([1, 0.5], 4)
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (1, 1), (0, 0.5)) == [0, 1]
    # t = 3: sqrt(2 ln 2 / 1) = 1.177, D = ((1 + 1.177) / 1, (0 + 1.177) / 0.5) = (2.177, 2.355)
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (0, 0.5)) == [1]
    # t = 4: D = (1 + sqrt(2 ln 3), sqrt(2 ln 3 / 2) / 0.5) = (1 + 1.482, 2.096) = (2.482, 2.096)
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (1, 1)) == [0]
    # t = 5: D = (1 + sqrt(2 ln 4 / 2), sqrt(2 ln 4 / 2) / 0.5) = (2.177, 2.355); 1 is left
    assert tell_all(live, (1, 0.5)) == [1]
    # t = 6: 0.5 is left, which arm 0 is too dear for, whatever its index
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (1, 0.5)) == [1]
    with pytest.raises(purse.AskRefused, match="fractional-kube has ended the game after 6 rounds"):
        live.ask()
    assert live.left == 0


@pytest.mark.parametrize("out", [1, 30])
@pytest.mark.parametrize("seed", [0, 1])
def test_follows_the_formula(out: int, seed: int) -> None:
    world = worlds.function("bernoulli")(REWARDS, COSTS)
    live = make_live(world, "fractional-kube", budget=3600, costs=COSTS, seed=seed)
    assert largest_deviation(live, Plain(COSTS, 4000), world, 4000, out=out, seed=seed) < EXACT


def test_follows_the_formula_until_nothing_can_be_paid_for() -> None:
    live, plain, coins = (
        live_for(COSTS, 40.3, stop="exit"),
        Plain(COSTS, 40.3 / 0.9),
        np.random.default_rng(0),
    )
    rounds = 0
    while True:
        chances = plain.probabilities(rounds + 1)
        assert np.abs(live.probabilities() - chances).max() < EXACT
        if chances.sum() == 0:
            break
        ticket = live.ask()
        reward = float(coins.random() < REWARDS[ticket.arm])
        assert live.tell(ticket, reward, COSTS[ticket.arm])
        plain.learn(ticket.t, ticket.arm, ticket.probability, reward, COSTS[ticket.arm] / 0.9)
        rounds += 1
    assert rounds > 60
    assert live.left < 0.3
    with pytest.raises(purse.AskRefused):
        live.ask()


def test_ties_are_broken_evenly() -> None:
    world = worlds.function("bernoulli")([1, 1, 1], [0.5, 0.5, 0.5])
    # three initial pulls and one among three that have done equally well
    run = purse.simulate("fractional-kube", world, 2, n_paths=3000)
    assert (np.abs(run.pulls.sum(axis=0) - 4000) < 4 * np.sqrt(3000 * (1 / 3) * (2 / 3))).all()


def test_spends_all_that_buys_an_arm() -> None:
    world = worlds.function("bernoulli")(REWARDS, COSTS)
    run = purse.simulate("fractional-kube", world, 100, n_paths=50)
    assert (run.spent > 100 - min(COSTS) - 1e-9).all()
    assert (run.spent <= 100).all()


def test_learns_which_arm_pays_most_per_unit() -> None:
    world = worlds.function("bernoulli")(REWARDS, COSTS)
    run = purse.simulate("fractional-kube", world, 10_000, n_paths=10)
    assert (run.pulls.argmax(axis=1) == 0).all()
    # an index rule with this radius pulls arm i at most 8 ln T / (c Delta)^2 times and loses c
    # Delta each time; ln 33,000 = 10.4 and
    # c Delta = e* c - r = (0, 0.2, 0.44, 0.26, 0.66), so 416 + 189 + 320 + 126 = 1,051
    assert 10_000 * 1.4 - run.gain.mean() < 1051


def test_an_arm_without_a_report_comes_first() -> None:
    live = live_for([1, 0.5], 10)
    tickets = [live.ask(), live.ask()]
    assert live.tell(tickets[1], 1, 0.5)
    assert live.probabilities().tolist() == [1, 0]
    assert live.tell(tickets[0], 0, 1)
    assert live.probabilities().tolist() == [0, 1]


def test_one_arm() -> None:
    live = live_for([0.5], 1.7)
    assert tell_all(live, (1, 0.5), (0, 0.5), (1, 0.5)) == [0, 0, 0]
    with pytest.raises(purse.AskRefused):
        live.ask()


def test_a_budget_of_1000_at_cost_a_tenth_buys_10000_pulls() -> None:
    assert (
        purse.simulate(
            "fractional-kube", worlds.function("bernoulli")([1], [0.1]), 1000, n_paths=1
        ).rounds[0]
        == 10_000
    )


def test_refuses_costs_that_it_does_not_know() -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"^fractional-kube needs to know what each arm costs"
    ):
        purse.Policy("fractional-kube", n_arms=2, budget=10, cost_min=0.5)
    with pytest.raises(
        purse.InvalidInput, match=r"^fractional-kube needs to know what each arm costs"
    ):
        purse.simulate("fractional-kube", "misleading_ratio", 10)


@pytest.mark.parametrize(
    ("told", "message"), [({"plays": 2}, "plays=1"), ({"n_resources": 2}, "n_resources=1")]
)
def test_refuses_several_plays_and_resources(told: dict[str, int], message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=f"^fractional-kube plays problems with {message}"):
        purse.Policy("fractional-kube", n_arms=3, budget=10, cost_min=0.5, costs=0.5, **told)


def test_refuses_caps_and_options() -> None:
    with pytest.raises(purse.InvalidInput, match="fractional-kube does not keep to caps"):
        purse.Policy("fractional-kube", n_arms=2, budget=10, cost_min=0.5, costs=0.5, caps=3)
    with pytest.raises(
        purse.InvalidInput, match=r"unknown option of fractional-kube 'lam'; there are none"
    ):
        purse.Policy("fractional-kube:lam=1", n_arms=2, budget=10, cost_min=0.5, costs=0.5)
