from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.policies import exp3pp_bwk
from tests.support.exp3_learners import play, problem, random_edges, two_arms, world_of
from tests.support.exp3pp_learners import PlainExp3PlusPlus, written
from tests.support.policies import EXACT, follows, make_live, refuses, tell_all

GAPS = {"beta": 0.01, "width": "direct", "alpha": 0.2}


def test_rounds_by_hand() -> None:
    # in round t eps = sqrt(ln 2 / (2 t)) / 2, and gamma is half of it: eps = 0.1471763 in round 4,
    # 0.1316384 in 5, 0.1201689 in 6
    play(
        two_arms("exp3++.bwk"),
        ((1, 0.5), 0, 0),
        ((0, 1), 1, 0.5),
        ((0.5, 0.8), 0, 0.4644213),  # L(0) = (1 / 0.5 - 0.5 / 0.8) / 0.5 = 2.75
        ((0, 0.5), 1, 0.5119279),  # L(1) = (1 / 0.5 - 0) / p(1) = 3.7342787
        ((1, 1), 0, 0.4889445),  # L(0) += (1 / 0.5 - 1) / p(0) = 1.9534002
    )


@pytest.mark.parametrize(
    ("epsilon", "cap"),
    [("lemma", math.log(3) / 3), ("printed", math.log(3)), ("cmin", 0.5**2 * math.log(3) / 3)],
)
def test_least_probability_by_hand(epsilon: str, cap: float) -> None:
    live = purse.Policy(f"exp3++.bwk:epsilon={epsilon}", n_arms=3, budget=10_000, cost_min=0.5)
    tell_all(live, *[(0, 1)] * 3)
    for _ in range(1500):
        ticket = live.ask()
        live.tell(ticket, float(ticket.arm == 1), 0.5)
    eps = min(1 / 6, 0.5 * math.sqrt(cap / 1504))
    assert eps < live.probabilities().min() < 1.01 * eps


@pytest.mark.parametrize(
    ("n_arms", "n_rounds", "out", "options"),
    [
        (2, 2000, 1, {}),
        (3, 6000, 1, {}),
        (10, 4000, 1, {}),
        (3, 4000, 200, {}),
        (3, 2000, 200, {"mixing": "printed"}),
        (5, 2000, 1, {"mixing": "printed"}),
        (5, 2000, 1, {"epsilon": "printed"}),
        (5, 2000, 1, {"epsilon": "printed", "mixing": "printed"}),
        (5, 2000, 1, {"epsilon": "cmin"}),
        (5, 2000, 1, {"epsilon": "cmin", "mixing": "printed"}),
    ],
)
def test_follows_the_formula(n_arms: int, n_rounds: int, out: int, options: dict[str, Any]) -> None:
    plain = PlainExp3PlusPlus(n_arms, 0.2, **options)
    follows(written("exp3++.bwk", options), plain, world_of(n_arms), n_rounds, out=out)


@pytest.mark.parametrize(
    ("n_rounds", "c_min", "unit", "out", "options"),
    [
        (12_000, 0.2, 1, 1, {"beta": 0.01, "width": "direct"}),
        (4000, 0.8, 1, 1, {"beta": 0.01, "alpha": 0.2}),
        (4000, 0.8, 1, 1, {"beta": 0.01, "alpha": 0.2, "lam": 0.7, "mixing": "printed"}),
        (4000, 0.2, 5, 1, GAPS),
        (4000, 0.2, 1, 200, GAPS),
        (4000, 0.2, 1, 1, {**GAPS, "lam": 0.15}),
        (4000, 0.2, 1, 1, {**GAPS, "epsilon": "printed"}),
        (4000, 0.2, 1, 1, {**GAPS, "epsilon": "cmin", "mixing": "printed"}),
    ],
)
def test_follows_the_formula_where_gaps_bind(
    n_rounds: int, c_min: float, unit: int, out: int, options: dict[str, Any]
) -> None:
    plain, world = PlainExp3PlusPlus(3, c_min, **options), world_of(3, c_min, unit=unit)
    follows(written("exp3++.bwk", options), plain, world, n_rounds, out=out)
    assert plain.rounds_with_a_gap > 2000


def test_follows_the_formula_across_the_quiet_round() -> None:
    options: dict[str, Any] = {**GAPS, "beta": 1}
    plain = PlainExp3PlusPlus(3, 0.8, **options)
    live = follows(written("exp3++.bwk", options), plain, world_of(3, 0.8), 8000)
    assert 50 < live._game.params.quiet < 1000
    assert plain.rounds_with_a_gap > 1000
    # with the theory's beta gaps are not looked at within a million rounds
    assert exp3pp_bwk.params(problem()).quiet > 1_000_000


@pytest.mark.parametrize("order", ["reversed", "shuffled"])
def test_follows_the_formula_after_ten_thousand_reports_came_at_once(order: str) -> None:
    world = worlds.function("bernoulli")([0.2, 0.1], [0.5, 0.5])
    live, plain = make_live(world, "exp3++.bwk"), PlainExp3PlusPlus(2, 0.5)
    chance = np.random.default_rng(0)

    def report(ticket: purse.lab.Ticket) -> None:
        reward = float(chance.random() < (0.2, 0.1)[ticket.arm])
        live.tell(ticket, reward, 0.5)
        plain.learn(ticket.t, ticket.arm, ticket.probability, reward, 0.5)

    tickets = [live.ask() for _ in range(10_000)]
    for i in np.arange(10_000)[::-1] if order == "reversed" else chance.permutation(10_000):
        report(tickets[i])
    for t in range(10_001, 10_201):
        assert np.abs(live.probabilities() - plain.probabilities(t)).max() < EXACT
        report(live.ask())


def test_printed_mixing_sums_to_more_than_one_and_ours_does_not() -> None:
    live = purse.Policy("exp3++.bwk:mixing=printed", n_arms=5, budget=1000, cost_min=0.5)
    tell_all(live, *[(1, 0.5)] * 5)
    eps = min(1 / 10, 0.5 * math.sqrt(math.log(5) / (6 * 5)))
    as_printed = [(1 - 4 * eps) * 0.2 + eps] * 5
    assert sum(as_printed) == pytest.approx(1.1)
    assert live.probabilities().sum() == pytest.approx(1, abs=1e-15)
    for _ in range(200):
        ticket = live.ask()
        live.tell(ticket, float(ticket.arm == 0), 0.5)
        assert live.probabilities().sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(
    "options",
    [
        {},
        GAPS,
        {"mixing": "printed"},
        {**GAPS, "mixing": "printed"},
        {"mixing": "printed", "epsilon": "printed"},
    ],
)
def test_edges(options: dict[str, Any]) -> None:
    random_edges(written("exp3++.bwk", options))


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        (["beta=-1", "beta=0", "alpha=0", "alpha=-3"], "must be a number above 0"),
        (["beta=x"], "must be 'theory' or a positive number"),
        (["lam=0.6", "lam=0"], "must be a number above 0 and at most 0.5"),
        (["epsilon=x"], "must be one of 'lemma', 'printed', 'cmin'"),
        (["mixing=x"], "must be one of 'all', 'printed'"),
        (["width=x"], "must be one of 'printed', 'direct'"),
    ],
)
def test_refusals(options: list[str], allowed: str) -> None:
    refuses("exp3++.bwk", *options, allowed=allowed)


@pytest.mark.parametrize(("wrong", "right"), [("bta", "beta"), ("lambda_", "lam")])
def test_names_the_option_that_was_meant(wrong: str, right: str) -> None:
    with pytest.raises(
        purse.InvalidInput,
        match=rf"^unknown option of exp3\+\+.bwk '{wrong}'; did you mean '{right}'\?",
    ):
        two_arms(f"exp3++.bwk:{wrong}=1")
