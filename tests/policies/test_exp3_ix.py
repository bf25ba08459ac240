from __future__ import annotations

import math

import pytest

import purse
from purse import worlds
from purse.policies import exp3_ix
from purse.testing import check_policy
from tests.support.exp3_learners import (
    UNBOUNDED,
    PlainExp3Ix,
    blind_to_costs,
    ix_rates,
    play,
    problem,
    random_edges,
    table_regrets,
    two_arms,
    world_of,
)
from tests.support.policies import follows, plays_two_resources, refuses


def test_rounds_by_hand() -> None:
    # T = 200: eta = sqrt(2 ln 2 / 400) = 0.0588705
    play(
        two_arms("exp3-ix"),
        ((1, 0.5), 1, 0.5),  # no loss, no change
        ((0.5, 0.8), 0, 0.4861042),  # L(0) = 0.5 / (0.5 + eta / 2) = 0.9444025
        ((0, 1), 0, 0.4576543),  # L(0) += 1 / (p(0) + eta / 2) = 1.9397157
        ((0.2, 1), 1, 0.4781585),  # L(1) = 0.8 / (p(1) + eta / 2) = 1.3991372
    )


def test_rounds_by_hand_anytime() -> None:
    # eta_t = sqrt(ln 2 / (2 t)) = 0.5887050, 0.4162773, 0.3398890, 0.2943525
    play(
        two_arms("exp3-ix:eta=anytime", seed=3),
        ((0, 0.5), 0, 0.3719066),  # L(0) = 1 / (0.5 + eta_1 / 2) = 1.2588869
        ((0.5, 1), 1, 0.4440712),  # L(1) = 0.5 / (p(1) + eta_2 / 2) = 0.5979202
        ((1, 1), 1, 0.4515135),  # no loss, but eta_4 is smaller
    )


@pytest.mark.parametrize("n_arms", [2, 7, 10])
@pytest.mark.parametrize("eta", ["rounds", "anytime", "0.4"])
@pytest.mark.parametrize("out", [1, 40])
def test_follows_the_formula(n_arms: int, eta: str, out: int) -> None:
    plain = PlainExp3Ix(n_arms, ix_rates(n_arms, 10_000)[eta])
    follows(f"exp3-ix:eta={eta}", plain, world_of(n_arms), 2000, out=out, budget=2000)


def test_follows_the_formula_while_the_lowest_loss_moves() -> None:
    world = worlds.function("two_point")([0.3, 0.25, 0.2], [0.5, 0.6, 0.7], cost_min=0.2)
    live = follows("exp3-ix:eta=0.4", PlainExp3Ix(3, lambda t: 0.4), world, 6000)
    # it moved at least three times
    assert 0.4 * live.state.low[0] > 3 * -math.log(exp3_ix.LEAST)


def test_parameters_as_numbers() -> None:
    params = exp3_ix.params(problem())
    assert params.eta == pytest.approx(0.0588705, abs=1e-7)
    assert exp3_ix.params(problem(budget=400, cost_min=2, cost_max=4)) == params
    assert exp3_ix.params(problem(horizon=200, budget=7)) == params
    assert exp3_ix.params(problem(), eta="anytime").eta == pytest.approx(0.5887050, abs=1e-7)
    assert {
        type(exp3_ix.params(problem(), eta=eta).eta) for eta in ("rounds", "anytime", 1, 0.5)
    } == {float}


@pytest.mark.parametrize(
    ("eta", "lead", "rest"), [("rounds", math.sqrt(8), math.sqrt(2)), ("anytime", 4, 2)]
)
def test_regret_is_within_the_bound_on_every_path(eta: str, lead: float, rest: float) -> None:
    # with delta = 0.01 the bounds are 2483 and 3509, which may fail on one path of a hundred
    bound = lead * math.sqrt(60_000 * math.log(3)) + (
        rest * math.sqrt(60_000 / math.log(3)) + 1
    ) * math.log(200)
    assert (table_regrets(f"exp3-ix:eta={eta}") < bound).all()


@pytest.mark.parametrize("eta", ["anytime", "5", "0"])
def test_passes_with_options(eta: str) -> None:
    check_policy(f"exp3-ix:eta={eta}", quick=True)


@pytest.mark.parametrize("eta", ["rounds", "anytime", "0", "0.01", "1"])
def test_edges(eta: str) -> None:
    random_edges(f"exp3-ix:eta={eta}")


def test_is_blind_to_costs_and_plays_several_resources() -> None:
    blind_to_costs("exp3-ix")
    plays_two_resources("exp3-ix")
    assert exp3_ix.params(problem(**UNBOUNDED), eta="anytime").anytime
    with pytest.raises(
        purse.InvalidInput, match=r"^exp3-ix needs to know how many rounds there are"
    ):
        exp3_ix.params(problem(**UNBOUNDED))


def test_refusals() -> None:
    number, word = "must be a number at least 0", "must be 'rounds', 'anytime' or a number from 0"
    refuses("exp3-ix", "eta=-1", "eta=True", allowed=number, fields=("plays",))
    refuses("exp3-ix", "eta=x", allowed=f"{word} up", fields=("plays",))
