import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

from purse.base import amounts
from purse.engine.draws import draws
from purse.lab.data.table import FullTable, world_of_table
from purse.lab.replay.lead_over_rival import Rows
from purse.lab.replay.references import _lp_by_context, _play_mixture, references
from purse.lab.theory.fluid import hindsight, mix
from purse.types import Floats, Ints
from tests.support.replays import random_table


@pytest.mark.parametrize("budget", [3.0, 12.0, 40.0])
def test_the_error_over_rows_is_that_of_tables_drawn_again(budget: float) -> None:
    table = random_table(4, n_rounds=200)
    costs, rng = table.costs / amounts.UNIT, np.random.default_rng(1)
    rows = Rows(table.arms, table.rewards, costs, budget, 60)
    for plays in (mix(costs.mean(axis=0), table.rewards.mean(axis=0), budget, 60), rows.alone(2)):
        rival, ahead, error = rows.ahead(plays)
        again = []
        for _ in range(600):
            drawn = rng.integers(200, size=200)
            other = Rows(table.arms, table.rewards[drawn], costs[drawn], budget, 60)
            means = other.costs.mean(axis=0), other.rewards.mean(axis=0)
            best = mix(*means, budget, 60) if (plays > 0).sum() > 1 else None
            arm = other.alone(int(plays.argmax())) if best is None else best
            gains = means[1] @ arm - means[1] @ other.alone(table.arms.index(str(rival)))
            again.append(gains)
        assert error is not None
        assert error == pytest.approx(np.std(again), rel=0.2)
        assert ahead == pytest.approx(np.mean(again), abs=0.3 * error)


def test_the_mixture_keeps_to_the_budget_under_each_rule() -> None:
    rewards, costs = np.tile([1.0, 3.0], (50, 1)), np.tile([10**9, 2 * 10**9], (50, 1))
    world = world_of_table(FullTable("t", ("a", "b"), rewards, costs))
    for stop, sums in (("exit", (30, 20, 10)), ("retry", (31, 21, 11))):
        played = _play_mixture(world, np.array([0.0, 1.0]), 21, 3, 0, stop)
        assert [values.tolist() for values in played] == [[value] * 3 for value in sums]
    _, spent, pulls = _play_mixture(world, np.array([0.0, 0.5]), 1000, 200, 0, "hold")
    assert np.array_equal(spent, 2 * pulls)
    assert abs(pulls.mean() - 25) < 4 * np.sqrt(50 / 4 / 200)


def test_the_bounds_are_the_optima_of_means_and_of_all_rows() -> None:
    table = random_table(1)
    world = world_of_table(table)
    gains = dict(references(world, [5.0], n_paths=4, seed=1).select("player", "gain").rows())
    means = linprog(
        -table.rewards.mean(axis=0), [[1] * 3, table.costs.mean(axis=0) / 1e9], [40, 5.0]
    )
    assert gains["LP optimum"] == pytest.approx(-means.fun, abs=1e-6)
    assert gains["hindsight optimum"] == hindsight(table.rewards, table.costs, 5.0)[0]
    assert max(gains.values()) == gains["hindsight optimum"]


def test_with_a_shorter_horizon_hindsight_knows_the_rows_of_each_path() -> None:
    table = random_table(2)
    world = world_of_table(table, horizon=10)
    found = references(world, [2.0], n_paths=3, seed=1).row(
        by_predicate=pl.col("player") == "hindsight optimum", named=True
    )
    paths = (draws(world, 10, seed=1, path=path) for path in range(3))
    top = table.rewards.max()
    expected = [hindsight(rewards * top, costs[:, :, 0], 2.0)[0] for rewards, costs in paths]
    assert found["gain"] == pytest.approx(np.mean(expected))
    assert found["gain_low"] < found["gain"] < found["gain_high"]


def classes(seed: int) -> tuple[Floats, Floats, Ints]:
    """Contexts of three classes, rewards and units."""
    rng = np.random.default_rng(seed)
    contexts = np.eye(4)[rng.integers(3, size=30)] + [0, 0, 0, 1]
    return contexts[:, None], rng.random((30, 3)), rng.integers(1, 9, (30, 3)) * 10**8


@pytest.mark.parametrize("seed", range(3))
def test_optima_with_contexts(seed: int) -> None:
    contexts, rewards, units = classes(seed)
    budget = 4.0
    group = contexts[:, 0, :3].argmax(axis=1)
    sizes = np.bincount(group)
    means = [
        np.array([values[group == number].mean(axis=0) for number in range(3)])
        for values in (rewards, units / 1e9)
    ]
    weights = [(mean * sizes[:, None]).ravel() for mean in means]
    rows = np.vstack([np.repeat(np.eye(3), 3, axis=1), weights[1]])
    optimum = linprog(-weights[0], rows, [1, 1, 1, budget])
    gain, spent, pulls = _lp_by_context(contexts, rewards, units, budget, 30)
    assert gain == pytest.approx(-optimum.fun, abs=1e-9)
    assert spent <= budget + 1e-9
    # half the rounds with half the budget: half of everything
    halves = _lp_by_context(contexts, rewards, units, budget / 2, 15)
    assert halves == pytest.approx((gain / 2, spent / 2, pulls / 2))
    # where every round has a context of its own, it is hindsight
    own = contexts + np.arange(30)[:, None, None] * [1, 0, 0, 0]
    known = hindsight(rewards, units, budget)
    assert _lp_by_context(own, rewards, units, budget, 30) == pytest.approx(known)
