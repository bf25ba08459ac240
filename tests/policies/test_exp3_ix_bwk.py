from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.job import make_policy
from purse.policies import exp3_ix, exp3_ix_bwk
from purse.testing import check_policy
from tests.policies.test_exp3_ix import PlainExp3Ix, problem, rates, world_of
from tests.support.policies import EXACT, largest_deviation, make_live, tell_all


def test_rounds_by_hand() -> None:
    live = purse.Policy("exp3-ix.bwk", n_arms=2, budget=100, cost_min=0.5, seed=0)
    eta = math.sqrt(2 * math.log(2) / 400)  # T = 200: 0.0588705
    assert live.probabilities().tolist() == [0.5, 0.5]

    assert tell_all(live, (1, 0.5)) == [1]  # x = 0.5 * 1 / 0.5 = 1: no loss
    assert live.probabilities().tolist() == [0.5, 0.5]

    assert tell_all(live, (0.5, 0.8)) == [0]  # x = 0.5 * 0.5 / 0.8 = 0.3125
    loss0 = 0.6875 / (0.5 + eta / 2)  # 1.2985535
    p0 = 1 / (1 + math.exp(eta * loss0))  # 0.4808977
    assert p0 == pytest.approx(0.4808977, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (1, 1)) == [0]  # x = 0.5
    loss0 += 0.5 / (p0 + eta / 2)  # 1.2985535 + 0.9797526
    p0 = 1 / (1 + math.exp(eta * loss0))  # 0.4665189
    assert p0 == pytest.approx(0.4665189, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0, 0.5)) == [1]
    loss1 = 1 / (1 - p0 + eta / 2)  # 1.7764629
    p0 = 1 / (1 + math.exp(eta * (loss0 - loss1)))  # 0.4926146
    assert p0 == pytest.approx(0.4926146, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)


@pytest.mark.parametrize("n_arms", [2, 7])
@pytest.mark.parametrize("eta", ["rounds", "anytime", "0.4"])
@pytest.mark.parametrize("out", [1, 40])
def test_follows_the_formula(n_arms: int, eta: str, out: int) -> None:
    world = world_of(n_arms)
    live = make_live(world, f"exp3-ix.bwk:eta={eta}", budget=2000)
    assert (
        largest_deviation(
            live, PlainExp3Ix(n_arms, rates(n_arms, 10_000)[eta], scale=0.2), world, 2000, out=out
        )
        < EXACT
    )


def test_follows_the_formula_with_costs_above_one() -> None:
    world = worlds.function("two_point")([0.9, 0.5, 0.2], [3, 2, 1.5], cost_min=1, cost_max=5)
    live = make_live(world, "exp3-ix.bwk", budget=10_000)
    assert (
        largest_deviation(live, PlainExp3Ix(3, rates(3, 10_000)["rounds"], scale=0.2), world, 2000)
        < EXACT
    )


def test_a_horizon_counts_only_where_the_budget_lasts_longer() -> None:
    assert exp3_ix_bwk.params(problem(horizon=30)) == exp3_ix.params(problem(horizon=30))._replace(
        c_min=0.5
    )
    assert (
        exp3_ix_bwk.params(problem(horizon=3000))
        == exp3_ix_bwk.params(problem())
        == exp3_ix.params(problem())._replace(c_min=0.5)
    )


@pytest.mark.parametrize("eta", ["rounds", "anytime"])
def test_is_exp3_ix_where_every_pull_costs_the_most(eta: str) -> None:
    world = worlds.function("bernoulli")([0.9, 0.6, 0.3], [1, 1, 1])
    runs = [
        purse.simulate(f"{policy}:eta={eta}", world, 1000, n_paths=5)
        for policy in ("exp3-ix.bwk", "exp3-ix")
    ]
    assert (runs[0].pulls == runs[1].pulls).all()


@pytest.mark.parametrize("eta", ["rounds", "anytime"])
def test_finds_the_efficient_arm_where_the_blind_finds_the_one_that_pays_most(eta: str) -> None:
    world = worlds.function("bernoulli")([0.9, 0.7], [0.9, 0.3])
    ours, blind = (
        purse.simulate(f"{policy}:eta={eta}", world, 2000, n_paths=10)
        for policy in ("exp3-ix.bwk", "exp3-ix")
    )
    assert (ours.pulls[:, 1] > 2 * ours.pulls[:, 0]).all()
    assert (blind.pulls[:, 0] > 2 * blind.pulls[:, 1]).all()


def test_efficiency_over_its_own_rounds_is_within_the_bound_on_every_path() -> None:
    rewards, costs = (
        1.0 * (np.random.default_rng(0).random((100_000, 2)) < [0.5, 0.9]),
        np.array([0.8, 1.0]),
    )
    run = purse.simulate(
        "exp3-ix.bwk", worlds.function("table")(rewards, costs), 80_000, n_paths=20
    )
    each = np.cumsum(rewards / costs, axis=0)[run.rounds - 1]
    assert run.efficiency is not None
    # T = 10^5, delta = 0.01: the bound is 6355, which may fail on one path of a hundred; chance
    # alone loses some 12,000
    bound = (
        2 * math.sqrt(4e5 * math.log(2)) + (math.sqrt(4e5 / math.log(2)) + 1) * math.log(200) + 1
    ) / 0.8
    assert (each.max(axis=1) - run.efficiency < bound).all()


def test_passes_anytime() -> None:
    check_policy("exp3-ix.bwk:eta=anytime")


def test_one_arm() -> None:
    live = purse.Policy("exp3-ix.bwk", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5)) == [0, 0, 0]
    assert live.probabilities().tolist() == [1.0]


def test_refuses_what_it_cannot_play() -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"^eta='x': must be 'rounds', 'anytime' or a number from 0 up"
    ):
        exp3_ix_bwk.params(problem(), eta="x")
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3-ix.bwk plays problems with plays=1, and this one has plays=2$",
    ):
        make_policy("exp3-ix.bwk", problem(plays=2))
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3-ix.bwk plays problems with n_resources=1, and this one has n_resources=2$",
    ):
        make_policy("exp3-ix.bwk", problem(n_resources=2))
