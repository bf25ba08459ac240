"""Learners of arms and of prices at the same time: LagrangeBwK and primal-dual for both worlds."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purse
from purse import worlds
from purse.kernels.exp3_p import tuned
from purse.kernels.primal_dual import project
from purse.kernels.random import POLICY, U, at, stream, uniform
from purse.policies import bobw_primal_dual, lagrange_bwk
from purse.types import SKIP, Floats, Problem
from tests.support.knapsack_learners import (
    PlainPrimal,
    follow,
    live_for,
    three_arms,
    two_budgets,
    two_resources,
)
from tests.support.policies import passes
from tests.support.soak import SOAK, scale

ROUNDS = scale(400, 2000)


class PlainLagrange(PlainPrimal):
    """The two learners written out; prices from the sums of costs and the number of rounds."""

    def __init__(
        self, budgets: list[float], horizon: int | None, rounds: int, stake: float | None = None
    ) -> None:
        super().__init__(3, budgets, horizon or rounds, skips=horizon is not None)
        self.timed = stake is None
        self.z = self.rounds / self.budget if stake is None else stake
        self.spent = np.zeros(len(budgets))

    def prices(self, t: int) -> Floats:
        used = (
            [*self.spent, (t - 1) * self.budget / self.rounds] if self.timed else list(self.spent)
        )
        eta = math.sqrt(8 * math.log(len(used)) / self.rounds)
        weights = [math.exp(eta * self.z * (use - max(used)) / (1 + self.z)) for use in used]
        return np.array(weights) / sum(weights)

    def payoff(self, q: Floats, reward: float, cost: Floats) -> float:
        """r + 1 - z c_j, mixed by q, brought from [1 - z, 2] to [0, 1]."""
        everything = np.append(cost, self.budget / self.rounds) if self.timed else cost
        return float(q @ (reward + 1 - self.z * everything) + self.z - 1) / (1 + self.z)

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Any) -> None:
        q, used = self.prices(t), self.factors * cost
        pulled, idle = self.payoff(q, reward, used), self.payoff(q, 0.0, 0 * used)
        self.gain(self.book(t), arm, probability, pulled, idle)
        self.spent += used


@pytest.mark.parametrize(("out", "horizon"), [(30, None), (1, 12_000), (30, 2000)])
def test_lagrange_follows_the_formula(out: int, horizon: int | None) -> None:
    live = live_for(three_arms(), "lagrange-bwk", [3000], horizon)
    follow(live, PlainLagrange([3000], horizon, 15_000), three_arms(), ROUNDS, out=out)


@pytest.mark.parametrize(
    ("form", "horizon", "out"),
    [("stochastic", None, 20), ("adversarial", None, 1), ("adversarial", 8000, 20)],
)
def test_lagrange_follows_the_formula_with_two_resources(
    out: int, horizon: int | None, form: str
) -> None:
    live = live_for(two_resources(), f"lagrange-bwk:form={form}", [3000, 4000], horizon)
    draw = uniform(U(at(U(stream(0, 0, POLICY)), 1)), 1)
    stake = (horizon or 30_000) ** ((1 + draw) / 2) / (3 * 2000)
    plain = PlainLagrange([3000, 2000], horizon, 30_000, None if form == "stochastic" else stake)
    follow(live, plain, two_resources(), ROUNDS, out=out)


def test_the_guess_is_between_the_root_of_t_and_t_and_stays() -> None:
    known = lagrange_bwk.params(
        Problem.of(n_arms=2, budget=50, cost_min=0.5, horizon=100), form="adversarial"
    )
    parts = []  # u: the guess is 2 * 50 z = 100^((1 + u) / 2)
    for path in range(4000):
        ours = U(stream(3, path, POLICY))
        drawn = {lagrange_bwk.stake(U(at(ours, t)), known, t) for t in (1, 2, 77, 10**6)}
        assert len(drawn) == 1
        parts.append(math.log(100 * drawn.pop(), 10) - 1)
    assert min(parts) >= 0
    assert max(parts) <= 1
    counts = np.histogram(parts, bins=8, range=(0, 1))[0]
    assert (np.abs(counts - 500) < 4 * math.sqrt(4000 * (1 / 8) * (7 / 8))).all()


def test_parameters_of_lagrange_as_numbers() -> None:
    known = lagrange_bwk.params(two_budgets([50, 400], 200), delta=0.1)
    assert lagrange_bwk.stake(U(7), known, 3) == 4
    assert known.factors.tolist() == [1, 0.25]
    assert known.eta == pytest.approx(math.sqrt(8 * math.log(3) / 200))
    assert known.primal == tuned(4, 1.0, 200, 0.1)
    plenty = lagrange_bwk.params(Problem.of(n_arms=3, budget=800, cost_min=0.5, horizon=200))
    assert (lagrange_bwk.stake(U(7), plenty, 3), plenty.factors.tolist()) == (1, [0.25])
    alone = lagrange_bwk.params(Problem.of(n_arms=3, budget=50, cost_min=0.5), form="adversarial")
    assert (alone.eta, alone.primal.n_arms) == (0, 3)


@pytest.mark.parametrize(
    ("form", "horizon"), [("adversarial", 200), ("stochastic", None), ("adversarial", None)]
)
def test_lagrange_passes_the_checks_with_two_resources(form: str, horizon: int | None) -> None:
    passes(f"lagrange-bwk:form={form}", two_resources(), horizon=horizon)


def plain_projection(point: Floats, size: float) -> Floats:
    """The usual way: sort, and find how many stay above 0."""
    if np.maximum(point, 0).sum() <= size:
        return np.maximum(point, 0)
    falling = np.sort(point)[::-1]
    losses = (np.cumsum(falling) - size) / np.arange(1, len(point) + 1)
    return np.maximum(point - losses[np.flatnonzero(falling > losses)[-1]], 0)


class PlainBobw(PlainPrimal):
    """The two learners written out; skipped rounds move the prices one by one."""

    def __init__(
        self, budgets: list[float], horizon: int | None, rounds: int, eta: float | None = None
    ) -> None:
        super().__init__(3, budgets, horizon or rounds, skips=horizon is not None)
        self.rho = self.budget / self.rounds
        self.eta = eta or 1 / (self.rho * math.sqrt(len(budgets) * self.rounds))
        self.prices, self.dearest = np.zeros(len(budgets)), 0.0

    def gap(self, live: purse.Policy) -> float:
        return max(super().gap(live), *np.abs(live.state.prices - self.prices))

    def utility(self, worth: float) -> float:
        return (worth + 1 / self.rho) / (1 + 1 / self.rho)

    def step(self, rounds: int, cost: Floats) -> None:
        self.prices = plain_projection(
            self.prices - self.eta * (rounds * self.rho - cost), 1 / self.rho
        )
        self.dearest = max(self.dearest, self.prices.sum())

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Any) -> None:
        passed, used = self.book(t), self.factors * cost
        for _ in range(passed - 1):
            self.step(1, 0 * used)
        worth = reward - float(self.prices @ used)
        self.gain(passed, arm, probability, self.utility(worth), self.utility(0.0))
        self.step(min(1, passed), used)


@pytest.mark.parametrize(("out", "horizon"), [(30, None), (1, 12_000), (30, 2000)])
def test_follows_the_formula(out: int, horizon: int | None) -> None:
    live = live_for(three_arms(), "bobw-primal-dual", [3000], horizon)
    follow(live, PlainBobw([3000], horizon, 15_000), three_arms(), ROUNDS, out=out)


@pytest.mark.parametrize(("out", "horizon"), [(20, None), (1, 8000)])
def test_follows_the_formula_with_two_resources_and_prices_at_their_limit(
    out: int, horizon: int | None
) -> None:
    live = live_for(two_resources(), "bobw-primal-dual:eta=1.5", [3000, 4000], horizon)
    plain = PlainBobw([3000, 2000], horizon, 30_000, eta=1.5)
    # prices are added up to 1/rho = 15
    follow(live, plain, two_resources(), ROUNDS, out=out, near=1e-11)
    assert plain.dearest == pytest.approx(plain.rounds / 2000)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8), st.floats(0.01, 5))
def test_projection(point: list[float], size: float) -> None:
    found = np.array(point)
    project(found, size)
    assert found == pytest.approx(plain_projection(np.array(point), size), abs=1e-12)
    assert (found >= 0).all()
    assert found.sum() <= size + 1e-12


def test_does_nothing_once_a_pull_might_not_be_paid() -> None:
    live = purse.Policy(
        "bobw-primal-dual", n_arms=1, budget=3, cost_min=0.5, horizon=40, stop="exit"
    )
    paid = 0
    for _ in range(40):
        ticket = live.ask()
        if live.left < 1:
            assert (ticket.arm, ticket.probability) == (SKIP, 1)
        elif not ticket.skipped:
            live.tell(ticket, 1, 0.7)
            paid += 1
    assert paid == 3  # after which 0.9 is left


def test_the_last_pull_that_can_be_paid_is_made() -> None:
    world = worlds.function("bernoulli")([1], [0.3])
    run = purse.simulate("bobw-primal-dual", world, 3, n_paths=20, horizon=2000)
    assert (run.pulls[:, 0] == 10).all()
    assert (run.rounds == 2000).all()


def test_parameters_as_numbers() -> None:
    known = bobw_primal_dual.params(two_budgets([50, 400], 400), delta=0.1)
    # 1 / (sqrt(2 * 400) / 8)
    assert known.eta == pytest.approx(8 / math.sqrt(800))
    assert (known.rho, known.factors.tolist()) == (0.125, [1, 0.25])
    assert known.primal == tuned(4, 1.0, 400, 0.1)
    plenty = bobw_primal_dual.params(Problem.of(n_arms=3, budget=800, cost_min=0.5, horizon=400))
    assert (plenty.rho, plenty.factors.tolist()) == (1, [0.5])


@pytest.mark.parametrize("horizon", [200, *([None] if SOAK else [])])
def test_passes_the_checks_with_two_resources(horizon: int | None) -> None:
    passes("bobw-primal-dual", two_resources(), horizon=horizon)
