from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purse
from purse.lab.data.log import Log, read_log
from purse.lab.data.question import Question
from purse.lab.data.source import read
from purse.lab.replay.log_worlds import WEIGHTED, make_model, make_queues

SIX: dict[str, Any] = {
    "arm": ["a", "a", "a", "b", "b", "b"],
    "reward": [1.0, 0.0, 1.0, 2.0, 0.0, 4.0],
    "cost": [0.5, 0.5, 1.0, 1.0, 0.3, 0.3],
    "probability": [0.5, 0.25, 0.5, 0.5, 0.25, 0.5],
}


def log_of(columns: dict[str, Any], **options: Any) -> Log:
    return read_log(read(pl.DataFrame(columns, strict=False)), Question(**options))


def test_means_of_six_rows_and_of_rows_that_count_twice_or_not_at_all() -> None:
    model = make_model(log_of(SIX))
    some = np.array([2, 0, 1, 0, 2, 1])
    for method, once, again in (
        ("ips", [4 / 6, 12 / 6], [6 / 6, 8 / 6]),
        ("snips", [4 / 8, 12 / 8], [1, 8 / 10]),
        (
            "dr",
            [2 / 3 + (4 - 2 / 3 * 8) / 6, 2 + (12 - 2 * 8) / 6],
            [1, 4 / 3 + (8 - 4 / 3 * 10) / 6],
        ),
    ):
        np.testing.assert_allclose(model.means(method, model.once()), once)
        np.testing.assert_allclose(model.means(method, some), again)


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
    np.testing.assert_allclose(make_queues(log).ess, [0.5 + 1 + 0.5, 0, 0.5 + 1 + 0.5])
    assert log.warnings == ()
    for method in WEIGHTED:
        assert model.means(method, model.once())[1] == 0
    assert model.world.cost_min[:, 0].tolist() == [300_000_000, 300_000_000, 500_000_000]
    assert model.world.cost_max[:, 0].tolist() == [1_000_000_000] * 3


@pytest.mark.parametrize(
    ("changes", "field", "expected"),
    [
        # by number, or by alphabet
        ({"arm": [10, 9, 2, 10, 9, 2]}, "arms", ("2", "9", "10")),
        ({"arm": ["x", "B", "a", "x", "B", "a"]}, "arms", ("B", "a", "x")),
        # the range of rewards has zero in it
        ({"reward": [7.0] * 6}, "reward_range", (0.0, 7.0)),
        ({"reward": [0] * 6}, "reward_range", (0.0, 1.0)),
        ({"reward": [-3, -1] * 3}, "reward_range", (-3.0, 0.0)),
    ],
)
def test_what_a_log_declares(changes: dict[str, Any], field: str, expected: Any) -> None:
    assert getattr(log_of(SIX | changes), field) == expected


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
def test_with_equal_probabilities_snips_and_dr_are_plain_averages(columns: dict[str, Any]) -> None:
    unequal, columns = log_of(columns), {**columns, "probability": [0.4] * len(columns["arm"])}
    model = make_model(log_of(columns))
    plain = pl.DataFrame(columns).group_by("arm").agg(pl.col("reward").mean()).sort("arm")["reward"]
    for method in ("snips", "dr"):
        np.testing.assert_allclose(model.means(method, model.once()), plain, atol=1e-12)
    np.testing.assert_allclose(model.log.ess, model.log.rows)
    np.testing.assert_allclose(make_queues(model.log).ess, model.log.rows)
    for ess in (unequal.ess, make_queues(unequal).ess):
        assert (ess >= 1 - 1e-9).all()
        assert (ess <= unequal.rows + 1e-9).all()


@given(logs(), st.floats(-10, 10), st.floats(0.1, 10))
@settings(max_examples=30, deadline=None)
def test_means_move_with_rewards(columns: dict[str, Any], start: float, unit: float) -> None:
    def means(method: str, start: float, unit: float) -> Any:
        rewards = [start + unit * reward for reward in columns["reward"]]
        model = make_model(log_of({**columns, "reward": rewards}))
        return model.means(method, model.once())

    for method, first in (("snips", start), ("dr", start), ("ips", 0)):
        expected = first + unit * means(method, 0, 1)
        np.testing.assert_allclose(means(method, first, unit), expected, atol=1e-9)


def drawn(chances: list[float], told: list[float], n: int = 5_000, seed: int = 0) -> Log:
    arm = np.random.default_rng(seed).choice(len(chances), n, p=chances)
    outcomes = {"reward": np.arange(n) % 2, "cost": np.ones(n)}
    return log_of({"arm": arm, **outcomes, "probability": np.array(told)[arm]})


def test_probabilities_that_fit_raise_no_doubt() -> None:
    chances = [0.7, 0.29, 0.01]
    doubts = np.array([drawn(chances, chances, seed=seed).doubts for seed in range(100)])
    assert abs(doubts.mean(axis=0)).max() < 4 / 10
    assert abs(doubts.std(axis=0) - 1).max() < 0.3


def test_probabilities_that_contradict_the_frequencies_are_told() -> None:
    found = drawn([0.6, 0.4], [0.5, 0.5])
    assert len(found.warnings) == 2
    assert found.warnings[0].startswith(
        "frame: the probabilities of arm '0' contradict how often it was chosen: sum of "
        "1/probability is 1.2"
    )
    assert drawn([1.0], [1.0]).warnings == ()
    assert len(drawn([1.0], [0.5]).warnings) == 1


@pytest.mark.parametrize(
    ("row", "column", "cell", "message"),
    [
        (3, "reward", float("nan"), ""),
        (2, "cost", -0.2, ": -0.2 must be a number at least 0"),
        (5, "cost", 0, ": 0 must be above 0 where there is no horizon"),
        (3, "probability", 0, ": 0.0 must be a number above 0 and at most 1"),
        (6, "probability", 1.5, ": 1.5 must be"),
        (2, "arm", "", ""),
    ],
)
def test_refuses_bad_rows_by_row_and_column(row: int, column: str, cell: Any, message: str) -> None:
    cells = list(SIX[column])
    cells[row - 1] = cell
    with pytest.raises(purse.InvalidInput) as refused:
        log_of(SIX | {column: cells})
    assert str(refused.value).startswith(f"frame, row {row} (from 1), column {column!r}{message}")


DECLARED = "as is declared"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward": "value"}, "frame has no column 'value'"),
        ({"arms": ["a"]}, r"frame, row 4 \(from 1\), column 'arm': 'b' must be one of the arms a"),
        ({"arms": ["a", "b", "a"]}, "arms=.*each once"),
        ({"arms": "ab"}, "arms='ab'"),
        (
            {"cost_max": 0.9},
            rf"row 3 \(from 1\), column 'cost': 1.0 must be at most 0.9, {DECLARED}",
        ),
        (
            {"cost_min": [0.5, 0.5]},
            rf"row 5 \(from 1\), column 'cost': 0.3 must be at least 0.5, {DECLARED}",
        ),
        (
            {"reward_range": (0, 3)},
            rf"row 6 \(from 1\), column 'reward': 4.0 must lie between 0 and 3, {DECLARED}",
        ),
        ({"reward_range": (1, 1)}, "reward_range="),
    ],
    ids=str,
)
def test_refuses_what_does_not_fit_the_log(options: dict[str, Any], message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        log_of(SIX, **options)


def test_with_a_horizon_a_pull_may_cost_nothing() -> None:
    log = log_of({**SIX, "cost": [0, 0, 0, 0.5, 0.5, 0]}, horizon=10)
    assert make_model(log).world.horizon == 10
    assert log.cost_min.tolist() == [[0], [0]]
