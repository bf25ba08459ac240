from __future__ import annotations

import pytest

from purse.engine.draws import draws
from purse.worlds._tables import FOREVER
from purse.worlds.bernoulli import bernoulli
from purse.worlds.corrupted import corrupted


def test_tables() -> None:
    tables = corrupted(
        rewards=[0.75, 0.5], costs=[0.5, 0.2], rounds=20, fake_rewards=[0.25, 1]
    ).tables
    assert tables.last.tolist() == [20, FOREVER]
    assert tables.period == 0
    assert (tables.below[:, :, 0] / 2**53).tolist() == [[0.25, 1], [0.75, 0.5]]
    assert tables.rewards.tolist() == [[[1, 0]] * 2] * 2
    assert tables.costs[:, :, :, 0].tolist() == [[[500_000_000] * 2, [200_000_000] * 2]] * 2


def test_the_truth_begins_after_the_false_rounds_and_does_not_end() -> None:
    world = corrupted(rewards=[1, 0], costs=[0.5, 0.2], rounds=3, fake_rewards=[0, 1])
    rewards, costs = draws(world, 8)
    assert rewards.tolist() == [[0, 1]] * 3 + [[1, 0]] * 5
    assert (costs[:, :, 0] == [500_000_000, 200_000_000]).all()
    assert (draws(world, 3, first=10**15)[0] == [1, 0]).all()


@pytest.mark.parametrize("rounds", [1, 7, 10**12])
def test_each_part_draws_what_its_bernoulli_world_draws(rounds: int) -> None:
    true, fake, costs, first = (
        [0.9, 0.6, 0.4],
        [0.1, 0.1, 0.9],
        [0.8, 0.3, 0.25],
        max(1, rounds - 99),
    )
    rewards, _ = draws(corrupted(true, costs, rounds, fake), 200, seed=3, path=2, first=first)
    false_rounds = rounds - first + 1
    assert (
        rewards[:false_rounds]
        == draws(bernoulli(fake, costs), 200, seed=3, path=2, first=first)[0][:false_rounds]
    ).all()
    assert (
        rewards[false_rounds:]
        == draws(bernoulli(true, costs), 200, seed=3, path=2, first=first)[0][false_rounds:]
    ).all()


def test_several_resources() -> None:
    world = corrupted(rewards=[1, 0], costs=[[1, 2], [0, 4]], rounds=1, fake_rewards=[0, 1])
    assert world.n_resources == 2
    assert (draws(world, 2)[1] / 10**9).tolist() == [[[1, 2], [0, 4]]] * 2
