from __future__ import annotations

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.job import make_job
from purse.lab.theory.own_clock import block_values, is_defined

SWITCHING = "switching:segments=[3,2],rewards=[[.9,.1],[.1,.9]],costs=[[.5,.2],[.25,1]]"


def test_a_block_earns_the_mean_efficiency_where_rounds_are_alike() -> None:
    world = worlds.make("bernoulli:rewards=[.9,.6],costs=[4,1.5]", 100)
    assert block_values(world, 3) == pytest.approx(np.array([[0.9, 1.6]] * 4))


def test_a_block_earns_what_its_recursion_says() -> None:
    world = worlds.make(SWITCHING, 100)
    values = block_values(world, 20)
    assert values.shape == (21, 2)
    rewards = np.array([[0.9, 0.1]] * 3 + [[0.1, 0.9]] * 2)
    costs = np.array([[0.5, 0.2]] * 3 + [[0.25, 1]] * 2)
    for t in range(20):
        row = t % 5
        following = rewards[row] + (1 - costs[row]) * values[t + 1]
        assert values[t] == pytest.approx(following, abs=1e-15)
    assert values[:15] == pytest.approx(values[5:20])


def test_the_last_row_of_a_table_goes_on() -> None:
    world = worlds.function("table")(rewards=[[1, 0], [0, 1]], costs=[[1, 0.5], [0.5, 0.25]])
    # arm 1: 0 + 0.5 * (1 / 0.25)
    assert block_values(world, 2) == pytest.approx(np.array([[1, 2], [0, 4], [0, 4]]))


@pytest.mark.parametrize(
    "world",
    [
        "table:rewards=[[1,0],[0,1]],costs=[[1,.5],[.5,.25]],shuffle=True",
        "outages",
        "ad_slots",
    ],
)
def test_it_is_not_defined_everywhere(world: str) -> None:
    place = worlds.make(worlds.example(world) if ":" not in world else world, [100, 100])
    if place.efficiencies is None:
        with pytest.raises(purse.InvalidInput, match="own-clock regret is for worlds that are"):
            block_values(place, 10)


def test_a_run_that_would_take_too_long_has_none() -> None:
    job = make_job("uniform", SWITCHING, 1000)
    assert is_defined(job, 10)
    assert not is_defined(job, 10**6)


def test_where_rounds_are_alike_it_is_what_the_budget_buys() -> None:
    found = purse.lab.regrets("uniform", "bernoulli:rewards=[.9,.6],costs=[4,1.5]", 100, n_paths=4)
    seen = found.evidence
    best = 0.4 * (100 - seen.left + 4) - seen.gain
    assert found["own_clock"].mean == pytest.approx(best.mean())


def test_where_costs_are_equal_it_is_regret_and_what_the_next_unit_earns() -> None:
    # everybody has the same rounds, so arm 0 is credited with what it earns in them and the next
    found = purse.lab.regrets("uniform", "same_costs", 110, n_paths=5)
    assert found["own_clock"].mean == pytest.approx(found["best_fixed_arm"].mean + 1)


def test_it_is_the_sum_over_the_rounds_of_a_game() -> None:
    world = worlds.make(SWITCHING, 7)
    values = block_values(world, 100)
    seen = purse.lab.regrets("fixed:arm=1", world, 7, n_paths=2).evidence
    costs = np.array(([0.2] * 3 + [1] * 2) * 10)
    paid = costs[np.cumsum(costs) <= 7 + 1e-9]
    credit = values[0] + sum(cost * values[t + 1] for t, cost in enumerate(paid))
    assert seen.own_clock is not None
    assert seen.own_clock == pytest.approx(np.stack([credit, credit], axis=1))
