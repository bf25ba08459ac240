from __future__ import annotations

import pytest

import purse
from purse import worlds
from tests.support.exp3_learners import (
    PlainTsallis,
    play,
    random_edges,
    same_pulls,
    two_arms,
    world_of,
)
from tests.support.policies import follows, refuses


def test_rounds_by_hand() -> None:
    # 1 / sqrt w(0) - 1 / sqrt w(1) = (eta / 2) (L(0) - L(1)), and eta / 2 = 1 / sqrt t
    play(
        two_arms("tsallis-inf.bwk"),
        ((1, 1), 1, 0.7189954),  # t = 2: l = 1 - 0.5 * 1 / 1 = 0.5, L = (0, 0.5 / 0.5)
        # t = 3: l = 1 - 0.5 * 0.6 / 0.75 = 0.6, L(0) = 0.6 / 0.719 = 0.8344977
        ((0.6, 0.75), 0, 0.5336871),
        ((1, 0.5), 0, 0.5291946),  # t = 4: reward 1 at the least cost is no loss; the rate falls
    )


@pytest.mark.parametrize("estimator", ["iw", "rv"])
@pytest.mark.parametrize(("n_arms", "unit", "out"), [(3, 5, 1), (4, 1, 40), (10, 1, 1)])
def test_follows_the_formula(estimator: str, n_arms: int, unit: int, out: int) -> None:
    plain, world = PlainTsallis(n_arms, estimator, 0.2), world_of(n_arms, unit=unit)
    follows(f"tsallis-inf.bwk:estimator={estimator}", plain, world, 2000, out=out)


def test_finds_the_efficient_arm_that_rewards_alone_hide() -> None:
    world = worlds.function("bernoulli")([0.6, 0.4], [0.9, 0.3])
    run = purse.simulate("tsallis-inf.bwk", world, 3000, n_paths=20)
    assert (run.pulls[:, 1] > 5 * run.pulls[:, 0]).all()
    blind = purse.simulate("tsallis-inf", world, 3000, n_paths=20)
    assert (blind.pulls[:, 0] > blind.pulls[:, 1]).all()


def test_edges_and_refusals() -> None:
    random_edges("tsallis-inf.bwk")
    same_pulls("tsallis-inf.bwk", "tsallis-inf", cost=0.5)
    refuses("tsallis-inf.bwk", "estimator=x", "estimator=1", allowed="must be one of 'iw', 'rv'")
