from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.base import amounts
from purse.engine.draws import draws
from purse.kernels.exp3_p import tuned
from purse.kernels.random import POLICY, U, at, stream, uniform
from purse.lab.theory.fluid import lp_optimum
from purse.policies import lagrange_bwk
from purse.types import Floats, Problem
from tests.support.knapsack_learners import (
    PlainPrimal,
    follow,
    live_for,
    three_arms,
    two_budgets,
    two_resources,
)
from tests.support.policies import passes
from tests.support.soak import scale

ROUNDS = scale(400, 2000)


class Plain(PlainPrimal):
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


def test_prices_are_those_of_hedge_on_the_payoffs_of_the_game() -> None:
    """The reward is the same for all resources, and so drops out."""
    world, n_rounds = two_resources(), 200
    live = live_for(world, "lagrange-bwk", [3000, 4000], 8000)
    rewards, costs = draws(world, n_rounds)
    z, factors, eta = 4.0, np.array([2 / 3, 1]), math.sqrt(8 * math.log(3) / 8000)
    payoffs = np.zeros(3)
    for _ in range(n_rounds):
        ticket = live.ask()
        reward, cost = 0.0, np.array([0, 0, 0.25])
        if not ticket.skipped:
            units = costs[ticket.t - 1, ticket.arm]
            reward = float(rewards[ticket.t - 1, ticket.arm])
            live.tell(ticket, reward, [(units / amounts.UNIT).tolist()])
            cost[:2] = factors * units * live.problem.unit_scale
            weights = np.exp(-eta * (payoffs - payoffs.min()))
            assert live._game.scratch.prices == pytest.approx(weights / weights.sum(), abs=1e-12)
        payoffs += (reward + 1 - z * cost + z - 1) / (1 + z)


@pytest.mark.parametrize(("out", "horizon"), [(30, None), (1, 12_000), (30, 2000)])
def test_follows_the_formula(out: int, horizon: int | None) -> None:
    live = live_for(three_arms(), "lagrange-bwk", [3000], horizon)
    follow(live, Plain([3000], horizon, 15_000), three_arms(), ROUNDS, out=out)


@pytest.mark.parametrize(
    ("form", "horizon", "out"),
    [("stochastic", None, 20), ("adversarial", None, 1), ("adversarial", 8000, 20)],
)
def test_follows_the_formula_with_two_resources(out: int, horizon: int | None, form: str) -> None:
    live = live_for(two_resources(), f"lagrange-bwk:form={form}", [3000, 4000], horizon)
    stakes = live._game.params.stakes
    draw = uniform(U(at(U(stream(0, 0, POLICY)), 1)), 1)
    stake = None if form == "stochastic" else float(stakes[int(draw * len(stakes))])
    plain = Plain([3000, 2000], horizon, 30_000, stake)
    assert len(stakes) == (1 if stake is None else math.ceil(math.log(plain.rounds, 3)) + 1)
    follow(live, plain, two_resources(), ROUNDS, out=out)


def test_the_guess_is_one_of_the_powers_and_stays() -> None:
    known = lagrange_bwk.params(
        Problem.of(n_arms=2, budget=50, cost_min=0.5, horizon=100), form="adversarial"
    )
    assert known.stakes * 50 == pytest.approx([1, 2, 4, 8, 16, 32, 64, 100])
    counts = dict.fromkeys(known.stakes.tolist(), 0)
    for path in range(4000):
        ours = U(stream(3, path, POLICY))
        seen = {lagrange_bwk.stake(U(at(ours, t)), known, t) for t in (1, 2, 77, 10**6)}
        assert len(seen) == 1
        counts[seen.pop()] += 1
    assert all(
        abs(count - 500) < 4 * math.sqrt(4000 * (1 / 8) * (7 / 8)) for count in counts.values()
    )


def test_parameters_as_numbers() -> None:
    known = lagrange_bwk.params(two_budgets([50, 400], 200), delta=0.1)
    assert known.stakes.tolist() == [4]
    assert known.factors.tolist() == [1, 0.25]
    assert known.eta == pytest.approx(math.sqrt(8 * math.log(3) / 200))
    assert known.primal == tuned(4, 1.0, 200, 0.1)
    plenty = lagrange_bwk.params(Problem.of(n_arms=3, budget=800, cost_min=0.5, horizon=200))
    assert (plenty.stakes.tolist(), plenty.factors.tolist()) == ([1], [0.25])
    alone = lagrange_bwk.params(Problem.of(n_arms=3, budget=50, cost_min=0.5), form="adversarial")
    assert (alone.eta, alone.primal.n_arms) == (0, 3)


def test_learns_to_mix_models() -> None:
    world = worlds.function("routing")([0.55, 0.75, 0.9], [0.02, 0.1, 0.6], prompts=200_000)
    run = purse.simulate("lagrange-bwk", world, 40_000, n_paths=4)
    assert 0.9 < run.gain.mean() / lp_optimum(world, 40_000).value < 1


@pytest.mark.parametrize(
    ("form", "horizon"),
    [("adversarial", 200), ("stochastic", None), ("adversarial", None)],
)
def test_passes_the_checks_with_two_resources(form: str, horizon: int | None) -> None:
    passes(f"lagrange-bwk:form={form}", two_resources(), horizon=horizon)


def test_refuses_a_game_that_nothing_ends() -> None:
    told = {"cost_min": [[0, 0.5], [0.5, 0]], "n_resources": 2}
    with pytest.raises(
        purse.InvalidInput, match=r"^lagrange-bwk needs to know how many rounds there are"
    ):
        purse.Policy("lagrange-bwk", n_arms=2, budget=10, **told)
