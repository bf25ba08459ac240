from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.job import make_policy
from purse.policies import exp3_bwk
from purse.types import Floats, Problem, World
from tests.support.policies import EXACT, frequency_surprise, largest_deviation, make_live, tell_all

GAMMAS = {
    "theorem": math.sqrt(0.5 * 2 * math.log(2) / ((math.e - 1) * 100)),
    "proof": math.sqrt(0.5 * 2 * math.log(2) / ((math.e - 1) * 100 + (math.e - 2) * 2)),
    "0.25": 0.25,
}


class PlainExp3BwK:
    """Algorithm 1 with log-weights; the softmax is recomputed from them in every round."""

    def __init__(self, n_arms: int, c_min: float, gamma: float) -> None:
        self.n_arms, self.c_min, self.gamma = n_arms, c_min, gamma
        self.log_weights = [0.0] * n_arms

    def probabilities(self, t: int) -> Floats:
        top = max(self.log_weights)
        weights = [math.exp(x - top) for x in self.log_weights]
        return np.array(
            [(1 - self.gamma) * w / sum(weights) + self.gamma / self.n_arms for w in weights]
        )

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.log_weights[arm] += (
            self.gamma * self.c_min / self.n_arms * reward / (probability * cost)
        )


def problem(**changes: object) -> Problem:
    return Problem.of(**{"n_arms": 2, "budget": 100, "cost_min": 0.5, **changes})


def world_of(n_arms: int) -> World:
    return worlds.function("two_point")(
        np.linspace(0.95, 0.3, n_arms), np.linspace(0.35, 0.9, n_arms), cost_min=0.2
    )


@pytest.mark.parametrize("option", GAMMAS)
def test_three_rounds_by_hand(option: str) -> None:
    live = purse.Policy(f"exp3.bwk:gamma={option}", n_arms=2, budget=100, cost_min=0.5, seed=56)
    g = GAMMAS[option]
    assert live.probabilities().tolist() == [0.5, 0.5]

    assert tell_all(live, (1, 0.5)) == [0]
    log_w0 = g * 0.5 / 2 * (1 / (0.5 * 0.5))
    p0 = (1 - g) * math.exp(log_w0) / (math.exp(log_w0) + 1) + g / 2
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0.5, 0.8)) == [1]
    log_w1 = g * 0.5 / 2 * (0.5 / ((1 - p0) * 0.8))
    p0 = (1 - g) * math.exp(log_w0) / (math.exp(log_w0) + math.exp(log_w1)) + g / 2
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0, 1)) == [0]
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (1, 1)) == [0]
    log_w0 += g * 0.5 / 2 * (1 / (p0 * 1))
    p0 = (1 - g) * math.exp(log_w0) / (math.exp(log_w0) + math.exp(log_w1)) + g / 2
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)


def test_gamma_as_numbers() -> None:
    assert exp3_bwk.params(problem()).gamma == pytest.approx(0.0635134, abs=1e-7)
    assert exp3_bwk.params(problem(), gamma="proof").gamma == pytest.approx(0.0632496, abs=1e-7)
    assert exp3_bwk.params(problem(), gamma=0.25).gamma == 0.25
    assert exp3_bwk.params(problem(budget=10**-6), gamma="theorem").gamma == 1


def test_budget_and_smallest_cost_count_in_largest_costs() -> None:
    assert exp3_bwk.params(problem(budget=400, cost_min=2, cost_max=4)) == exp3_bwk.params(
        problem()
    )


@pytest.mark.parametrize(
    ("n_arms", "options", "gamma"),
    [
        (3, "", math.sqrt(0.2 * 3 * math.log(3) / ((math.e - 1) * 20_000))),
        (
            7,
            ":gamma=proof",
            math.sqrt(0.2 * 7 * math.log(7) / ((math.e - 1) * 20_000 + (math.e - 2) * 7)),
        ),
        (10, "", math.sqrt(0.2 * 10 * math.log(10) / ((math.e - 1) * 20_000))),
        (10, ":gamma=1", 1.0),
    ],
)
def test_plain_formula(n_arms: int, options: str, gamma: float) -> None:
    world = world_of(n_arms)
    live = make_live(world, f"exp3.bwk{options}", budget=20_000)
    assert largest_deviation(live, PlainExp3BwK(n_arms, 0.2, gamma), world, 20_000) < EXACT


@pytest.mark.parametrize("n_arms", [3, 7])
def test_plain_formula_while_the_shift_moves(n_arms: int) -> None:
    world = world_of(n_arms)
    live = make_live(world, "exp3.bwk:gamma=0.5")
    plain = PlainExp3BwK(n_arms, 0.2, 0.5)
    assert largest_deviation(live, plain, world, 20_000) < EXACT
    assert max(plain.log_weights) > 3 * exp3_bwk.HIGHEST
    assert live.state.shift[0] > 2 * exp3_bwk.HIGHEST


def test_plain_formula_with_late_reports() -> None:
    world = world_of(7)
    live = make_live(world, "exp3.bwk:gamma=0.5")
    assert largest_deviation(live, PlainExp3BwK(7, 0.2, 0.5), world, 20_000, out=40) < EXACT


def test_plain_formula_with_costs_above_one() -> None:
    world = worlds.function("two_point")([0.9, 0.5, 0.2], [3, 2, 1.5], cost_min=1, cost_max=5)
    live = make_live(world, "exp3.bwk", budget=25_000)
    plain = PlainExp3BwK(3, 0.2, math.sqrt(0.2 * 3 * math.log(3) / ((math.e - 1) * 5000)))
    assert largest_deviation(live, plain, world, 5000) < EXACT


def test_an_arm_that_never_pays_keeps_its_share_of_exploration() -> None:
    live = make_live(worlds.function("bernoulli")([1, 0], [0.5, 0.5]), "exp3.bwk:gamma=0.5")
    for _ in range(8000):
        ticket = live.ask()
        live.tell(ticket, 1.0 - ticket.arm, 0.5)
    assert live.state.log_weights[0] > 1000
    assert live.probabilities() == pytest.approx([0.75, 0.25], abs=1e-15)


def test_arms_come_as_often_as_their_probabilities_say() -> None:
    world = world_of(7)
    assert frequency_surprise(make_live(world, "exp3.bwk:gamma=0.3"), world, 5000) < 4


@pytest.mark.parametrize("option", ["theorem", "proof", "1", "0"])
def test_one_arm(option: str) -> None:
    live = purse.Policy(f"exp3.bwk:gamma={option}", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5)) == [0, 0, 0]
    assert live.probabilities().tolist() == [1.0]


def test_gamma_of_one_arm_is_zero() -> None:
    assert exp3_bwk.params(problem(n_arms=1)).gamma == 0


def test_gamma_zero_never_learns() -> None:
    live = purse.Policy("exp3.bwk:gamma=0", n_arms=3, budget=100, cost_min=0.5)
    tell_all(live, *[(1, 0.5)] * 20)
    assert live.probabilities() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("gamma=2", r"gamma=2: must be a number at least 0 and at most 1"),
        ("gamma=-0.1", r"gamma=-0.1: must be a number at least 0 and at most 1"),
        ("gamma=x", r"gamma='x': must be 'theorem', 'proof' or a number from 0 to 1"),
        ("gamma=True", r"gamma=True: must be a number"),
        ("gama=0.5", r"unknown option of exp3.bwk 'gama'; did you mean 'gamma'\?"),
    ],
)
def test_options_are_checked(option: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        purse.Policy(f"exp3.bwk:{option}", n_arms=2, budget=100, cost_min=0.5)


def test_refuses_several_plays_and_resources_in_one_line() -> None:
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3.bwk plays problems with plays=1, and this one has plays=2$",
    ):
        make_policy("exp3.bwk", problem(plays=2))
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3.bwk plays problems with n_resources=1, and this one has n_resources=2$",
    ):
        make_policy("exp3.bwk", problem(n_resources=2))
