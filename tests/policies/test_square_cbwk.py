from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.policies import square_cbwk
from purse.testing import check_policy
from purse.types import Floats, Problem
from tests.support.context_rows import Answers, context_of, live_equals_engine, live_on, rows_of
from tests.support.soak import SOAK, scale

ROUNDS = scale(200, 400)


class Plain:
    """The formula written out: both regressions are solved anew in every round."""

    def __init__(self, live: purse.Policy, g: float, horizon: int | None) -> None:
        problem = live.problem
        self.least = (problem.cost_min * problem.unit_scale)[:, 0]
        self.most = (problem.cost_max * problem.unit_scale)[:, 0]
        self.scale, self.budget, self.horizon = 1 / problem.cost_max.max() * 1e9, problem.b, horizon
        self.g, self.n_arms = g, problem.n_arms
        self.seen: list[list[tuple[Floats, float, float]]] = [[] for _ in range(self.n_arms)]
        self.spent, self.earned, self.squares, self.n_reports = 0.0, 0.0, 0.0, 0

    def price(self, t: int) -> float:
        """In reward per cost."""
        if self.horizon is None:
            middle = (self.least + self.most).mean() / 2
            return (0.5 + self.earned) / (middle + self.spent)
        rate = self.horizon / self.budget
        over = self.spent * rate - (t - 1)
        q = 1 + self.squares + (t - 1 - self.n_reports)
        return min(1.0, max(0.0, 0.3 * over / math.sqrt(q))) * rate

    def probabilities(self, t: int, context: list[float]) -> tuple[Floats, float]:
        """The probability of each arm, and the largest gap times gamma."""
        x = np.array([*context, 1.0])
        scores = np.zeros(self.n_arms)
        for i, reports in enumerate(self.seen):
            start = np.zeros((2, len(x)))
            start[:, -1] = 0.5, reports[0][2] if reports else 0.0
            a = np.array([row for row, _, _ in reports]).reshape(-1, len(x))
            b = np.array([values for _, *values in reports]).reshape(-1, 2)
            inverse = np.linalg.inv(np.eye(len(x)) + a.T @ a)
            reward, cost = (start.T + inverse @ a.T @ (b - a @ start.T)).T @ x
            cost = min(self.most[i], max(self.least[i], cost))
            scores[i] = min(1.0, max(0.0, reward)) - self.price(t) * cost
        values = scores if self.horizon is None else np.append(scores, 0.0)
        gamma = self.g * math.sqrt(self.n_arms * (self.horizon or t) / len(x))
        chances = 1 / (len(values) + gamma * (values.max() - values))
        best = values.argmax()
        chances[best] = 0.0
        chances[best] = 1 - chances.sum()
        return chances[: self.n_arms], gamma * float(np.ptp(values))

    def learn(self, arm: int, context: list[float], reward: float, cost: float) -> None:
        cost *= self.scale
        self.seen[arm].append((np.array([*context, 1.0]), reward, cost))
        self.spent += cost
        self.earned += reward
        self.n_reports += 1
        if self.horizon is not None:
            self.squares += (cost * self.horizon / self.budget - 1) ** 2


@pytest.mark.parametrize(("horizon", "g"), [(ROUNDS, 1), (None, 0.05)])
def test_follows_the_formula(horizon: int | None, g: float) -> None:
    world = rows_of(ROUNDS)
    budget = 0.3 * ROUNDS if horizon else 1e6
    live = live_on(f"square-cbwk:g={g}", world, budget, horizon)
    plain, answers = Plain(live, g, horizon), Answers(world, ROUNDS)
    skipped = 0
    for t in range(1, ROUNDS - 50):  # the budget may end a little before the rounds do
        context = context_of(world, t)
        ours = live.probabilities(context=context)
        theirs, gap = plain.probabilities(t, context)
        assert ours == pytest.approx(theirs, abs=1e-9)
        assert ours.min() >= 1 / (3 + (horizon is not None) + gap) - 1e-9
        if horizon is None:
            assert abs(ours.sum() - 1) < 1e-12
        ticket = live.ask(context=context)
        if ticket.skipped:
            skipped += 1
            assert abs(ours.sum() + ticket.probability - 1) < 1e-12
        else:
            assert ticket.probability == ours[ticket.arm]
            plain.learn(ticket.arm, context, *answers.tell(live, ticket))
    assert (skipped > 0) == (horizon is not None)


def test_arms_come_as_often_as_they_should() -> None:
    world = worlds.function("bernoulli")([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])
    n = 100_000
    run = purse.simulate("square-cbwk:g=2", world, 10, n_paths=n, horizon=1)
    nothing = 1 / (4 + 2 * math.sqrt(3) / 2)
    chances = np.array([0.5 - nothing, 0.25, 0.25])
    errors = np.sqrt(chances * (1 - chances) / n)
    assert (np.abs(run.pulls.mean(axis=0) - chances) < 4 * errors).all()


def test_live_equals_engine() -> None:
    live_equals_engine("square-cbwk", rows_of(ROUNDS), 0.3 * ROUNDS, ROUNDS)
    live_equals_engine("square-cbwk", rows_of(ROUNDS, per_arm=True), 0.15 * ROUNDS)


@pytest.mark.skipif(not SOAK, reason="another number of resources is compiled again")
def test_two_resources_have_two_prices() -> None:
    live = purse.Policy(
        "square-cbwk", n_arms=2, n_resources=2, budget=[50, 50], cost_min=0.1, horizon=100, seed=1
    )
    live.tell(live.ask(), 1, [0.2, 0.9])
    chances = live.probabilities()
    assert live._game.scratch.prices[0] == 0 < live._game.scratch.prices[1] < 1
    assert 0 < chances.sum() < 1
    check_policy("square-cbwk", worlds.function("bernoulli")([0.9, 0.4], [[0.5, 1], [1, 0.5]]))


def test_gamma_and_options() -> None:
    known = Problem.of(n_arms=3, budget=100, cost_min=0.5, horizon=400, n_features=3)
    assert square_cbwk.params(known).gamma == pytest.approx(16 * math.sqrt(300))
    assert square_cbwk.params(known, g=2).gamma == pytest.approx(2 * math.sqrt(300))
