from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.worlds.atoms import atoms


def test_declares_means_and_bounds_of_what_can_happen() -> None:
    world = atoms(
        probabilities=[[0.5, 0.25, 0.25], [1, 0, 0]],
        rewards=[[1, 0.5, 0], [0.2, 0, 0]],
        costs=[[0.4, 0.2, 1], [0.7, 9, 0]],
    )
    assert world.cost_min.tolist() == [[200_000_000], [700_000_000]]
    assert world.cost_max.tolist() == [[1_000_000_000], [700_000_000]]
    assert world.costs is None
    assert world.reward_means is not None
    assert world.cost_means is not None
    np.testing.assert_allclose(world.reward_means, [0.625, 0.2])
    np.testing.assert_allclose(world.cost_means, [[0.5], [0.7]])


def test_reward_and_cost_come_together_as_often_as_their_probability_says() -> None:
    chances, rewards, costs = (
        np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0, 0.3, 0]]),
        np.array([[0.1, 0.2, 0.3, 0.4]] * 2),
        np.array([[1, 2, 3, 4]] * 2),
    )
    n = 40_000
    seen, units = draws(atoms(chances, rewards, costs), n, seed=5)
    for arm in range(2):
        for atom in range(4):
            hits = (seen[:, arm] == rewards[arm, atom]) & (
                units[:, arm, 0] == costs[arm, atom] * 10**9
            )
            p = chances[arm, atom]
            assert abs(hits.mean() - p) <= 4 * np.sqrt(p * (1 - p) / n)


def test_padding_is_never_drawn() -> None:
    rewards, costs = draws(
        atoms([[0.1] * 10 + [0]], rewards=[[1] * 10 + [0]], costs=[[1] * 10 + [5]]), 50_000, seed=6
    )
    assert (rewards == 1).all()
    assert (costs == 10**9).all()


def test_padding_stays_out_of_reach_of_rounding() -> None:
    world = atoms(
        [[0.3333333333, 0.3333333333, 0.3333333333, 0]],
        rewards=[[1, 1, 1, 0]],
        costs=[[1, 1, 1, 5]],
    )
    assert world.tables.below[0, 0, -1] == 2**53


def test_several_resources_are_drawn_together() -> None:
    world = atoms([[0.5, 0.5]], rewards=[[1, 0]], costs=[[[1, 0.1], [2, 0]]])
    rewards, costs = draws(world, 1_000, seed=7)
    assert world.cost_min.tolist() == [[1_000_000_000, 0]]
    assert world.cost_max.tolist() == [[2_000_000_000, 100_000_000]]
    assert {
        (reward, *cost)
        for reward, cost in zip(rewards[:, 0].tolist(), costs[:, 0].tolist(), strict=True)
    } == {
        (1.0, 1_000_000_000, 100_000_000),
        (0.0, 2_000_000_000, 0),
    }


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"probabilities": [[0.5, 0.4]]}, r"probabilities=\[\[0.9\]\]: must sum to 1"),
        ({"probabilities": [[0.7, 0.7]]}, "probabilities=.*must sum to 1"),
        ({"probabilities": [[1.5, -0.5]]}, "probabilities=.*between 0 and 1"),
        ({"probabilities": [[np.nan, 1]]}, "probabilities=nan"),
        ({"probabilities": [0.5, 0.5]}, "probabilities="),
        ({"probabilities": [[1]]}, r"probabilities \(1, 1, 1\)"),
        ({"probabilities": []}, "probabilities="),
        ({"rewards": [[2, 0]]}, "rewards=2.0"),
        ({"rewards": [[1, -1]]}, "rewards=-1.0"),
        ({"rewards": [[1, np.nan]]}, "rewards=nan"),
        ({"rewards": [[]]}, "rewards="),
        ({"costs": [[1, 0]]}, "costs=.*must be positive"),
        ({"costs": [[1, -1]]}, "costs=.*must be positive"),
        ({"costs": [[1, np.nan]]}, "costs=nan"),
        ({"costs": [[1, 1, 1]]}, "costs of shape"),
        ({"costs": [1, 1]}, "costs of shape"),
        ({"costs": np.ones((1, 2, 1, 1))}, "costs of shape"),
        ({"costs": [[[0, 0], [1, 1]]]}, "costs=.*each arm needs a resource"),
        ({"costs": np.ones((1, 2, 0))}, "costs"),
    ],
    ids=str,
)
def test_refuses_bad_input_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(purse.InvalidInput, match=field):
        atoms(**{"probabilities": [[0.5, 0.5]], "rewards": [[1, 0]], "costs": [[1, 1]]} | options)
