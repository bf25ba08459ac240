from __future__ import annotations

import math

import pytest

import purse
from purse import worlds
from purse.policies import exp3_bwk
from tests.support.exp3_learners import (
    PlainExp3,
    play,
    problem,
    random_edges,
    two_arms,
    world_of,
)
from tests.support.policies import follows, make_live, refuses, tell_all
from tests.support.soak import scale


@pytest.mark.parametrize(
    ("gamma", "first", "second", "last"),
    [
        # gamma = sqrt(ln 2 / ((e - 1) 100)) = 0.0635134, log w = (0.0946426, 0.0204561) in the end
        ("theorem", 0.5148649, 0.5100791, 0.5173607),
        # gamma = sqrt(ln 2 / ((e - 1) 100 + (e - 2) 2)) = 0.0632496, log w = (0.0942518, 0.0203687)
        ("proof", 0.5148073, 0.5100406, 0.5172946),
        # log w = (0.3677798, 0.0861608)
        ("0.25", 0.5466324, 0.5306513, 0.5524573),
    ],
)
def test_rounds_by_hand(gamma: str, first: float, second: float, last: float) -> None:
    play(
        two_arms(f"exp3.bwk:gamma={gamma}", seed=56),
        ((1, 0.5), 0, first),  # log w(0) = gamma 0.5 / 2 * 1 / (0.5 * 0.5) = gamma
        ((0.5, 0.8), 1, second),  # log w(1) = gamma 0.5 / 2 * 0.5 / (p(1) 0.8)
        ((0, 1), 0, second),
        ((1, 1), 0, last),  # log w(0) += gamma 0.5 / 2 * 1 / p(0)
    )


@pytest.mark.parametrize(
    ("changes", "option", "gamma"),
    [
        ({}, "theorem", 0.0635134),
        ({}, "proof", 0.0632496),
        ({}, 0.25, 0.25),
        ({"budget": 10**-6}, "theorem", 1),
        ({"n_arms": 1}, "theorem", 0),
    ],
)
def test_gamma_as_numbers(changes: dict[str, object], option: float | str, gamma: float) -> None:
    assert exp3_bwk.params(problem(**changes), gamma=option).gamma == pytest.approx(gamma, abs=1e-7)


def test_budget_and_smallest_cost_count_in_largest_costs() -> None:
    dear = problem(budget=400, cost_min=2, cost_max=4)
    assert exp3_bwk.params(dear) == exp3_bwk.params(problem())


def proven(n_arms: int, extra: float = 0) -> float:
    """The gamma of 5000 largest costs."""
    return math.sqrt(0.2 * n_arms * math.log(n_arms) / ((math.e - 1) * 5000 + extra * n_arms))


@pytest.mark.parametrize(
    ("n_arms", "options", "gamma", "unit"),
    [
        (3, "", proven(3), 1),
        (3, "", proven(3), 5),
        (7, ":gamma=proof", proven(7, math.e - 2), 1),
        (10, "", proven(10), 1),
        (10, ":gamma=1", 1.0, 1),
    ],
)
def test_follows_the_formula(n_arms: int, options: str, gamma: float, unit: int) -> None:
    plain, world = PlainExp3(n_arms, gamma, 0.2), world_of(n_arms, unit=unit)
    follows(f"exp3.bwk{options}", plain, world, scale(1000, 5000), budget=5000 * unit)


@pytest.mark.parametrize(("n_arms", "n_rounds", "out"), [(3, 8_000, 1), (7, 16_000, 40)])
def test_follows_the_formula_while_the_shift_moves(n_arms: int, n_rounds: int, out: int) -> None:
    plain = PlainExp3(n_arms, 0.5, 0.2)
    live = follows("exp3.bwk:gamma=0.5", plain, world_of(n_arms), n_rounds, out=out)
    assert plain.eta * plain.sums.max() > 3 * exp3_bwk.HIGHEST
    assert live.state.shift[0] > 2 * exp3_bwk.HIGHEST


def test_an_arm_that_never_pays_keeps_its_share_of_exploration() -> None:
    live = make_live(worlds.function("bernoulli")([1, 0], [0.5, 0.5]), "exp3.bwk:gamma=0.5")
    for _ in range(8000):
        ticket = live.ask()
        live.tell(ticket, 1.0 - ticket.arm, 0.5)
    assert live.state.log_weights[0] > 1000
    assert live.probabilities() == pytest.approx([0.75, 0.25], abs=1e-15)


def test_gamma_zero_never_learns() -> None:
    live = purse.Policy("exp3.bwk:gamma=0", n_arms=3, budget=100, cost_min=0.5)
    tell_all(live, *[(1, 0.5)] * 20)
    assert live.probabilities() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("gamma", ["theorem", "proof", "0.3", "1", "0"])
def test_edges(gamma: str) -> None:
    random_edges(f"exp3.bwk:gamma={gamma}")


def test_refusals() -> None:
    numbers, words = "must be a number at least 0 and at most 1", "must be 'theorem', 'proof' or a "
    refuses("exp3.bwk", "gamma=2", "gamma=-0.1", "gamma=True", allowed=numbers)
    refuses("exp3.bwk", "gamma=x", allowed=words + "number from 0 to 1")
