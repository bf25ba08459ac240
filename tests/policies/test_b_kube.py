from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.compiler.jit import bind
from purse.kernels import greedy_knapsack
from purse.testing import check_policy
from purse.theory import knapsack
from purse.types import Floats, Ints, Problem
from tests.support.policies import EXACT, largest_deviation, make_live, tell_all

REWARDS, COSTS = [0.42, 0.5, 0.4, 0.3, 0.6], [0.3, 0.5, 0.6, 0.4, 0.9]


def greedy(scores: list[float], costs: list[int], room: list[int], left: int) -> list[int]:
    """The density-ordered greedy knapsack in whole amounts, at most `room` pulls of each arm; of
    equal scores the first.
    """
    counts = [0] * len(costs)
    for i in sorted(range(len(costs)), key=lambda i: (-scores[i], i)):
        counts[i] = max(0, min(left // costs[i], room[i]))
        left -= counts[i] * costs[i]
    return counts


class Plain:
    """The formula written out; money in hundredths."""

    def __init__(self, costs: list[float], caps: list[int], budget: float) -> None:
        self.cents, self.costs, self.left = (
            [round(100 * cost) for cost in costs],
            [cost / max(costs) for cost in costs],
            round(100 * budget),
        )
        self.caps, self.pulls, self.rewards = caps, [0] * len(costs), [0.0] * len(costs)

    def usable(self, i: int) -> bool:
        return self.cents[i] <= self.left and self.pulls[i] < self.caps[i]

    def probabilities(self, t: int) -> Floats:
        arms = range(len(self.costs))
        first = [i for i in arms if self.caps[i] > 0]
        if t <= len(first) and self.usable(first[t - 1]):
            return np.eye(len(self.costs))[first[t - 1]]
        missing = [float(self.pulls[i] == 0 and self.usable(i)) for i in arms]
        if sum(missing) > 0:
            return np.array(missing) / sum(missing)
        bounds = [
            self.rewards[i] / self.pulls[i] + math.sqrt(2 * math.log(t - 1) / self.pulls[i])
            if self.pulls[i]
            else 0
            for i in arms
        ]
        room = [self.caps[i] - self.pulls[i] for i in arms]
        counts = greedy([bounds[i] / self.costs[i] for i in arms], self.cents, room, self.left)
        return np.array(counts) / max(1, sum(counts))

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self.left -= self.cents[arm]


def live_for(
    costs: list[float], budget: float, caps: Any, *, seed: int = 0, stop: str = "hold"
) -> purse.Policy:
    return purse.Policy(
        "b-kube",
        n_arms=len(costs),
        budget=budget,
        cost_min=costs,
        cost_max=costs,
        costs=costs,
        caps=caps,
        seed=seed,
        stop=stop,
    )


def test_rounds_by_hand() -> None:
    live = live_for([0.4, 0.3, 0.1], 3, [3, 4, 0], seed=4)
    assert live.probabilities().tolist() == [1, 0, 0]
    assert tell_all(live, (1, 0.4), (0, 0.3)) == [0, 1]
    # t = 3: 2.3 is left; sqrt(2 ln 2) = 1.177, D = (2.177 / 0.4, 1.177 / 0.3) = (5.44, 3.92): arm 0
    # twice, as its cap allows, then three times arm 1
    assert live.probabilities() == pytest.approx([2 / 5, 3 / 5, 0], abs=1e-15)
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 4: 2 is left; D = ((1 + sqrt(2 ln 3)) / 0.4, sqrt(2 ln 3 / 2) / 0.3) = (2.482 / 0.4, 1.048
    # / 0.3): twice each
    assert live.probabilities().tolist() == [0.5, 0.5, 0]
    assert tell_all(live, (1, 0.4)) == [0]
    # t = 5: 1.6 is left; D = ((1 + sqrt(2 ln 4 / 2)) / 0.4, sqrt(2 ln 4 / 2) / 0.3) = (2.177 / 0.4,
    # 1.177 / 0.3): arm 0 once, arm 1 twice
    assert live.probabilities() == pytest.approx([1 / 3, 2 / 3, 0], abs=1e-15)
    assert tell_all(live, (0, 0.3)) == [1]
    # t = 6: one pull of each is left, 1.3 would buy more
    assert live.probabilities().tolist() == [0.5, 0.5, 0]
    assert tell_all(live, (1, 0.3)) == [1]
    assert live.probabilities().tolist() == [1, 0, 0]
    assert tell_all(live, (1, 0.4)) == [0]
    with pytest.raises(purse.AskRefused, match="b-kube has ended the game after 7 rounds"):
        live.ask()
    assert live.left == pytest.approx(0.6)


@pytest.mark.parametrize("out", [1, 30])
@pytest.mark.parametrize("caps", [[2000, 900, 10, 0, 10**6], [1, 10**9, 1, 1, 500]])
def test_follows_the_formula(caps: list[int], out: int) -> None:
    world = worlds.function("bernoulli")(REWARDS, COSTS)
    live = make_live(world, "b-kube", budget=2400.01, costs=COSTS, caps=caps)
    assert largest_deviation(live, Plain(COSTS, caps, 2400.01), world, 2600, out=out) < EXACT


@pytest.mark.parametrize("seed", range(8))
def test_follows_the_formula_until_nothing_can_be_pulled(seed: int) -> None:
    random, coins = Random(seed), np.random.default_rng(seed)
    costs, caps, budget = (
        [random.randint(10, 99) / 100 for _ in range(8)],
        [random.choice([0, 1, 5, 30, 10**6]) for _ in range(8)],
        random.randint(50, 4000) / 100,
    )
    live, plain = live_for(costs, budget, caps, seed=seed, stop="exit"), Plain(costs, caps, budget)
    for t in range(1, 10**6):
        chances = plain.probabilities(t)
        assert np.abs(live.probabilities() - chances).max() < EXACT
        if chances.sum() == 0:
            break
        ticket = live.ask()
        reward = float(coins.random() < 0.5)
        assert live.tell(ticket, reward, costs[ticket.arm])
        plain.learn(ticket.t, ticket.arm, ticket.probability, reward, 0)
    assert all(pulls <= cap for pulls, cap in zip(plain.pulls, caps, strict=True))
    assert not any(plain.usable(i) for i in range(8))
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


def test_the_filling_is_the_greedy_bounded_knapsack() -> None:
    work = bind(rank_and_fill)
    for seed in range(300):
        random = Random(seed)
        n_arms, left = random.randint(1, 12), random.randint(1, 10**12)
        costs, scores = (
            [random.randint(1, 10**9) for _ in range(n_arms)],
            [random.randint(0, 5) / 4 for _ in range(n_arms)],
        )
        caps, pulls = (
            [random.choice([0, 3, 100, 10**4, 10**18]) for _ in range(n_arms)],
            [random.choice([0, 1, 3, 200]) for _ in range(n_arms)],
        )
        known = greedy_knapsack.known_costs(
            Problem.of(
                n_arms=n_arms,
                budget=1,
                cost_min=1e-9,
                costs=[cost / 1e9 for cost in costs],
                caps=caps,
            ),
            "a test",
        )
        counts = np.ones(n_arms)
        total = work(
            known, np.array(scores), np.arange(n_arms), np.array(pulls, float), left, counts
        )
        room = [cap - pulled for cap, pulled in zip(caps, pulls, strict=True)]
        assert counts.tolist() == greedy(scores, costs, room, left)
        assert total == counts.sum()


def test_without_caps_it_is_kube() -> None:
    world = worlds.function("bernoulli")(REWARDS, COSTS)
    kube = purse.simulate("kube", world, 100, n_paths=20)
    for caps in (None, 10**6, 10**30):
        assert (
            purse.simulate("b-kube", world, 100, n_paths=20, caps=caps).pulls == kube.pulls
        ).all()


@pytest.mark.parametrize("stop", ["exit", "hold", "retry"])
@pytest.mark.parametrize(
    "caps", [[40, 30, 20, 10, 0], [0, 0, 0, 0, 7], [1, 1, 1, 1, 1], [0, 10**6, 3, 0, 0]]
)
def test_caps_hold_and_all_that_they_allow_is_spent(stop: str, caps: list[int]) -> None:
    world = worlds.function("bernoulli")(REWARDS, COSTS)
    for budget in (0.35, 1, 2.2, 30):
        run = purse.simulate("b-kube", world, budget, n_paths=20, caps=caps, stop=stop)
        assert (run.pulls <= caps).all()
        stuck = (run.pulls == caps) | (np.array(COSTS) > budget - run.spent + 1e-9)
        assert stuck.all()


def test_caps_of_nothing_end_the_game_at_once() -> None:
    run = purse.simulate(
        "b-kube", worlds.function("bernoulli")(REWARDS, COSTS), 10, n_paths=2, caps=0
    )
    assert run.rounds.tolist() == [0, 0]
    with pytest.raises(purse.AskRefused, match="b-kube has ended the game after 0 rounds"):
        live_for(COSTS, 10, 0).ask()


def test_initial_pulls_leave_out_what_cannot_be_paid_for() -> None:
    live = live_for([1, 0.5, 0.2], 0.7, 9)
    # arm 0 is too dear: round 1 is for one of the others, round 2 for arm 1 if it is not too dear
    # then
    assert live.probabilities().tolist() == [0, 0.5, 0.5]
    run = purse.simulate(
        "b-kube", worlds.function("bernoulli")([1, 1, 1], [1, 0.5, 0.2]), 0.7, caps=9
    )
    assert (run.pulls[:, 0] == 0).all()
    assert (0.7 - run.spent < 0.2).all()


def test_a_voided_initial_pull_comes_again() -> None:
    live = live_for([1, 0.5], 10, 9)
    live.void(live.ask())
    live.tell(live.ask(), 1, 0.5)
    assert live.probabilities().tolist() == [1, 0]


def test_comes_near_what_the_caps_allow() -> None:
    caps, budget = [48_000, 64_000, 10**6, 10**6, 10**6], 40_000
    run = purse.simulate(
        "b-kube", worlds.function("bernoulli")(REWARDS, COSTS), budget, n_paths=20, caps=caps
    )
    best = knapsack.bounded(REWARDS, COSTS, caps, budget)
    assert best == pytest.approx(48_000 * 0.42 + 51_200 * 0.5)  # all of arm 0, the rest for arm 1
    assert (run.pulls[:, 0] == 48_000).all()
    # against arm 1 the others lose 1 c - r = (0.2, 0.1, 0.3) a pull, in at most 8 ln T / loss^2
    # pulls each: 8 * 11.5 * 18.3 = 1,690 in all
    assert best - run.gain.mean() < 1690


@pytest.mark.parametrize("caps", [5, [40, 30, 20, 0]])
def test_passes_the_checks_with_caps(caps: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = greedy_knapsack.known_costs
    monkeypatch.setattr(
        "purse.policies.b_kube.known_costs",
        lambda problem, name: known(problem, name)._replace(caps=np.resize(caps, problem.n_arms)),
    )
    check_policy("b-kube")


def test_one_arm() -> None:
    live = live_for([0.5], 10, 3)
    assert tell_all(live, (1, 0.5), (0, 0.5), (1, 0.5)) == [0, 0, 0]
    with pytest.raises(purse.AskRefused):
        live.ask()


def test_caps_survive_a_file(tmp_path: Any) -> None:
    live = live_for([0.5, 0.5], 10, [1, 2])
    tell_all(live, (1, 0.5), (1, 0.5))
    live.save(tmp_path / "policy.npz")
    again = purse.Policy.load(tmp_path / "policy.npz")
    assert tell_all(again, (1, 0.5)) == [1]
    with pytest.raises(purse.AskRefused):
        again.ask()


def test_refuses_costs_that_it_does_not_know_or_that_are_nothing() -> None:
    with pytest.raises(purse.InvalidInput, match=r"^b-kube needs to know what each arm costs"):
        purse.simulate("b-kube", "misleading_ratio", 10, caps=3)
    with pytest.raises(
        purse.InvalidInput, match=r"^costs=\[0\.0, 0\.5\]: must be positive for b-kube"
    ):
        purse.Policy("b-kube", n_arms=2, budget=10, cost_min=[0, 0.5], costs=[0, 0.5], horizon=10)


@pytest.mark.parametrize("told", [{"plays": 2}, {"n_resources": 2}])
def test_refuses_several_plays_and_resources(told: dict[str, int]) -> None:
    with pytest.raises(purse.InvalidInput, match=r"^b-kube plays problems with "):
        purse.Policy("b-kube", n_arms=3, budget=10, cost_min=0.5, costs=0.5, **told)


def test_refuses_caps_that_are_none_and_options() -> None:
    with pytest.raises(purse.InvalidInput, match=r"^caps=-1: must be a whole number from 0 up"):
        live_for(COSTS, 10, -1)
    with pytest.raises(purse.InvalidInput, match=r"unknown option of b-kube 'lam'; there are none"):
        purse.Policy("b-kube:lam=1", n_arms=2, budget=10, cost_min=0.5, costs=0.5)
