from __future__ import annotations

import json
from typing import Any

import pytest

from purse import InvalidInput
from purse.lab.study.facts import MANIFEST, Recording, StudyFacts, TableFacts
from tests.lab.report.made_up import made_up

FACTS = made_up(policies=("uniform",)).facts
REPLAY = {"kind": "table", "data": "t.csv", "rounds": 60, "horizon": 50, "arms": ["a", "b"]}


@pytest.fixture
def stored() -> dict[str, Any]:
    return json.loads(json.dumps(FACTS.to_json()))


def test_facts_are_stored_and_read_again_in_the_order_of_a_manifest(stored: dict[str, Any]) -> None:
    assert list(stored) == [name for name in MANIFEST if name != "replay"]
    facts = StudyFacts.from_json(stored)
    assert type(facts) is StudyFacts
    assert facts == FACTS
    assert facts.to_json() == stored


def test_the_facts_of_a_replay_are_of_a_type_of_their_own(stored: dict[str, Any]) -> None:
    facts = StudyFacts.from_json({**stored, "replay": REPLAY})
    assert isinstance(facts, TableFacts)
    assert facts.replay == Recording("table", "t.csv", 60, 50, ["a", "b"])
    assert facts.to_json() == {**stored, "replay": REPLAY}
    assert list(facts.to_json()) == list(MANIFEST)


def test_a_manifest_says_how_late_reports_come(stored: dict[str, Any]) -> None:
    late = StudyFacts.from_json({**stored, "delay": "geometric:3"})
    assert (late.delay, late.to_json()["delay"]) == ("geometric:3", "geometric:3")
    del stored["delay"]
    with pytest.raises(InvalidInput, match="its manifest has no 'delay'; make the study again"):
        StudyFacts.from_json(stored)


def test_what_a_later_version_adds_is_left_out(stored: dict[str, Any]) -> None:
    assert StudyFacts.from_json({**stored, "mood": "good"}).to_json() == stored
