from __future__ import annotations

import numpy as np
import pytest

from purse.lab.ranking import advice
from purse.lab.ranking.record import Record, record_of
from purse.lab.ranking.scores import Alone, Leaderboard
from purse.lab.ranking.suite import Case


def by_hand() -> Record:
    """Three cases of two situations: `a` is best in the first, `b` in the second and on average."""
    cases = (Case("one", "s", "w", 1), Case("two", "s", "w", 1), Case("three", "t", "w", 1))
    means = {
        "a": {"one": 0.1, "two": 0.2, "three": 0.9},
        "b": {"one": 0.3, "two": 0.4, "three": 0.1},
        "c": {"one": 0.0, "two": 0.0},
        "d": {"one": 0.0},
    }
    scores = {
        (policy, case): np.array([mean - 0.05, mean + 0.05])
        for policy, row in means.items()
        for case, mean in row.items()
    }
    refusals = {
        ("c", "three"): "c needs to know what each arm costs, and that it does not change",
        ("d", "two"): "d needs a horizon",
        ("d", "three"): "d needs a horizon",
    }
    alone = {"one": Alone(0.45, 0.9), "two": Alone(0.0, 0.5), "three": Alone(0.2, 0.2)}
    return record_of(Leaderboard(cases, tuple("abcd"), scores, refusals, "2", alone))


def test_the_policies_of_each_situation_by_mean_score() -> None:
    record = by_hand()
    # c knows costs, and d does not play all cases of s
    first = advice.rank(record, ["s"])
    assert [choice.policy for choice in first] == ["a", "b"]
    assert first[0] == ("a", pytest.approx(0.15), pytest.approx(0.2), "two")
    assert [choice.policy for choice in advice.rank(record, ["t"])] == ["b", "a"]
    # a situation counts once: (0.35 + 0.1) / 2 against (0.15 + 0.9) / 2
    best, other = advice.rank(record, ["s", "t"])
    assert best == ("b", pytest.approx(0.225), pytest.approx(0.4), "two")
    assert other.mean == pytest.approx(0.525)


def test_the_default_is_taken_where_none_is_better_by_more_than_half_a_percent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = advice.Choice("best", 0.01, 0.02, "one")
    near, far = (advice.Choice("usual", mean, 0.03, "two") for mean in (0.015, 0.0151))
    monkeypatch.setattr("purse.policies.DEFAULT", "usual")
    assert advice.recommend([first, near]) == near
    assert advice.reason([first, near]) == (
        "Its mean regret is 1.5%, and 3.0% at worst (two); `best` has 1.0%, which is hardly better."
    )
    assert advice.recommend([first, far]) == first
    assert advice.recommend([]) is None


def test_the_reason_is_a_sentence_made_from_the_numbers() -> None:
    found = advice.rank(by_hand(), ["s"])
    assert advice.reason(found) == (
        "Its mean regret is 15%, and 20% at worst (two); `b` follows with 35%."
    )
    assert advice.reason(found[:1]) == "Its mean regret is 15%, and 20% at worst (two)."
    assert advice.reason([]) == "No policy on this board plays all of these cases."


def test_shares_of_what_players_earn_who_learn_nothing() -> None:
    one, two, three = advice.shares(by_hand(), "a")
    assert one == ("one", pytest.approx(2.0), pytest.approx(1.0))
    assert two == ("two", None, pytest.approx(1.6))
    assert three == ("three", pytest.approx(0.5), pytest.approx(0.5))
    assert [each.case for each in advice.shares(by_hand(), "d")] == ["one"]
