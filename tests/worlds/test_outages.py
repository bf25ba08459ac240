"""Worlds with outages: which arms are up, and what is refused."""

from __future__ import annotations

import numpy as np

import purse
from purse.testing import check_world
from purse.worlds import make, outages

INNER = "bernoulli:rewards=[.9,.6,.3],costs=[.6,.5,.4]"
SWITCHING = "switching:segments=[4,2],rewards=[[.9,.1],[.1,.9]],costs=[.5,.5]"


def test_segments_come_again_after_the_last() -> None:
    world = outages(INNER, up=[[1, 1, 1], [0, 1, 1], [0, 0, 1]], segments=[3, 2, 1])
    assert world.outages is not None
    allowed = [world.outages.allowed(t) for t in range(1, 9)]
    assert allowed == [[0, 1, 2]] * 3 + [[1, 2]] * 2 + [[2]] + [[0, 1, 2]] * 2


def test_one_length_holds_for_all_segments() -> None:
    for segments in (2, [2]):
        world = outages(INNER, up=[[1, 1, 0], [0, 1, 1]], segments=segments)
        assert world.outages is not None
        assert world.outages.last.tolist() == [2, 4]


def test_without_segments_the_phases_of_the_world_count() -> None:
    world = outages(SWITCHING, up=[[1, 0], [0, 1]])
    run = purse.simulate("uniform", world, budget=3, n_paths=3, seed=0)
    assert (run.pulls == [4, 2]).all()


def test_draws_are_those_of_the_world_itself() -> None:
    check_world(make(f'outages:world="{INNER}",up=[[1,0,1],[0,1,1]],segments=5', budget=10))


def test_a_fixed_arm_that_is_down_leaves_its_place_to_the_others() -> None:
    world = outages(INNER, up=[[1, 1, 1], [0, 1, 1]], segments=[2, 2])
    run = purse.simulate("fixed:arm=0", world, budget=1000, n_paths=1, seed=0)
    shares = run.pulls[0] / run.pulls[0].sum()
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25], atol=0.03)
