from __future__ import annotations

import numpy as np
import pytest

from purse.ranking import advice
from purse.ranking.page import NOTHING
from purse.ranking.scores import Alone, Leaderboard
from purse.ranking.suite import Case


def by_hand() -> Leaderboard:
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
    return Leaderboard(cases, tuple("abcd"), scores, refusals, "2", alone)


def test_the_policies_of_each_situation_by_mean_score() -> None:
    found = advice.recommendations(by_hand())
    assert list(found) == [NOTHING, "s", "t"]
    # c knows costs, and d does not play all cases of s
    assert [choice.policy for choice in found["s"]] == ["a", "b"]
    assert found["s"][0] == ("a", pytest.approx(0.15), pytest.approx(0.2), "two")
    assert [choice.policy for choice in found["t"]] == ["b", "a"]
    # a situation counts once: (0.35 + 0.1) / 2 against (0.15 + 0.9) / 2
    assert found[NOTHING][0] == ("b", pytest.approx(0.225), pytest.approx(0.4), "two")
    assert found[NOTHING][1].mean == pytest.approx(0.525)


def test_the_reason_is_a_sentence_made_from_the_numbers() -> None:
    found = advice.recommendations(by_hand())
    assert advice.reason(found["s"]) == (
        "Its mean regret is 15.0%, and 20.0% at worst (two); "
        "`b` follows with 35.0%, and 40.0% at worst (two)."
    )
    assert advice.reason(found["s"][:1]) == "Its mean regret is 15.0%, and 20.0% at worst (two)."
    assert advice.reason([]) == "No policy on this board plays all of these cases."


def test_shares_of_what_players_earn_who_learn_nothing() -> None:
    one, two, three = advice.shares(by_hand(), "a")
    assert one == ("one", pytest.approx(2.0), pytest.approx(1.0))
    assert two == ("two", None, pytest.approx(1.6))
    assert three == ("three", pytest.approx(0.5), pytest.approx(0.5))
    assert [each.case for each in advice.shares(by_hand(), "d")] == ["one"]
