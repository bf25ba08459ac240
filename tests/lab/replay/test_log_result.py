from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.lab.replay.bootstrap import Resampled
from purse.lab.replay.log_result import LogResult, _verdict, quoted
from purse.lab.theory.estimate import Estimate
from tests.support.replays import log_of


def players(rows: str, rounds: float = 9) -> list[dict[str, Any]]:
    """The players of these estimates with half their intervals, by policy; a half below zero is a
    refusal. The errors of two players are independent.
    """
    cells = []
    for row in rows.split("; "):
        policy, *known = row.rsplit(" ", 2)
        mean, half = map(float, known)
        kind = {"always": "arm", "as": "log"}.get(policy.split()[0], "policy")
        ends = (None,) * 4 if half < 0 else (mean, mean - half, mean + half, rounds)
        cells.append((policy, "why" if half < 0 else None, kind, "y", *ends))
    texts = ["policy", "refused", "kind", "pulls"]
    schema = dict.fromkeys(texts, pl.String)
    schema |= dict.fromkeys(["estimate", "low", "high", "rounds"], pl.Float64)
    ranked = quoted(pl.DataFrame(cells, schema, orient="row"))
    best = ranked[0]
    for player in ranked:
        player["less"] = None
        if player is not best and not player["refused"]:
            less = best["estimate"] - player["estimate"]
            half = np.hypot(best["high"] - best["estimate"], player["high"] - player["estimate"])
            player["less"] = Estimate(less, half / 2, less - half, less + half)
    return ranked


@pytest.mark.parametrize(
    ("rows", "outcome", "sentence"),
    [
        (
            "a 10 1; b 6 1",
            "best",
            "**`a` is estimated best**: it gains **10 ± 1** and pulls y.",
        ),
        (
            "a 8 1; b 6 1; always x 12 1; always y 11.5 1; "
            "as logged 3 0.5",
            "tied",
            "**The log does not tell `y` from `x`**, which has the largest estimate: it gains "
            "**12 ± 1**.",
        ),
        ("always x 12 1; a 8 1", "best",
         "**Buy `x` in every round**: it is estimated to gain **12 ± 1**."),
        ("as logged 12 1; a 8 1", "best",
         "**Nothing here beats what was done**: as logged, the first 9 of its 20 rows gained "
         "**12 ± 1**."),
        (
            "a 10 1; b 9 0.5; c 2 1",
            "tied",
            "**The log does not tell `b` from `a`**, which has the largest estimate: it gains "
            "**10 ± 1** and pulls y.",
        ),
        (
            "always x 5 1; always y 4.8 1; a 4.5 1; as logged 4 1",
            "tied",
            "**The log cannot tell what is best**: `x` has the largest estimate, **5 ± 1**, "
            "and no policy or arm is behind it beyond chance.",
        ),
        (
            "a 0 -1; always x 0 -1; as logged 1.6 1.5",
            "refused",
            "**This log is too small to tell**: as logged, the first 9 of its 20 rows gained "
            "**1.6 ± 1.5**.",
        ),
        ("a 0 -1; always x 0 -1", "refused",
         "This log can tell nothing: every player is refused."),
        (
            "always x -2 0.5; always y -4 0.5; a -3 0.1",
            "best",
            "**Buy nothing**: the least that is lost is **-2 ± 0.5**, by `x`.",
        ),
        ("a 8 1; always x 0 -1", "best",
         "`a` is estimated to gain **8 ± 1** and pulls y."),
    ],
)  # fmt: skip
def test_a_verdict_says_who_is_best_and_how_sure_that_is(
    rows: str, outcome: str, sentence: str
) -> None:
    verdict = _verdict(players(rows), 20)
    says = verdict.sentence.replace("\N{NO-BREAK SPACE}", " ")
    assert (verdict.outcome, says) == (outcome, sentence)


def test_a_budget_that_pays_for_no_pull_says_so() -> None:
    verdict = _verdict(players("a 0 0; always x 0 0", 0), 20)
    says = "**The budget pays for no pull**: nothing can be bought with it."
    assert verdict == ("refused", says)


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
    ((outcome, sentence),) = result.verdicts().values()
    assert outcome == "refused"
    assert sentence.startswith(
        "**Rewards change from the first half of the rows to the second** (of `A`), so do not rely "
        "on this: "
    )
    assert "beats what was done" not in sentence
    (warning,) = result.warnings
    assert "mean reward of arm 'A' is 0.8" in warning
    mixed = rows.with_columns(probability=0.5).sample(fraction=1, shuffle=True, seed=1)
    assert not log_of(mixed).turns


def test_the_answer_says_which_arms_the_best_policy_pulls() -> None:
    rows = pl.DataFrame({"arm": ["a", "b"] * 300, "reward": [1.0, 0.5] * 300, "cost": 1})
    rows = rows.with_columns(probability=0.5)
    result = purse.replay(rows, budgets=100, policies="fixed:arm=0", n_paths=4)
    parts = dict(result.frame().select("policy", "pulls").rows())
    assert parts["fixed:arm=0"] == "100.0% a"
    assert parts["as logged"] == "50.0% a + 50.0% b"
    assert "and pulls 100.0% a" in " ".join(str(result).split())
