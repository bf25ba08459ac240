from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

import purse
from purse import worlds
from purse.compiler.jit import bind
from purse.kernels import greedy_knapsack
from purse.theory import knapsack
from purse.types import Floats, Ints, Problem
from tests.support.policies import EXACT, largest_deviation, make_live, tell_all

REWARDS, COSTS = [0.42, 0.5, 0.4, 0.3, 0.6], [0.3, 0.5, 0.6, 0.4, 0.9]
COSTS_10 = [0.37, 0.91, 0.23, 0.55, 0.49, 0.83, 0.71, 0.29, 0.61, 0.97]


def greedy(scores: list[float], costs: list[int], left: int) -> list[int]:
    """The density-ordered greedy knapsack in whole amounts; of equal scores the first."""
    counts = [0] * len(costs)
    for i in sorted(range(len(costs)), key=lambda i: (-scores[i], i)):
        counts[i], left = divmod(left, costs[i])
    return counts


class Plain:
    """The formula written out; money in hundredths."""

    def __init__(self, costs: list[float], budget: float) -> None:
        self.cents, self.costs, self.left = (
            [round(100 * cost) for cost in costs],
            [cost / max(costs) for cost in costs],
            round(100 * budget),
        )
        self.pulls, self.rewards = np.zeros(len(costs)), np.zeros(len(costs))

    def probabilities(self, t: int) -> Floats:
        n_arms = len(self.costs)
        if t <= n_arms:
            return np.eye(n_arms)[t - 1]
        missing = [
            float(pulls == 0 and cost <= self.left)
            for pulls, cost in zip(self.pulls, self.cents, strict=True)
        ]
        if sum(missing) > 0:
            return np.array(missing) / sum(missing)
        bounds = [
            self.rewards[i] / self.pulls[i] + math.sqrt(2 * math.log(t - 1) / self.pulls[i])
            if self.pulls[i]
            else 0
            for i in range(n_arms)
        ]
        counts = greedy(
            [bound / cost for bound, cost in zip(bounds, self.costs, strict=True)],
            self.cents,
            self.left,
        )
        return np.array(counts) / max(1, sum(counts))

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self.left -= self.cents[arm]


def live_for(
    costs: list[float], budget: float, *, seed: int = 0, stop: str = "hold"
) -> purse.Policy:
    return purse.Policy(
        "kube",
        n_arms=len(costs),
        budget=budget,
        cost_min=costs,
        cost_max=costs,
        costs=costs,
        seed=seed,
        stop=stop,
    )


def test_rounds_by_hand() -> None:
    live = live_for([0.4, 0.3], 3, seed=0)
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (1, 0.4), (0, 0.3)) == [0, 1]
    # t = 3: 2.3 is left; sqrt(2 ln 2 / 1) = 1.177, D = ((1 + 1.177) / 0.4, 1.177 / 0.3) = (5.44,
    # 3.92): 5 times 0.4 leave 0.3, once 0.3
    assert live.probabilities().tolist() == pytest.approx([5 / 6, 1 / 6], abs=1e-15)
    assert tell_all(live, (0, 0.4)) == [0]
    # t = 4: 1.9 is left; D = ((0.5 + sqrt(2 ln 3 / 2)) / 0.4, sqrt(2 ln 3) / 0.3) = (1.548 / 0.4,
    # 1.482 / 0.3) = (3.87, 4.94): 6 times 0.3 leave 0.1
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (1, 0.3)) == [1]
    # t = 5: 1.6 is left; the radius is sqrt(2 ln 4 / 2) = 1.177 for both, and so are the means: D =
    # (1.677 / 0.4, 1.677 / 0.3); 5 times 0.3 leave 0.1
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 6: 1.3 is left; D = ((0.5 + sqrt(2 ln 5 / 2)) / 0.4, (1/3 + sqrt(2 ln 5 / 3)) / 0.3) =
    # (1.769 / 0.4, 1.369 / 0.3) = (4.42, 4.56): 4 times 0.3
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 7: 1 is left; D = ((0.5 + sqrt(2 ln 6 / 2)) / 0.4, (1/4 + sqrt(2 ln 6 / 4)) / 0.3) =
    # (1.839 / 0.4, 1.197 / 0.3) = (4.60, 3.99): twice 0.4, 0.2 stay
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (0, 0.4)) == [0]
    # t = 8: 0.6 is left; D = ((1/3 + sqrt(2 ln 7 / 3)) / 0.4, (1/4 + sqrt(2 ln 7 / 4)) / 0.3) =
    # (1.472 / 0.4, 1.236 / 0.3) = (3.68, 4.12): twice 0.3
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 9: 0.3 is left: only arm 1 fits
    assert tell_all(live, (0, 0.3)) == [1]
    assert live.probabilities().tolist() == [0, 0]
    with pytest.raises(purse.AskRefused, match="kube has ended the game after 9 rounds"):
        live.ask()


@pytest.mark.parametrize("out", [1, 30])
@pytest.mark.parametrize(("costs", "budget"), [(COSTS, 2800.01), (COSTS_10, 3000)])
def test_follows_the_formula(costs: list[float], budget: float, out: int) -> None:
    world = worlds.function("bernoulli")(np.linspace(0.9, 0.3, len(costs)).tolist(), costs)
    live = make_live(world, "kube", budget=budget, costs=costs)
    assert largest_deviation(live, Plain(costs, budget), world, 3000, out=out) < EXACT


@pytest.mark.parametrize("seed", range(5))
def test_follows_the_formula_until_nothing_can_be_paid_for(seed: int) -> None:
    live, plain, coins = (
        live_for(COSTS_10, 60.01, seed=seed, stop="exit"),
        Plain(COSTS_10, 60.01),
        np.random.default_rng(seed),
    )
    rounds, mixed = 0, 0
    while True:
        chances = plain.probabilities(rounds + 1)
        assert np.abs(live.probabilities() - chances).max() < EXACT
        if chances.sum() == 0:
            break
        mixed += chances.max() < 1
        ticket = live.ask()
        reward = float(coins.random() < 0.5)
        assert live.tell(ticket, reward, COSTS_10[ticket.arm])
        plain.learn(ticket.t, ticket.arm, ticket.probability, reward, 0)
        rounds += 1
    assert mixed > 20
    assert live.left < min(COSTS_10)
    with pytest.raises(purse.AskRefused):
        live.ask()


def rank_and_fill(
    known: greedy_knapsack.KnownCosts,
    scores: Floats,
    order: Ints,
    pulls: Floats,
    left: int,
    counts: Floats,
) -> float:
    greedy_knapsack.rank(scores, order)
    return greedy_knapsack.fill(known, order, pulls, left, counts)


def test_the_filling_is_the_greedy_knapsack_wherever_the_sorting_starts() -> None:
    work, seen = bind(rank_and_fill), set()
    for seed in range(300):
        random = Random(seed)
        n_arms, left = random.randint(1, 12), random.randint(1, 10**12)
        # many ties
        costs, scores = (
            [random.randint(1, 10**9) for _ in range(n_arms)],
            [random.randint(0, 5) / 4 for _ in range(n_arms)],
        )
        known = greedy_knapsack.known_costs(
            Problem.of(
                n_arms=n_arms, budget=1, cost_min=1e-9, costs=[cost / 1e9 for cost in costs]
            ),
            "a test",
        )
        assert known.units.tolist() == costs
        for _ in range(3):
            order, counts = np.array(random.sample(range(n_arms), n_arms)), np.ones(n_arms)
            total = work(known, np.array(scores), order, np.zeros(n_arms), left, counts)
            assert order.tolist() == sorted(range(n_arms), key=lambda i: (-scores[i], i))
            assert counts.tolist() == greedy(scores, costs, left)
            assert total == counts.sum()
            seen.add(int((counts > 0).sum()))
    assert {1, 2, 3, 4} <= seen


def test_amounts_are_exact() -> None:
    live = live_for([0.3, 0.1], 0.7, stop="exit")
    for reward in (0.9, 0.1):
        ticket = live.ask()
        live.tell(ticket, reward, [0.3, 0.1][ticket.arm])
    # 0.3 is left: in floats 0.3 / 0.1 = 2.9999999999999996. D_1 = 1.277 / 0.1 is larger: three
    # times, and nothing stays
    assert live.probabilities().tolist() == [0, 1]
    assert [live.tell(live.ask(), 1, 0.1) for _ in range(3)] == [True] * 3
    assert live.left_units == [0]


def test_a_budget_of_1000_at_cost_a_tenth_buys_10000_pulls() -> None:
    assert (
        purse.simulate("kube", worlds.function("bernoulli")([1], [0.1]), 1000, n_paths=1).rounds[0]
        == 10_000
    )


def test_arms_come_as_often_as_their_probabilities_say() -> None:
    world = worlds.function("bernoulli")([1, 0], [0.4, 0.3])
    # the third round by hand above: 5/6 and 1/6
    run = purse.simulate("kube", world, 3, horizon=3, n_paths=5000)
    assert abs((run.pulls[:, 0] == 2).sum() - 5000 * 5 / 6) < 4 * np.sqrt(5000 * 5 / 36)


@pytest.mark.parametrize(
    ("rewards", "costs", "budget"),
    [(REWARDS, COSTS, 10_000), ([0.9, 0.6, 0.5], [0.7, 0.5, 0.9], 3000)],
)
def test_comes_near_what_the_best_knapsack_gains(
    rewards: list[float], costs: list[float], budget: float
) -> None:
    run = purse.simulate("kube", worlds.function("bernoulli")(rewards, costs), budget, n_paths=20)
    # the bound of an index rule with this radius: sum_i 8 ln T / (e* c(i) - r(i)); what one
    # knapsack loses to the next is far less
    best = max(reward / cost for reward, cost in zip(rewards, costs, strict=True))
    bound = sum(
        8 * math.log(budget / min(costs)) / (best * c - r)
        for r, c in zip(rewards, costs, strict=True)
        if best * c - r > 1e-9
    )
    assert knapsack.exact(rewards, costs, budget) - run.gain.mean() < bound


def test_an_arm_without_a_report_comes_first() -> None:
    live = live_for([1, 0.5, 0.5], 10)
    tickets = [live.ask() for _ in range(3)]
    assert live.probabilities() == pytest.approx([1 / 3] * 3)
    live.tell(tickets[1], 1, 0.5)
    assert live.probabilities().tolist() == [0.5, 0, 0.5]
    live.tell(tickets[0], 0, 1)
    assert live.probabilities().tolist() == [0, 0, 1]


def test_an_arm_without_a_report_that_cannot_be_paid_for_is_left_out() -> None:
    live = live_for([1, 0.5], 2)
    tickets = [live.ask(), live.ask()]  # hold 1.5, and 0.5 is left
    assert live.probabilities().tolist() == [0, 1]
    live.tell(tickets[1], 1, 0.5)
    assert live.probabilities().tolist() == [0, 1]


def test_one_arm() -> None:
    live = live_for([0.5], 1.7)
    assert tell_all(live, (1, 0.5), (0, 0.5), (1, 0.5)) == [0, 0, 0]
    with pytest.raises(purse.AskRefused):
        live.ask()


def test_refuses_costs_that_it_does_not_know_or_that_are_nothing() -> None:
    with pytest.raises(purse.InvalidInput, match=r"^kube needs to know what each arm costs"):
        purse.Policy("kube", n_arms=2, budget=10, cost_min=0.5)
    with pytest.raises(purse.InvalidInput, match=r"^kube needs to know what each arm costs"):
        purse.simulate("kube", "misleading_ratio", 10)
    with pytest.raises(
        purse.InvalidInput, match=r"^costs=\[0\.0, 0\.5\]: must be positive for kube"
    ):
        purse.Policy("kube", n_arms=2, budget=10, cost_min=[0, 0.5], costs=[0, 0.5], horizon=10)


@pytest.mark.parametrize(
    ("told", "message"), [({"plays": 2}, "plays=1"), ({"n_resources": 2}, "n_resources=1")]
)
def test_refuses_several_plays_and_resources(told: dict[str, int], message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=f"^kube plays problems with {message}"):
        purse.Policy("kube", n_arms=3, budget=10, cost_min=0.5, costs=0.5, **told)


def test_refuses_caps_and_options() -> None:
    with pytest.raises(purse.InvalidInput, match="kube does not keep to caps"):
        purse.Policy("kube", n_arms=2, budget=10, cost_min=0.5, costs=0.5, caps=3)
    with pytest.raises(purse.InvalidInput, match=r"unknown option of kube 'lam'; there are none"):
        purse.Policy("kube:lam=1", n_arms=2, budget=10, cost_min=0.5, costs=0.5)
