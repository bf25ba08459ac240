import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import purse
from purse import worlds
from purse.lab.theory.contexts import (
    ContextTable,
    best_linear_policy,
    hindsight_optimum,
    lp_with_contexts,
    lp_without_contexts,
)
from purse.lab.theory.fluid import best_ratio, lp_optimum, solve_rows
from purse.types import Floats

FRACTIONS = (0.05, 0.1, 0.2, 0.5)


def random_table(
    seed: int, n_resources: int = 1, rounds: int | None = 30, free: bool = False
) -> ContextTable:
    random = np.random.default_rng(seed)
    n_rows, n_arms = int(random.integers(1, 9)), int(random.integers(1, 5))
    costs = random.choice([0.0 if free else 0.2, 0.5, 1.0], (n_rows, n_arms, n_resources))
    costs += (random.random(costs.shape) < 0.5) * random.random(costs.shape)
    features = np.concatenate([random.normal(size=(n_rows, 1, 2)), np.ones((n_rows, 1, 1))], axis=2)
    return ContextTable(random.random((n_rows, n_arms)), costs, features, rounds)


def dense(table: ContextTable, budgets: list[float]) -> float:
    """The same program, written out as the definition says."""
    n_rows, n_arms = table.rewards.shape
    choices = np.kron(np.eye(n_rows), np.ones(n_arms))
    limits = table.costs.reshape(n_rows * n_arms, -1).T
    assert table.rounds is not None
    most = [*[table.rounds / n_rows] * n_rows, *budgets]
    return -float(linprog(-table.rewards.ravel(), np.vstack([choices, limits]), most).fun)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.floats(0.5, 40), st.integers(1, 60), st.booleans())
def test_the_lp_with_contexts_is_the_linear_program(
    seed: int, budget: float, rounds: int, free: bool
) -> None:
    table, money = random_table(seed, rounds=rounds, free=free), round(budget, 6)
    found = lp_with_contexts(table, money)
    assert found == pytest.approx(dense(table, [money]), abs=1e-9, rel=1e-9)
    scale = rounds / len(table.rewards)
    assert scale * solve_rows(
        table.rewards, table.costs, np.array([money / scale])
    ) == pytest.approx(found, abs=1e-9, rel=1e-9)
    assert found >= lp_without_contexts(table, money) - 1e-9
    assert found >= best_linear_policy(table, money) - 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_several_resources_are_solved(seed: int) -> None:
    table = random_table(seed, n_resources=2)
    found = lp_with_contexts(table, [9, 7])
    assert found == pytest.approx(dense(table, [9, 7]), abs=1e-9)
    assert found >= lp_without_contexts(table, [9, 7]) - 1e-9
    assert (
        found
        <= min(dense(table._replace(costs=table.costs[..., [j]]), [b]) for j, b in ((0, 9), (1, 7)))
        + 1e-9
    )
    with pytest.raises(purse.InvalidInput, match="linear policy is for one resource, and here are"):
        best_linear_policy(table, [9, 7])


@pytest.mark.parametrize("seed", range(20))
def test_without_a_horizon_it_is_the_best_ratio_of_all_policies(seed: int) -> None:
    table = random_table(seed, rounds=None)
    rewards, costs = table.rewards[:5, :3], table.costs[:5, :3]
    small = table._replace(rewards=rewards, costs=costs, features=table.features[:5])
    rows = np.arange(len(rewards))
    policies = np.stack(np.meshgrid(*[np.arange(rewards.shape[1])] * len(rewards))).reshape(
        len(rewards), -1
    )
    ratios = [rewards[rows, arms].sum() / costs[rows, arms, 0].sum() for arms in policies.T]
    assert best_ratio(rewards, costs[:, :, 0])[0] == pytest.approx(max(ratios), rel=1e-12)
    assert lp_with_contexts(small, 8) == pytest.approx(8 * max(ratios), rel=1e-12)
    twice = small._replace(costs=np.concatenate([costs, costs / 4], axis=2))
    assert lp_with_contexts(twice, [8, 2]) == pytest.approx(8 * max(ratios), rel=1e-9)
    assert 8 * max(ratios) >= best_linear_policy(small, 8) - 1e-9
    assert 8 * max(ratios) >= lp_without_contexts(small, 8) - 1e-9


def test_where_all_rows_are_equal_contexts_are_worth_nothing() -> None:
    rewards, costs = [0.9, 0.6, 0.2], [0.8, 0.3, 0.05]
    blind = worlds.function("bernoulli")(rewards, costs)
    same = worlds.function("table")(
        [rewards] * 7, [costs] * 7, sample=True, features=np.arange(7)[:, None]
    )
    for budget, horizon in ((3, 20), (20, 20), (50, 20), (5, None)):
        optimum = lp_optimum(blind, budget, horizon=horizon).value
        for found in (lp_with_contexts, lp_without_contexts, best_linear_policy):
            assert found(same, budget, horizon=horizon) == pytest.approx(optimum, rel=1e-8)


def shares(name: str) -> tuple[Floats, Floats]:
    """LP without contexts and best linear policy over the LP with contexts, at four budgets."""
    world = worlds.make(name, 1)
    assert world.cost_means is not None
    assert world.horizon is not None
    found = []
    for fraction in FRACTIONS:
        budget = round(fraction * float(world.cost_means.max()) * world.horizon, 6)
        top = lp_with_contexts(world, budget)
        found.append([lp_without_contexts(world, budget), best_linear_policy(world, budget)])
        found[-1] = [gain / top for gain in found[-1]]
    assert top <= hindsight_optimum(world, budget, n_paths=1)
    return np.array(found)[:, 0], np.array(found)[:, 1]


def test_what_contexts_are_worth_in_the_shipped_worlds() -> None:
    blind, linear = shares("linear_contexts")
    np.testing.assert_allclose(blind, [0.783, 0.777, 0.729, 0.761], atol=0.004)
    np.testing.assert_allclose(linear, 1, atol=1e-4)
    blind, linear = shares("logistic_contexts")
    np.testing.assert_allclose(blind, [0.889, 0.883, 0.862, 0.888], atol=0.004)
    np.testing.assert_allclose(linear, [0.985, 0.985, 0.993, 0.998], atol=0.002)


def test_the_best_linear_policy_uses_the_context_of_each_arm() -> None:
    features = np.array([[[1], [0]], [[0], [1]]])  # each arm is told where it is good
    own = worlds.function("table")([[1, 0], [0, 1]], [1, 1], sample=True, features=features)
    assert best_linear_policy(own, 50, horizon=50, ridge=1e-9) == pytest.approx(50)
    assert lp_without_contexts(own, 50, horizon=50) == pytest.approx(25)


def test_tables_in_time_count_their_rows_as_rounds() -> None:
    rows = worlds.function("table")([[1, 0], [0, 1]], [1, 1], features=[[1], [0]])
    assert lp_with_contexts(rows, 5) == 2
    assert lp_with_contexts(rows, 1) == 1
    assert hindsight_optimum(rows, 1, n_paths=1) == 1
    two = worlds.function("table")([[1, 0], [0, 1]], [[[1, 2]] * 2] * 2, features=[[1], [0]])
    assert hindsight_optimum(two, [5, 2], n_paths=1) == pytest.approx(1)
