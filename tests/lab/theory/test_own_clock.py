import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.job import make_job
from purse.lab.theory.own_clock import block_values, is_defined
from purse.types import World

SWITCHING = "switching:segments=[3,2],rewards=[[.9,.1],[.1,.9]],costs=[[.5,.2],[.25,1]]"
ALIKE = "bernoulli:rewards=[.9,.6],costs=[4,1.5]"
TABLE = "table:rewards=[[1,0],[0,1]],costs=[[1,.5],[.5,.25]]"


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
    # where rounds are alike, the mean efficiency; the last row of a table goes on
    assert block_values(worlds.make(ALIKE, 9), 3) == pytest.approx(np.array([[0.9, 1.6]] * 4))
    last = np.array([[1, 2], [0, 4], [0, 4]])  # arm 1: 0 + 0.5 * (1 / 0.25)
    assert block_values(worlds.make(TABLE, 9), 2) == pytest.approx(last)


@pytest.mark.parametrize(
    "world",
    [
        f"{TABLE},shuffle=True",
        worlds.outages(worlds.make(SWITCHING, 9), [[1, 1], [0, 1]], segments=[2, 2]),
    ],
)
def test_it_is_not_defined_everywhere(world: str | World) -> None:
    with pytest.raises(purse.InvalidInput, match="own-clock regret is for worlds that are"):
        block_values(worlds.make(world, 100), 10)


def test_a_run_that_would_take_too_long_has_none() -> None:
    job = make_job("uniform", SWITCHING, 1000)
    assert is_defined(job, 10)
    assert not is_defined(job, 10**6)


def test_in_known_worlds_it_is_what_the_budget_buys_or_the_plain_regret() -> None:
    alike = purse.lab.regrets("uniform", ALIKE, 100, n_paths=4)
    seen = alike.evidence
    best = 0.4 * (100 - seen.left + 4) - seen.gain
    assert alike["own_clock"].mean == pytest.approx(best.mean())
    # everybody has the same rounds, so arm 0 is credited with what it earns in them and the next
    same = purse.lab.regrets("uniform", "same_costs", 110, n_paths=5)
    assert same["own_clock"].mean == pytest.approx(same["best_fixed_arm"].mean + 1)


def test_it_is_the_sum_over_the_rounds_of_a_game() -> None:
    world = worlds.make(SWITCHING, 7)
    values = block_values(world, 100)
    seen = purse.lab.regrets("fixed:arm=1", world, 7, n_paths=2).evidence
    costs = np.array(([0.2] * 3 + [1] * 2) * 10)
    paid = costs[np.cumsum(costs) <= 7 + 1e-9]
    credit = values[0] + sum(cost * values[t + 1] for t, cost in enumerate(paid))
    assert seen.own_clock == pytest.approx(np.stack([credit, credit], axis=1))
