from __future__ import annotations

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.lab.theory.own_clock import block_values
from purse.testing import check_world
from purse.worlds.moving_costs import moving_costs


def test_efficiencies_stay_while_costs_move() -> None:
    world = moving_costs([0.9, 0.5], segments=[2, 1], costs=[[0.1, 1], [1, 0.4]])
    check_world(world)
    n = 60_000
    rewards, units = draws(world, n, seed=2)
    costs = units[:, :, 0] / 1e9
    assert costs[:4].tolist() == [[0.1, 1], [0.1, 1], [1, 0.4], [0.1, 1]]
    for segment in ([0, 1], [2]):
        rows = np.isin(np.arange(n) % 3, segment)
        ratios = rewards[rows].sum(axis=0) / costs[rows].sum(axis=0)
        assert ratios == pytest.approx([0.9, 0.5], abs=0.06)


def test_every_unit_of_the_budget_earns_the_same() -> None:
    world = moving_costs([0.9, 0.5], segments=7, costs=[[0.1, 1], [1, 0.4], [0.3, 0.3]])
    assert block_values(world, 50) == pytest.approx(np.array([[0.9, 0.5]] * 51))


@pytest.mark.parametrize(
    ("efficiencies", "costs", "message"),
    [
        ([1.5], [[0.5], [1]], "efficiencies=1.5: must be at least 0, and times any cost at most 1"),
        ([-0.5], [[0.5]], "efficiencies=-0.5: must be at least 0"),
        ([0.5], [[0.5, 1]], "costs has 2 arms, and efficiencies has 1"),
    ],
)
def test_refusals(efficiencies: list[float], costs: list[list[float]], message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=f"^{message}"):
        moving_costs(efficiencies, segments=5, costs=costs)
