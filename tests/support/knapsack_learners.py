"""What the tests of the policies share that play knapsacks of several resources or skip rounds: a
live policy held, round by round, against a plain learner.
"""

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any, Protocol

import numpy as np
import pytest

import purse
from purse import worlds
from purse.base import amounts
from purse.engine.draws import draws
from purse.kernels.exp3_p import tuned
from purse.types import Floats, Problem, Ticket, World
from tests.support.policies import EXACT, make_live
from tests.support.soak import scale


class Actor(Protocol):
    """A rule that knows its chances `p` of each arm and, last, of doing nothing, and how far a live
    policy is from what it has learnt; `cost` is a number where there is one resource.
    """

    p: Floats

    def gap(self, live: purse.Policy) -> float: ...

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Any) -> None: ...


class Reports:
    """What a world pays: at most `out` tickets wait, and are told to a live policy and to `learn`
    in a random order.
    """

    def __init__(
        self, live: purse.Policy, learn: Callable[..., None], world: World, n_rounds: int, out: int
    ) -> None:
        self.live, self.learn, self.out = live, learn, out
        self.rewards, self.costs = draws(world, n_rounds)
        self.order, self.waiting = np.random.default_rng(0), list[Ticket]()

    def add(self, ticket: Ticket) -> None:
        self.waiting += [] if ticket.skipped else [ticket]
        while len(self.waiting) >= self.order.integers(1, self.out + 1):
            self.tell(self.waiting.pop(self.order.integers(len(self.waiting))))

    def tell(self, ticket: Ticket) -> None:
        arms = list(ticket.arms)
        rewards, units = self.rewards[ticket.t - 1, arms], self.costs[ticket.t - 1, arms]
        assert self.live.tell(ticket, rewards, units / amounts.UNIT)
        costs = units * self.live.problem.unit_scale
        for k, arm in enumerate(arms):
            cost = costs[k] if costs.shape[1] > 1 else float(costs[k, 0])
            self.learn(ticket.t, arm, ticket.probabilities[k], float(rewards[k]), cost)


def follow(
    live: purse.Policy,
    plain: Actor,
    world: World,
    n_rounds: int,
    *,
    out: int = 1,
    near: float = EXACT,
) -> None:
    """Check that the gap is small in every round, and that the counts of the actions are within
    four standard errors of their chances.
    """
    reports = Reports(live, plain.learn, world, n_rounds, out)
    counts, expected, variance = np.zeros((3, len(plain.p)))
    for _ in range(n_rounds):
        assert plain.gap(live) < near
        ticket = live.ask()
        assert ticket.probability == pytest.approx(plain.p[ticket.arm], abs=max(near, 1e-12))
        counts[ticket.arm] += 1
        expected += plain.p
        variance += np.maximum(plain.p * (1 - plain.p), 0)
        reports.add(ticket)
    assert (np.abs(counts - expected) < 4 * np.sqrt(variance + 1e-9)).all()


class PlainPrimal:
    """EXP3.P over the arms and, where rounds may be skipped, over doing nothing; budgets as
    policies see them.
    """

    def __init__(self, n_arms: int, budgets: list[float], rounds: int, *, skips: bool) -> None:
        self.n_arms, self.n_actions, self.rounds = n_arms, n_arms + skips, rounds
        self.budget = min([*budgets, rounds])
        self.factors = np.array([self.budget / budget for budget in budgets])
        self.primal = tuned(self.n_actions, 1.0, rounds, 0.05)
        self.gains, self.p = np.zeros(self.n_actions), np.full(self.n_actions, 1 / self.n_actions)
        self.booked = 0

    def gap(self, live: purse.Policy) -> float:
        return float(np.abs(live.state.chances - self.p).max())

    def book(self, t: int) -> int:
        """How many rounds have passed up to the report of round t."""
        passed = max(0, t - self.booked)
        self.booked = max(self.booked, t)
        return passed

    def gain(self, passed: int, arm: int, probability: float, payoff: float, idle: float) -> None:
        """Learn what a pull was worth, and what doing nothing was in each round that passed."""
        self.gains += (passed - 1) * self.primal.beta / self.p
        if self.n_actions > self.n_arms:
            self.gains[-1] += passed * idle
        self.p[arm] = probability
        self.gains += self.primal.beta / self.p
        self.gains[arm] += payoff / probability
        weights = np.exp(self.primal.eta * (self.gains - self.gains.max()))
        gamma = self.primal.gamma
        self.p = (1 - gamma) * weights / weights.sum() + gamma / self.n_actions


def pairs_come_equally_often(live: purse.Policy) -> None:
    """Each pair of four arms, with the chances of 1/2 that go with that."""
    counts = dict.fromkeys(combinations(range(4), 2), 0)
    n = scale(2400, 6000)
    for _ in range(n):
        ticket = live.ask()
        assert ticket.probabilities == (0.5, 0.5)
        counts[ticket.arms[0], ticket.arms[1]] += 1
        live.void(ticket)
    band = 4 * math.sqrt(n * (1 / 6) * (5 / 6))
    assert all(abs(count - n / 6) < band for count in counts.values())


def three_arms() -> World:
    return worlds.function("two_point")([0.9, 0.6, 0.3], [0.6, 0.4, 0.9], cost_min=0.2)


def four_arms() -> World:
    return worlds.function("two_point")([0.3, 0.95, 0.5, 0.45], [0.3, 0.9, 0.6, 0.35], cost_min=0.2)


def two_resources() -> World:
    """The first resource costs at least 0.1; of the second, with a largest cost of 2, an arm may
    take nothing.
    """
    return worlds.function("atoms")(
        probabilities=[[0.5, 0.5], [0.3, 0.7], [0.9, 0.1]],
        rewards=[[1, 0], [1, 0], [1, 0]],
        costs=[[[1, 0.2], [0.5, 0]], [[0.2, 2], [0.1, 1]], [[0.6, 1], [0.6, 1.5]]],
    )


def two_budgets(budget: list[float], horizon: int) -> Problem:
    """Three arms and two resources, the second with a largest cost of 2."""
    costs: dict[str, Any] = {"cost_min": 0.5, "cost_max": [[1, 2]] * 3}
    return Problem.of(n_arms=3, budget=budget, n_resources=2, horizon=horizon, **costs)


def live_for(
    world: World, policy: str, budget: list[float], horizon: int | None, **told: Any
) -> purse.Policy:
    """A live policy that knows the least and largest costs of a world."""
    told = {"n_resources": world.n_resources, "horizon": horizon, **told}
    return make_live(world, policy, budget=budget, **told)
