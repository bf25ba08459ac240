from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purse
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


def test_has_no_mean_to_tell() -> None:
    assert two_worlds(budget=10).efficiencies is None


@pytest.mark.parametrize(("world", "gains"), [(1, [100, 0]), (2, [100, 900])])
def test_what_the_fixed_arms_earn(world: int, gains: list[float]) -> None:
    place = two_worlds(budget=100, cost_min=0.1, world=world)
    assert [
        purse.simulate(f"fixed:arm={arm}", place, budget=100, n_paths=1).gain[0] for arm in (0, 1)
    ] == gains


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"world": 3}, "world=3"),
        ({"world": 0}, "world=0"),
        ({"world": "second"}, "world='second'"),
        ({"budget": 0}, "budget=0"),
        ({"budget": 10.5}, "budget=10.5"),
        ({"budget": np.nan}, "budget=nan"),
        ({"cost_min": 0}, "cost_min=0"),
        ({"cost_min": -0.1}, "cost_min=-0.1"),
        ({"cost_min": 1.1}, "cost_min=1.1"),
        ({"cost_min": np.nan}, "cost_min=nan"),
        ({"cost_min": 1e-12}, "cost_min=1e-12"),
    ],
    ids=str,
)
def test_refuses_bad_input_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(purse.InvalidInput, match=field):
        two_worlds(**{"budget": 100} | options)
