from __future__ import annotations

import numpy as np
import pytest

from purse.engine.draws import draws
from purse.worlds.two_worlds import two_worlds


@pytest.mark.parametrize(
    ("cost", "first_pay"),
    [(0.01, 1.0), (0.1, 1.0), (1 / 3, 1.0), (0.4, 0.75), (0.5, 0.5), (0.8, 0.125), (1.0, 0.0)],
)
@pytest.mark.parametrize("world", [1, 2])
def test_phases_and_what_the_first_one_pays(cost: float, first_pay: float, world: int) -> None:
    place = two_worlds(budget=5, cost_min=cost, world=world)
    rewards, costs = draws(place, 8)
    np.testing.assert_allclose(rewards[:5], [[first_pay, 0]] * 5, rtol=1e-12)
    assert (rewards[5:] == [0, world - 1]).all()
    assert (costs[:, :, 0] == [10**9, round(cost * 1e9)]).all()
    assert place.costs is not None
    assert place.costs.tolist() == [[10**9], [round(cost * 1e9)]]


def test_the_second_phase_does_not_end() -> None:
    rewards, _ = draws(two_worlds(budget=5, world=2), 3, first=10**15)
    assert (rewards == [0, 1]).all()


def test_both_worlds_look_alike_until_the_budget_could_be_gone() -> None:
    (one, _), (two, _) = (draws(two_worlds(budget=1_000, world=world), 1_001) for world in (1, 2))
    assert (one[:1_000] == two[:1_000]).all()
    assert (one[1_000] != two[1_000]).any()
