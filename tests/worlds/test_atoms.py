from __future__ import annotations

import numpy as np

from purse.engine.draws import draws
from purse.worlds.atoms import atoms


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
