from __future__ import annotations

import math

import pytest

from purse.policies import exp3_p, exp3_p_bwk
from tests.support.exp3_learners import (
    PlainExp3P,
    finds_efficiency,
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
    # T = 200: beta = sqrt(ln 40 / 400) = 0.0960323, eta = 0.95 sqrt(ln 2 / 400) = 0.0395463,
    # gamma = 1.05 sqrt(2 ln 2 / 200) = 0.0874182
    play(
        two_arms("exp3.p.bwk"),
        # x = 0.5 * 1 / 0.5 = 1, G = (beta / 0.5, (1 + beta) / 0.5) = (0.1920646, 2.1920646)
        ((1, 0.5), 1, 0.4819648),
        # x = 0.5 * 0.5 / 0.8 = 0.3125, G += (x + beta, beta) / p = (0.8476393, 0.1853779)
        ((0.5, 0.8), 0, 0.4879333),
        ((1, 1), 0, 0.4972597),  # x = 0.5, G += (1.2215446, 0.1875386)
    )


@pytest.mark.parametrize(
    ("n_arms", "delta", "unit"), [(2, 0.05, 1), (3, 0.001, 1), (3, 0.05, 5), (10, 0.5, 1)]
)
@pytest.mark.parametrize("out", [1, 40])
def test_follows_the_formula(n_arms: int, delta: float, unit: int, out: int) -> None:
    plain, world = PlainExp3P(n_arms, 10_000, delta, 0.2), world_of(n_arms, unit=unit)
    follows(f"exp3.p.bwk:delta={delta}", plain, world, 2000, out=out, budget=2000 * unit)


@pytest.mark.parametrize(("horizon", "counts"), [(30, 30), (3000, None), (None, None)])
def test_a_horizon_counts_only_where_the_budget_lasts_longer(
    horizon: int | None, counts: int | None
) -> None:
    blind = exp3_p.params(problem(horizon=counts))
    assert exp3_p_bwk.params(problem(horizon=horizon)) == blind._replace(c_min=0.5)


def test_efficiency_over_its_own_rounds_is_within_the_bound_on_every_path() -> None:
    # T = 10^5: the bound is 6628, which may fail on one path of a hundred
    bound = (5.15 * math.sqrt(1e5 * 2 * math.log(200)) + 1) / 0.8
    assert (table_shortfalls("exp3.p.bwk:delta=0.01") < bound).all()


def test_edges_and_refusals() -> None:
    random_edges("exp3.p.bwk", horizon=4000)
    same_pulls("exp3.p.bwk", "exp3.p")
    finds_efficiency("exp3.p.bwk", "exp3.p")
    refuses("exp3.p.bwk", "delta=0", allowed="must be a number above 0 and at most 1")
