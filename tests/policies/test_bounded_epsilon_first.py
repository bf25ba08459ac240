from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.policies import bounded_epsilon_first, epsilon_first
from purse.testing import check_policy
from purse.theory import knapsack
from purse.types import Floats, Problem
from tests.support.policies import EXACT, largest_deviation, make_live, tell_all

REWARDS, COSTS = [0.42, 0.5, 0.4, 0.3, 0.6], [0.3, 0.5, 0.6, 0.4, 0.9]


class Plain:
    """The rule written out; money in hundredths."""

    def __init__(
        self, costs: list[float], caps: list[int], budget: float, epsilon: float, *, frozen: bool
    ) -> None:
        self.cents, self.costs, self.room = (
            [round(100 * cost) for cost in costs],
            [cost / max(costs) for cost in costs],
            list(caps),
        )
        sweep = sum(cents for cents, cap in zip(self.cents, caps, strict=True) if cap > 0)
        self.left, self.frozen = round(100 * budget), frozen
        self.explore = self.unseen = min(float(self.left), max(epsilon * self.left, sweep)) + 1e-6
        self.pulls, self.rewards = [0] * len(costs), [0.0] * len(costs)

    def usable(self, i: int, money: float) -> bool:
        return self.cents[i] <= money and self.room[i] > 0

    def probabilities(self, t: int) -> Floats:
        arms = range(len(self.costs))
        fit = [i for i in arms if self.usable(i, self.explore)]
        if fit:
            return np.eye(len(self.costs))[fit[(t - 1) % len(fit)]]
        scores = [
            self.rewards[i] / self.pulls[i] / self.costs[i] if self.pulls[i] else math.inf
            for i in arms
        ]
        paid = [i for i in arms if self.usable(i, self.left)]
        best = [i for i in paid if scores[i] == max(scores[j] for j in paid)]
        return np.isin(arms, best) / max(1, len(best))

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.left -= self.cents[arm]
        self.explore -= self.cents[arm]
        self.room[arm] -= 1
        if not self.frozen or self.cents[arm] <= self.unseen or self.pulls[arm] == 0:
            self.unseen -= self.cents[arm]
            self.pulls[arm] += 1
            self.rewards[arm] += reward


def live_for(
    costs: list[float],
    budget: float,
    caps: Any,
    options: str = "",
    *,
    seed: int = 0,
    stop: str = "hold",
) -> purse.Policy:
    policy = f"bounded-epsilon-first{options}"
    return purse.Policy(
        policy,
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
    live = live_for([0.4, 0.3, 0.9, 0.1], 8, [2, 5, 10, 0], ":epsilon=0.5")
    # 4 to explore with: two sweeps of 1.6 leave 0.8, and arm 0 has no pulls left
    rewards = [(1, 0.4), (0, 0.3), (1, 0.9), (1, 0.4), (1, 0.3), (0, 0.9)]
    assert tell_all(live, *rewards) == [0, 1, 2, 0, 1, 2]
    # t = 7 and 8: only arm 1 fits into 0.8 and has pulls left, twice; 0.2 stays
    assert live.probabilities().tolist() == [0, 1, 0, 0]
    assert tell_all(live, (1, 0.3), (0, 0.3)) == [1, 1]
    # t = 9: r / c = (1 / 0.4, (1/2) / 0.3, (1/2) / 0.9) = (2.5, 1.67, 0.56); arm 0 has no pulls
    # left, arm 1 one, and 8 - 3.8 = 4.2 is left
    assert live.probabilities().tolist() == [0, 1, 0, 0]
    assert tell_all(live, (1, 0.3)) == [1]
    # t = 10: 3.9 is left, which buys arm 2 four times
    assert tell_all(live, *[(1, 0.9)] * 4) == [2] * 4
    with pytest.raises(purse.AskRefused, match="has ended the game after 13 rounds"):
        live.ask()


@pytest.mark.parametrize("out", [1, 30])
@pytest.mark.parametrize("learn", ["first", "always"])
@pytest.mark.parametrize("epsilon", [0, 0.25])
@pytest.mark.parametrize("caps", [[2000, 900, 10, 0, 10**6], [100, 10**9, 1, 30, 500]])
def test_follows_the_rule(caps: list[int], epsilon: float, learn: str, out: int) -> None:
    world = worlds.function("bernoulli")(REWARDS, COSTS)
    live = make_live(
        world,
        f"bounded-epsilon-first:epsilon={epsilon},learn={learn}",
        budget=2000.01,
        costs=COSTS,
        caps=caps,
    )
    plain = Plain(COSTS, caps, 2000.01, epsilon, frozen=learn == "first")
    assert largest_deviation(live, plain, world, 2000, out=out) < EXACT


@pytest.mark.parametrize("seed", range(12))
def test_follows_the_rule_until_nothing_can_be_pulled(seed: int) -> None:
    random, coins = Random(seed), np.random.default_rng(seed)
    costs, caps = (
        [random.randint(10, 99) / 100 for _ in range(8)],
        [random.choice([0, 1, 5, 30, 10**6]) for _ in range(8)],
    )
    budget, epsilon = random.randint(50, 4000) / 100, random.choice([0, 0.3, 1])
    live, plain = (
        live_for(costs, budget, caps, f":epsilon={epsilon}", seed=seed, stop="exit"),
        Plain(costs, caps, budget, epsilon, frozen=True),
    )
    for t in range(1, 10**6):
        chances = plain.probabilities(t)
        assert np.abs(live.probabilities() - chances).max() < EXACT
        if chances.sum() == 0:
            break
        ticket = live.ask()
        reward = float(coins.random() < 0.5)
        assert live.tell(ticket, reward, costs[ticket.arm])
        plain.learn(ticket.t, ticket.arm, ticket.probability, reward, 0)
    assert min(plain.room) >= 0
    assert not any(plain.usable(i, plain.left) for i in range(8))
    with pytest.raises(purse.AskRefused):
        live.ask()


def test_without_caps_it_is_epsilon_first() -> None:
    world = worlds.function("bernoulli")(REWARDS, COSTS)
    for options in ("", ":epsilon=0.3", ":learn=always"):
        plain = purse.simulate(f"epsilon-first{options}", world, 100, n_paths=20)
        for caps in (None, 10**6, 10**30):
            assert (
                purse.simulate(
                    f"bounded-epsilon-first{options}", world, 100, n_paths=20, caps=caps
                ).pulls
                == plain.pulls
            ).all()


@pytest.mark.parametrize("stop", ["exit", "hold", "retry"])
@pytest.mark.parametrize(
    "caps", [[40, 30, 20, 10, 0], [0, 0, 0, 0, 7], [1, 1, 1, 1, 1], [0, 10**6, 3, 0, 0]]
)
def test_caps_hold_and_all_that_they_allow_is_spent(stop: str, caps: list[int]) -> None:
    world = worlds.function("bernoulli")(REWARDS, COSTS)
    for budget in (0.35, 1, 2.2, 30):
        run = purse.simulate(
            "bounded-epsilon-first", world, budget, n_paths=20, caps=caps, stop=stop
        )
        assert (run.pulls <= caps).all()
        stuck = (run.pulls == caps) | (np.array(COSTS) > budget - run.spent + 1e-9)
        assert stuck.all()


def test_caps_of_nothing_end_the_game_at_once() -> None:
    run = purse.simulate(
        "bounded-epsilon-first",
        worlds.function("bernoulli")(REWARDS, COSTS),
        10,
        n_paths=2,
        caps=0,
    )
    assert run.rounds.tolist() == [0, 0]


def test_arms_with_pulls_left_share_the_exploration_evenly() -> None:
    world = worlds.function("bernoulli")([0.5] * 4, [0.5] * 4)
    run = purse.simulate(
        "bounded-epsilon-first:epsilon=1", world, 31, n_paths=2, caps=[2, 10**6, 10**6, 10**6]
    )
    # two sweeps of four arms, then 54 pulls for three
    assert run.pulls.tolist() == [[2, 20, 20, 20]] * 2


def test_arms_that_may_not_be_pulled_take_nothing_of_the_sweep() -> None:
    problem = Problem.of(n_arms=3, budget=100, cost_min=0.5, costs=[0.5, 1, 0.5], caps=[3, 0, 5])
    assert bounded_epsilon_first.params(problem, epsilon=0).explore == 10**9


def test_comes_near_what_the_caps_allow() -> None:
    caps, budget = [48_000, 64_000, 10**6, 10**6, 10**6], 40_000
    run = purse.simulate(
        "bounded-epsilon-first",
        worlds.function("bernoulli")(REWARDS, COSTS),
        budget,
        n_paths=20,
        caps=caps,
    )
    best = knapsack.bounded(REWARDS, COSTS, caps, budget)
    assert (run.pulls[:, 0] == 48_000).all()
    b = budget / 0.9
    explored = (3 * math.log(5 * b * 3) / (2 * b)) ** (1 / 3) * budget
    # a sweep of 2.7 spends 1.9 on arms 2, 3 and 4, which pay 1.3, where arm 1 would pay 1.9; what
    # it spends on arms 0 and 1 is not lost
    assert best - run.gain.mean() == pytest.approx(
        0.6 / 2.7 * explored, abs=4 * run.gain.std() / np.sqrt(20)
    )


@pytest.mark.parametrize("caps", [5, [40, 30, 20, 0]])
def test_passes_the_checks_with_caps(caps: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = epsilon_first.params_for

    def capped(name: str, problem: Problem, epsilon: Any, learn: str) -> Any:
        made = known(name, problem, epsilon, learn)
        return made._replace(prices=made.prices._replace(caps=np.resize(caps, problem.n_arms)))

    monkeypatch.setattr(bounded_epsilon_first, "params_for", capped)
    check_policy("bounded-epsilon-first")


def test_one_arm() -> None:
    live = live_for([0.5], 10, 3)
    assert tell_all(live, (1, 0.5), (0, 0.5), (1, 0.5)) == [0, 0, 0]
    with pytest.raises(purse.AskRefused):
        live.ask()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("epsilon=2", r"epsilon=2: must be a number at least 0 and at most 1"),
        ("epsilon=x", r"epsilon='x': must be 'theory' or a number from 0 to 1"),
        ("learn=never", r"learn='never': must be one of 'first', 'always'"),
        ("caps=3", r"unknown option of bounded-epsilon-first 'caps'"),
    ],
)
def test_options_are_checked(option: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        live_for(COSTS, 10, 5, f":{option}")


def test_refuses_costs_that_it_does_not_know_or_that_are_nothing() -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"^bounded-epsilon-first needs to know what each arm costs"
    ):
        purse.simulate("bounded-epsilon-first", "misleading_ratio", 10, caps=4)
    with pytest.raises(
        purse.InvalidInput,
        match=r"^costs=\[0\.0, 0\.5\]: must be positive for bounded-epsilon-first",
    ):
        purse.Policy(
            "bounded-epsilon-first",
            n_arms=2,
            budget=10,
            cost_min=[0, 0.5],
            costs=[0, 0.5],
            horizon=10,
        )


@pytest.mark.parametrize("told", [{"plays": 2}, {"n_resources": 2}])
def test_refuses_several_plays_and_resources(told: dict[str, int]) -> None:
    with pytest.raises(purse.InvalidInput, match=r"^bounded-epsilon-first plays problems with "):
        purse.Policy("bounded-epsilon-first", n_arms=3, budget=10, cost_min=0.5, costs=0.5, **told)
