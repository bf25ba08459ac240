from __future__ import annotations

import pytest

from purse import worlds
from purse.engine.draws import draws


def test_routing_answers_are_good_or_poor_and_longer_ones_cost_more() -> None:
    world = worlds.routing(quality=[0.5, 0.9], prices=[0.1, 0.5], prompts=2000)
    rewards, costs = draws(world, 2000)
    assert set(rewards.ravel()) == {0.3, 1.0}
    assert sorted(set(costs[:, 1, 0])) == [
        250_000_000,
        375_000_000,
        500_000_000,
        625_000_000,
        750_000_000,
    ]
    assert world.reward_means == pytest.approx([0.65, 0.93])
    assert world.cost_means.ravel() == pytest.approx([0.1, 0.5])
