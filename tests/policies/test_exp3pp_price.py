from __future__ import annotations

from typing import Any

import pytest

import purse
from purse import worlds
from tests.support.exp3_learners import play, random_edges, two_arms, world_of
from tests.support.exp3pp_learners import PlainPrice, written
from tests.support.policies import follows, refuses

GAPS = {"beta": 0.01, "alpha": 0.2}


def test_rounds_by_hand() -> None:
    # the scores are (R^ - theta C^) / (1 + theta), and in round t eps = sqrt(ln 2 / (2 t)) / 2
    play(
        two_arms("exp3++.price"),
        ((1, 0.5), 0, 0),
        ((0, 1), 1, 0.5),
        # theta = 1.5 / 2.3, R^(0) = 0.5 / 0.5, C^(0) = 0.8 / 0.5: scores (-0.0263158, 0)
        ((0.5, 0.8), 0, 0.4986335),
        # theta = 2.5 / 2.9, R^(1) = 1 / p(1), C^(1) = 0.6 / p(1): scores (-0.2037037, 0.5171053)
        ((1, 0.6), 1, 0.4651521),
        # theta = 2.5 / 3.9, C^(0) += 1 / p(0): scores (-0.8554041, 0.7479558)
        ((0, 1), 0, 0.4277088),
    )


@pytest.mark.parametrize(
    ("n_arms", "n_rounds", "unit", "out", "options"),
    [
        (3, 5000, 1, 1, {}),
        (10, 4000, 1, 1, {}),
        (3, 4000, 1, 200, {}),
        (3, 20_000, 1, 1, {"beta": 0.01}),
        (3, 4000, 1, 1, GAPS),
        (3, 4000, 1, 200, GAPS),
        (3, 4000, 5, 1, GAPS),
    ],
)
def test_follows_the_formula(
    n_arms: int, n_rounds: int, unit: int, out: int, options: dict[str, Any]
) -> None:
    plain, world = PlainPrice(n_arms, 0.2, **options), world_of(n_arms, unit=unit)
    follows(written("exp3++.price", options), plain, world, n_rounds, out=out)
    assert (plain.rounds_with_a_gap > 2000) == bool(options)


def test_finds_the_arm_that_a_budget_buys_most_of_where_the_mean_ratio_misleads() -> None:
    world = worlds.function("misleading_ratio")()
    ours = purse.simulate("exp3++.price", world, budget=10_000, n_paths=20)
    paper = purse.simulate("exp3++.bwk", world, budget=10_000, n_paths=20)
    assert (ours.pulls[:, 1] > ours.pulls[:, 0]).all()
    assert (paper.pulls[:, 0] > paper.pulls[:, 1]).all()
    assert ours.gain.min() > paper.gain.max()


@pytest.mark.parametrize("options", [{}, GAPS])
def test_edges(options: dict[str, Any]) -> None:
    random_edges(written("exp3++.price", options))


def test_refusals() -> None:
    refuses("exp3++.price", "beta=-1", "alpha=0")
    refuses("exp3++.price", "beta=x", allowed="must be 'theory' or a positive number")
