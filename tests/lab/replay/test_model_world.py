from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purse
from purse.lab.replay.model_world import make_model
from tests.support.replays import SIX, log_of


def test_means_of_six_rows_and_of_rows_that_count_twice_or_not_at_all() -> None:
    log = log_of(SIX)
    np.testing.assert_allclose(log.means(), [4 / 8, 12 / 8])
    np.testing.assert_allclose(log.means(np.array([2, 0, 1, 0, 2, 1])), [1, 8 / 10])


def test_the_estimated_world_has_the_logged_pairs_as_likely_as_their_weights() -> None:
    log = log_of(SIX)
    tables = make_model(log).world.tables
    chances = np.diff(np.concatenate([[[0, 0]], tables.below[0].T / 2**53, [[1, 1]]]).T)
    found = {
        (arm, round(4 * float(reward), 9), int(cost)): float(chance)
        for arm in range(2)
        for reward, cost, chance in zip(
            tables.rewards[0, arm], tables.costs[0, arm, :, 0], chances[arm], strict=True
        )
    }
    half, third, whole = 500_000_000, 300_000_000, 1_000_000_000
    assert found == {
        (0, 1, half): 0.25,
        (0, 0, half): 0.5,
        (0, 1, whole): 0.25,
        (1, 2, whole): 0.25,
        (1, 0, third): 0.5,
        (1, 4, third): 0.25,
    }


def test_the_estimated_world_declares_what_was_logged_and_no_true_means() -> None:
    world = make_model(log_of(SIX)).world
    assert world.arms == ("a", "b")
    assert world.reward_range == (0.0, 4.0)
    assert world.cost_min.ravel().tolist() == [500_000_000, 300_000_000]
    assert world.cost_max.ravel().tolist() == [1_000_000_000, 1_000_000_000]
    assert world.reward_means is None
    with pytest.raises(purse.InvalidInput, match="oracle needs the true mean"):
        purse.simulate("oracle", world, 10)


def test_an_arm_that_was_never_logged_is_there_and_knows_nothing() -> None:
    log = log_of(SIX, arms=["b", "c", "a"])
    model = make_model(log)
    assert log.rows.tolist() == [3, 0, 3]
    np.testing.assert_allclose(log.ess, [64 / 24, 0, 64 / 24])
    assert log.warnings == ()
    assert log.means()[1] == 0
    assert model.world.cost_min[:, 0].tolist() == [300_000_000, 300_000_000, 500_000_000]
    assert model.world.cost_max[:, 0].tolist() == [1_000_000_000] * 3


@st.composite
def logs(draw: st.DrawFn) -> dict[str, Any]:
    kinds = {
        "arm": st.integers(0, 2),
        "reward": st.floats(-5, 5),
        "cost": st.sampled_from([0.1, 0.5, 1.0]),
        "probability": st.floats(0.05, 1),
    }
    n = draw(st.integers(1, 40))
    return {name: draw(st.lists(kind, min_size=n, max_size=n)) for name, kind in kinds.items()}


@given(logs())
@settings(max_examples=30, deadline=None)
def test_with_equal_probabilities_means_are_plain_averages(columns: dict[str, Any]) -> None:
    unequal, columns = log_of(columns), {**columns, "probability": [0.4] * len(columns["arm"])}
    log = log_of(columns)
    plain = pl.DataFrame(columns).group_by("arm").agg(pl.col("reward").mean()).sort("arm")["reward"]
    np.testing.assert_allclose(log.means(), plain, atol=1e-12)
    np.testing.assert_allclose(log.ess, log.rows)
    assert (unequal.ess >= 1 - 1e-9).all()
    assert (unequal.ess <= unequal.rows + 1e-9).all()


@given(logs(), st.floats(-10, 10), st.floats(0.1, 10))
@settings(max_examples=30, deadline=None)
def test_means_move_with_rewards(columns: dict[str, Any], start: float, unit: float) -> None:
    def means(start: float, unit: float) -> Any:
        return log_of({**columns, "reward": [start + unit * r for r in columns["reward"]]}).means()

    np.testing.assert_allclose(means(start, unit), start + unit * means(0, 1), atol=1e-9)
