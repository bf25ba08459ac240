from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.lab.data.log import Log
from purse.lab.replay.bootstrap import Resampled
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.log_words import _finding
from purse.lab.replay.model_world import make_model
from purse.lab.theory.estimate import t_quantile
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
        log_of(SIX | {column: cells}, horizon="none")
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


# the answer in words


def found(rows: str) -> str:
    """The finding about these estimates with their intervals, by policy and method; a half below
    zero is a refusal. The errors of two players are independent.
    """
    frame, gains, n = answered(rows), {}, 16
    player_of = {name: number for number, name in enumerate(frame["policy"].unique().sort())}
    for row in frame.filter(pl.col("refused").is_null()).to_dicts():
        wave = np.array([1.0 if bin(k & player_of[row["policy"]] + 1).count("1") % 2 else -1.0
                         for k in range(n)])  # fmt: skip
        wave *= (row["high"] - row["estimate"]) / t_quantile(n - 1, 0.95) / wave.std(ddof=1)
        sample = Resampled(np.array([row["estimate"]]), (row["estimate"] + wave)[:, None])
        gains[row["policy"], 5.0, row["method"]] = sample
    return plain_blanks(_finding(frame, gains, 20))


def plain_blanks(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def answered(rows: str) -> pl.DataFrame:
    """The rows of `found` as a frame."""
    texts = ["policy", "method", "refused", "kind", "pulls"]
    numbers = ["budget", "estimate", "low", "high", "rounds"]
    schema = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64)
    cells: list[tuple[Any, ...]] = []
    for row in rows.split("; "):
        policy, method, *known = row.rsplit(" ", 3)
        mean, half = map(float, known)
        kind = {"always": "arm", "as": "log"}.get(policy.split()[0], "policy")
        ends = (None,) * 4 if half < 0 else (mean, mean - half, mean + half, 9.0)
        cells.append((policy, method, "why" if half < 0 else None, kind, "y", 5.0, *ends))
    return pl.DataFrame(cells, schema, orient="row")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            "a replay 9 1; b replay 5 1; a snips 10 1; b snips 6 1",
            "**`a` is estimated best**: it gains **10 ± 1**. It pulls y. The next policy, `b`, "
            "gains 6 ± 1: "
            "4 ± 1.4 less.",
        ),
        (
            "a snips 8 1; b snips 6 1; always x snips 12 1; always y snips 11.5 1; "
            "as logged snips 3 0.5",
            "The largest estimate is that of `x` in every round: **12 ± 1**. The best of the "
            "policies, `a`, gains 8 ± 1: 4 ± 1.4 less. The next arm, `y`, gains 11.5 ± 1: 0.5 ± "
            "1.4 less; this log does not tell `y` from `x`. As logged, the first 9 of its 20 rows "
            "gained 3 ± 0.5.",
        ),
        (
            "a snips 10 1; b snips 9 0.5; c snips 2 1",
            "The largest estimate is that of `a`: **10 ± 1**. It pulls y. The next policy, `b`, "
            "gains 9 ± 0.5: 1 ± 1.1 less; this log does not tell `b` from `a`.",
        ),
        (
            "always x snips 5 1; always y snips 4.8 1; a snips 4.5 1; as logged snips 4 1",
            "**The log cannot tell what is best**: `always x` has the largest estimate, **5 ± 1**, "
            "and no policy or arm is behind it beyond chance.",
        ),
        (
            "a snips 0 -1; always x snips 0 -1; as logged snips 1.6 1.5",
            "**This log is too small to tell**: as logged, the first 9 of its 20 rows gained "
            "**1.6 ± 1.5**",
        ),
        (
            "always x snips -2 0.5; always y snips -4 0.5; a snips -3 0.1",
            "**Buy nothing**: the least that is lost is **-2 ± 0.5**, by `always x`.",
        ),
        (
            "a replay 0 -1; b replay 5 1; c replay 0 -1; a snips 10 1; b snips 8 0.5; c snips 0 -1",
            "**`a` is estimated best**: it gains **10 ± 1**. It pulls y. The next policy, `b`, "
            "gains 8 ± 0.5: 2 ± 1.1 less. About `c` this log can tell nothing: every method "
            "refuses. The methods differ by more than their intervals for `b`: a sign that an "
            "assumption does not hold.",
        ),
    ],
)
def test_a_finding_says_who_is_best_and_how_sure_that_is(rows: str, says: str) -> None:
    assert found(rows).startswith(says)


def test_players_are_compared_on_the_same_logs_drawn_again() -> None:
    rng = np.random.default_rng(0)
    shared = 20 * rng.standard_normal((100, 1))
    best = Resampled(280 + rng.standard_normal(50), 280 + shared + rng.standard_normal((100, 16)))
    other = Resampled(np.array([268.0]), 268 + shared)
    assert best.estimate().error == pytest.approx(20, rel=0.2)
    less = best.ahead(other)
    assert less.mean == pytest.approx(12, abs=0.5)
    assert less.error < 1
    few = Resampled(other.values + np.zeros(50), other.redone + np.zeros((100, 2)))
    assert best.ahead(few).error < 1


def test_a_budget_that_pays_for_no_pull_says_so() -> None:
    rows = answered("a snips 0 0; always x snips 0 0").with_columns(rounds=pl.lit(0.0))
    says = "**The budget pays for no pull**: nothing can be bought with it."
    assert _finding(rows, {}, 20) == says


def test_a_trend_is_no_skill() -> None:
    """Even play of A, whose mean falls along the log, and B, whose mean stays."""
    rng, n = np.random.default_rng(0), 1_500
    arm, early = rng.random(n) < 0.5, np.arange(n) < n / 2
    means = np.where(arm, 0.5, np.where(early, 0.8, 0.2))
    rewards = (rng.random(n) < means).astype(float)
    rows = pl.DataFrame({"arm": np.where(arm, "B", "A"), "reward": rewards, "cost": 1})
    game: dict[str, Any] = {"budgets": n // 3, "policies": "uniform", "n_paths": 4}
    result = purse.replay(rows.with_columns(probability=0.5), **game)
    assert isinstance(result, LogResult)
    (says,) = map(plain_blanks, result.findings().values())
    assert says.startswith(
        "**Rewards change from the first half of the rows to the second** (of `A`), so do not rely "
        "on this: "
    )
    assert "beats what was done" not in says
    assert "As logged, the first 500 of its 1,500 rows gained" in says
    (warning,) = result.warnings
    assert "mean reward of arm 'A' is 0.8" in warning
    mixed = rows.with_columns(probability=0.5).sample(fraction=1, shuffle=True, seed=1)
    assert not log_of(mixed).turns


def test_the_answer_says_which_arms_the_best_policy_pulls() -> None:
    rows = pl.DataFrame({"arm": ["a", "b"] * 300, "reward": [1.0, 0.5] * 300, "cost": 1})
    rows = rows.with_columns(probability=0.5)
    result = purse.replay(rows, budgets=100, policies="fixed:arm=0", n_paths=4)
    parts = dict(result.frame().filter(method="snips").select("policy", "pulls").rows())
    assert parts["fixed:arm=0"] == "100.0% a"
    assert parts["as logged"] == "50.0% a + 50.0% b"
    assert "It pulls 100.0% a." in str(result)
