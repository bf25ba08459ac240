"""Masks in the engine: rule `fit`, outages, initial pulls under masks, fewer plays than m."""

from __future__ import annotations

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine import cpu
from purse.engine.job import make_job
from tests.support.scripts import scripted

WORLD = "bernoulli:rewards=[1,1,1],costs=[.5,.3,.2]"
THREE_RESOURCES = "bernoulli:rewards=[1,1,1],costs=[[.5,1,1],[.3,1,1],[.2,1,1]]"


def test_fit_looks_at_declared_maxima_not_at_draws() -> None:
    world = worlds.two_point(rewards=[1, 1], costs=[0.3, 0.3], cost_min=0.2, cost_max=1)
    run = purse.simulate("ucb-bv1", world, budget=5, n_paths=50, seed=1, stop="fit")
    assert (run.spent <= 5).all()
    assert (run.spent > 4).all()
    assert (5 - run.spent < 1).all()


@pytest.mark.parametrize("script", ["[[0,-1,1]]", "[[0,-2,-1]]", "[[0,3,1]]"])
def test_other_gaps_among_the_plays_are_faults(script: str) -> None:
    with pytest.raises(purse.PurseError, match="chose no arm, or one that does not exist"):
        purse.simulate(
            scripted(script), THREE_RESOURCES, budget=[9, 9, 9], n_paths=1, plays=3, device="python"
        )


@pytest.mark.parametrize("script", [[[0, 1, 2]], [[2, 1, 0]]], ids=str)
def test_a_policy_that_plays_a_masked_arm_is_faulty(script: list[list[int]]) -> None:
    world = worlds.outages(WORLD, up=[[0, 1, 1]], segments=1)
    with pytest.raises(purse.PurseError, match="does not exist"):
        purse.simulate(scripted(script), world, budget=9, n_paths=1, plays=3, device="python")


def test_an_initial_pull_waits_until_its_arm_is_up() -> None:
    # rounds 1-2: arms 1 and 2 are up, 3-4: all; ucb-bv1 owes 0, 1, 2: 1 and 2 first, then 0
    world = worlds.outages(WORLD, up=[[0, 1, 1], [1, 1, 1]], segments=[2, 2])
    job = make_job("ucb-bv1", world, 1.0)
    results, state = cpu.play_block(job, 1)
    assert results.pulls.tolist() == [[1, 1, 1]]
    assert state.pulls.tolist() == [[1, 1, 1]]
    later = worlds.outages(WORLD, up=[[0, 1, 1], [1, 1, 1]], segments=[3, 2])
    results, _ = cpu.play_block(make_job("ucb-bv1", later, 1.3), 1)
    assert results.pulls[0, 0] == 1  # round 3 chose among 1 and 2, round 4 made the pull it owed


def test_blocks_and_stretches_do_not_change_what_is_owed() -> None:
    world = worlds.outages(WORLD, up=[[0, 1, 1], [1, 1, 1]], segments=[5, 2])
    runs = [
        purse.simulate("ucb-bv1", world, 30, n_paths=9, seed=2, n_workers=n, block=block)
        for n, block in ((1, 9), (2, 2))
    ]
    assert (runs[0].pulls == runs[1].pulls).all()
    job = make_job("ucb-bv1", world, 30, seed=2)
    often = job._replace(game=job.game._replace(check_every=1))
    assert (cpu.play_block(often, 9)[0].pulls == runs[0].pulls).all()


@pytest.mark.parametrize("stop", ["exit", "hold", "retry", "fit"])
def test_masked_arms_are_never_pulled(stop: str) -> None:
    world = worlds.outages(WORLD, up=[[0, 1, 0], [0, 0, 1]], segments=1)
    for policy in ("uniform", "exp3.bwk", "ucb-bv1", "primal-dual-bwk"):
        run = purse.simulate(policy, world, 7, n_paths=5, seed=0, stop=stop, device="python")
        assert (run.pulls[:, 0] == 0).all()
        assert (np.abs(run.pulls[:, 1] - run.pulls[:, 2]) <= 1).all() or stop in ("retry", "fit")
