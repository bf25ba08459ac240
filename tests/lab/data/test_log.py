from typing import Any

import numpy as np
import pytest

import purse
from purse.lab.data.log import Log
from purse.lab.replay.model_world import make_model
from tests.support.replays import SIX, log_of


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
        (5, "cost", 0, ": 0 must be above 0 if there is no horizon"),
        (3, "probability", 0, ": 0.0 must be a number above 0 and at most 1"),
        (6, "probability", 1.5, ": 1.5 must be"),
        (2, "arm", "", ""),
    ],
)
def test_refuses_bad_rows_by_row_and_column(row: int, column: str, cell: Any, message: str) -> None:
    cells = list(SIX[column])
    cells[row - 1] = cell
    with pytest.raises(purse.InvalidInput) as refused:
        log_of(SIX | {column: cells}, horizon="none", budgets=1)
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
