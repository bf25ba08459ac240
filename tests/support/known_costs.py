"""What the tests of the policies share that know what each arm costs: plain rules, with money in
hundredths, and games that are played out.
"""

import math
from random import Random
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.types import Floats
from tests.support.policies import EXACT

REWARDS, COSTS = [0.42, 0.5, 0.4, 0.3, 0.6], [0.3, 0.5, 0.6, 0.4, 0.9]
COSTS_10 = [0.37, 0.91, 0.23, 0.55, 0.49, 0.83, 0.71, 0.29, 0.61, 0.97]
WORLD = worlds.function("bernoulli")(REWARDS, COSTS)


def live_for(
    policy: str, costs: list[float], budget: float, caps: Any = None, **told: Any
) -> purse.Policy:
    """A live policy that knows these costs."""
    told = {"stop": "hold", "cost_min": costs, "cost_max": costs, "costs": costs, **told}
    return purse.Policy(policy, n_arms=len(costs), budget=budget, caps=caps, **told)


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
    """What each rule keeps; `costs` are in largest costs, `room` is how often an arm may come."""

    def __init__(self, costs: list[float], budget: float, caps: list[int] | None = None) -> None:
        self.cents, self.left = [round(100 * cost) for cost in costs], round(100 * budget)
        self.costs, self.arms = [cost / max(costs) for cost in costs], range(len(costs))
        self.room = [10**18] * len(costs) if caps is None else list(caps)
        self.pulls, self.rewards = [0] * len(costs), [0.0] * len(costs)

    def usable(self, i: int, money: float | None = None) -> bool:
        return self.cents[i] <= (self.left if money is None else money) and self.room[i] > 0

    def scores(self, t: int) -> list[float]:
        """The mean reward per cost, with a bonus for few pulls; infinite without a report."""
        return [
            (self.rewards[i] / self.pulls[i] + self.bonus(t, self.pulls[i])) / self.costs[i]
            if self.pulls[i]
            else math.inf
            for i in self.arms
        ]

    def bonus(self, t: int, pulls: int) -> float:
        return math.sqrt(2 * math.log(t - 1) / pulls)

    def probabilities(self, t: int) -> Floats:
        raise NotImplementedError

    def largest(self, t: int) -> Floats:
        """Equal chances for the arms with the largest score among those that are usable."""
        scores = self.scores(t)
        most = max((scores[i] for i in self.arms if self.usable(i)), default=math.inf)
        best = [i for i in self.arms if self.usable(i) and scores[i] == most]
        return np.isin(self.arms, best) / max(1, len(best))

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.left -= self.cents[arm]
        self.room[arm] -= 1
        self.pulls[arm] += 1
        self.rewards[arm] += reward


class PlainKube(Plain):
    """KUBE, with caps or without."""

    def __init__(self, costs: list[float], budget: float, caps: list[int] | None = None) -> None:
        super().__init__(costs, budget, caps)
        self.first = [i for i in self.arms if self.room[i] > 0]

    def probabilities(self, t: int) -> Floats:
        if t <= len(self.first) and self.usable(self.first[t - 1]):
            return np.eye(len(self.costs))[self.first[t - 1]]
        missing = [float(self.pulls[i] == 0 and self.usable(i)) for i in self.arms]
        counts = (
            missing if any(missing) else greedy(self.scores(t), self.cents, self.room, self.left)
        )
        return np.array(counts) / max(1, sum(counts))


class PlainFractionalKube(Plain):
    def probabilities(self, t: int) -> Floats:
        return np.eye(len(self.costs))[t - 1] if t <= len(self.costs) else self.largest(t)


class PlainEpsilonFirst(Plain):
    """Epsilon-first, with caps or without; `frozen` learns nothing from exploitation."""

    def __init__(
        self,
        costs: list[float],
        budget: float,
        caps: list[int] | None = None,
        *,
        epsilon: float,
        frozen: bool = True,
    ) -> None:
        super().__init__(costs, budget, caps)
        sweep = sum(self.cents[i] for i in self.arms if self.room[i] > 0)
        self.explore = min(float(self.left), max(epsilon * self.left, sweep)) + 1e-6
        self.unseen, self.frozen = self.explore, frozen

    def bonus(self, t: int, pulls: int) -> float:
        return 0.0

    def probabilities(self, t: int) -> Floats:
        fit = [i for i in self.arms if self.usable(i, self.explore)]
        return np.eye(len(self.costs))[fit[(t - 1) % len(fit)]] if fit else self.largest(t)

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        known = self.pulls[arm], self.rewards[arm]
        super().learn(t, arm, probability, reward, cost)
        self.explore -= self.cents[arm]
        if self.frozen and known[0] and self.cents[arm] > self.unseen:
            self.pulls[arm], self.rewards[arm] = known
        else:
            self.unseen -= self.cents[arm]


def random_game(seed: int) -> tuple[list[float], float, list[int]]:
    """Costs, budget and caps."""
    random = Random(seed)
    costs = [random.randint(10, 99) / 100 for _ in range(8)]
    caps = [random.choice([0, 1, 5, 30, 10**6]) for _ in range(8)]
    return costs, random.randint(50, 4000) / 100, caps


def play_out(live: purse.Policy, plain: Plain, costs: list[float], seed: int = 0) -> list[Floats]:
    """The probabilities of all rounds until nothing can be pulled: both have the same ones, and all
    is spent that buys an arm.
    """
    coins, played = np.random.default_rng(seed), list[Floats]()
    while (chances := plain.probabilities(len(played) + 1)).sum() > 0:
        assert np.abs(live.probabilities() - chances).max() < EXACT
        played.append(chances)
        ticket, reward = live.ask(), float(coins.random() < 0.5)
        assert live.tell(ticket, reward, costs[ticket.arm])
        plain.learn(ticket.t, ticket.arm, ticket.probability, reward, 0)
    assert not live.probabilities().any()
    assert min(plain.room) >= 0
    assert not any(plain.usable(i) for i in plain.arms)
    assert live.left == pytest.approx(plain.left / 100)
    with pytest.raises(purse.AskRefused):
        live.ask()
    return played


def caps_hold(policy: str, rules: tuple[str, ...] = ("exit", "hold", "retry")) -> None:
    """The caps hold and all that they allow is spent, under each rule; caps of nothing end the
    game at once.
    """
    for caps in ([40, 30, 20, 10, 0], [0, 0, 0, 0, 7], [1] * 5, [0, 10**6, 3, 0, 0], [0] * 5):
        for stop in rules:
            for budget in (0.35, 1, 2.2, 30):
                run = purse.simulate(policy, WORLD, budget, n_paths=20, caps=caps, stop=stop)
                left = budget - run.spent + 1e-9
                assert (run.pulls <= caps).all()
                assert ((run.pulls == caps) | (np.array(COSTS) > left)).all()
    with pytest.raises(purse.AskRefused, match=f"{policy} has ended the game after 0 rounds"):
        live_for(policy, COSTS, 10, 0).ask()
