from __future__ import annotations

import math

import pytest

from purse.policies import exp3_ix, exp3_ix_bwk
from purse.testing import check_policy
from tests.support.exp3_learners import (
    PlainExp3Ix,
    finds_efficiency,
    ix_rates,
    play,
    problem,
    random_edges,
    same_pulls,
    table_shortfalls,
    two_arms,
    world_of,
)
from tests.support.policies import follows, refuses


def test_rounds_by_hand() -> None:
    # T = 200: eta = sqrt(2 ln 2 / 400) = 0.0588705
    play(
        two_arms("exp3-ix.bwk"),
        ((1, 0.5), 1, 0.5),  # x = 0.5 * 1 / 0.5 = 1: no loss
        # x = 0.5 * 0.5 / 0.8 = 0.3125, L(0) = 0.6875 / (0.5 + eta / 2) = 1.2985535
        ((0.5, 0.8), 0, 0.4808977),
        ((1, 1), 0, 0.4665189),  # x = 0.5, L(0) += 0.5 / (p(0) + eta / 2) = 0.9797526
        ((0, 0.5), 1, 0.4926146),  # L(1) = 1 / (p(1) + eta / 2) = 1.7764629
    )


@pytest.mark.parametrize(("n_arms", "unit"), [(2, 1), (3, 5), (7, 1)])
@pytest.mark.parametrize("eta", ["rounds", "anytime", "0.4"])
@pytest.mark.parametrize("out", [1, 40])
def test_follows_the_formula(n_arms: int, unit: int, eta: str, out: int) -> None:
    plain = PlainExp3Ix(n_arms, ix_rates(n_arms, 10_000)[eta], 0.2)
    world = world_of(n_arms, unit=unit)
    follows(f"exp3-ix.bwk:eta={eta}", plain, world, 2000, out=out, budget=2000 * unit)


@pytest.mark.parametrize(("horizon", "counts"), [(30, 30), (3000, None), (None, None)])
def test_a_horizon_counts_only_where_the_budget_lasts_longer(
    horizon: int | None, counts: int | None
) -> None:
    blind = exp3_ix.params(problem(horizon=counts))
    assert exp3_ix_bwk.params(problem(horizon=horizon)) == blind._replace(c_min=0.5)


@pytest.mark.parametrize("eta", ["rounds", "anytime"])
def test_edges(eta: str) -> None:
    random_edges(f"exp3-ix.bwk:eta={eta}")
    same_pulls(f"exp3-ix.bwk:eta={eta}", f"exp3-ix:eta={eta}")
    finds_efficiency(f"exp3-ix.bwk:eta={eta}", f"exp3-ix:eta={eta}")


def test_efficiency_over_its_own_rounds_is_within_the_bound_on_every_path() -> None:
    # T = 10^5, delta = 0.01: the bound is 6355, which may fail on one path of a hundred
    bound = (
        2 * math.sqrt(4e5 * math.log(2)) + (math.sqrt(4e5 / math.log(2)) + 1) * math.log(200) + 1
    ) / 0.8
    assert (table_shortfalls("exp3-ix.bwk") < bound).all()


def test_passes_anytime() -> None:
    check_policy("exp3-ix.bwk:eta=anytime", quick=True)


def test_refusals() -> None:
    refuses("exp3-ix.bwk", "eta=x", allowed="must be 'rounds', 'anytime' or a number from 0 up")
