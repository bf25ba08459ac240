"""The numbers on how surely `best-arm` finds the best arm, and the page that shows them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import record
from purse import worlds
from purse.policies import best_arm
from research.evidence import recommend, recommend_page
from tests.support.soak import SOAK

BY_NAME = {question.name: question for question in recommend.QUESTIONS}
CAPPED = "the cap excludes the best arm"


def stored() -> dict[str, Any]:
    facts = record.load(recommend.MEASURED)
    assert facts is not None
    return facts


def test_the_page_is_that_of_the_stored_numbers() -> None:
    page = recommend.MEASURED.with_suffix(".md").read_text()
    assert page == recommend_page.markdown(stored()), "run python -m research.evidence.recommend"


def test_the_stored_numbers_keep_what_the_policy_promises() -> None:
    facts = stored()
    assert (facts["paths"], len(facts["rows"])) == (1_000, 7)
    assert [row["world"] for row in facts["rows"]] == [each.world for each in BY_NAME.values()]
    for row in facts["rows"]:
        for key, confidence in (("ours", 0.95), ("uniform", 0.95), ("little", 0.6)):
            assert row[key]["wrong"] <= recommend_page.allowed(confidence, 1_000)
            assert row[key]["unsure"] == 0
        assert row["ours"]["mean"] < 0.9 * row["uniform"]["mean"]


def test_the_right_arm_by_hand() -> None:
    rewards, costs = np.array([0.9, 0.7, 0.3]), np.array([0.8, 0.3, 0.1])
    for by, cap, right in (
        ("reward", None, 0),
        ("ratio", None, 2),
        ("reward", 0.5, 1),
        ("ratio", 0.05, best_arm.NONE),
    ):
        assert recommend.right_arm(recommend.Question("", "", by, cap), rewards, costs) == right
    place = worlds.make(BY_NAME[CAPPED].world, 1)
    assert int(np.argmax(np.asarray(place.reward_means))) == 0
    assert next(row["right"] for row in stored()["rows"] if row["name"] == CAPPED) == 1


@pytest.mark.parametrize("name", BY_NAME if SOAK else [CAPPED])
def test_a_measurement_finds_what_is_stored(name: str) -> None:
    """All paths in soak, with the same numbers; else a few, within four standard errors."""
    n_paths = recommend.PATHS if SOAK else 40
    row, kept = recommend.ask(BY_NAME[name], n_paths), stored()["rows"]
    expected = next(each for each in kept if each["name"] == name)
    if SOAK:
        assert record.rounded(row) == expected
    assert row["ours"]["wrong"] <= recommend_page.allowed(recommend.CONFIDENCE, n_paths)
    for key in ("ours", "uniform"):
        assert abs(row[key]["mean"] - expected[key]["mean"]) < 4 * row[key]["error"]
