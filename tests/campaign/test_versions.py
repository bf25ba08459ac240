"""Policies whose rule has changed since a campaign began."""

from __future__ import annotations

import pytest

from purse.policies import replan
from tests.support.campaigns import made
from tests.support.storages import MemoryHarness


def test_the_terms_say_which_version_chooses() -> None:
    assert made(policy="replan").terms.policy_version == replan.VERSION
    assert "policy_version" not in made(policy="uniform").terms.as_dict()


def test_choices_of_another_version_are_not_made_again_and_that_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS)
    for turn in range(30):
        campaign.tell(campaign.ask(), turn % 2, "0.5")
    assert campaign.audit(full=True).notes == ()
    monkeypatch.setattr(replan, "VERSION", replan.VERSION + 1)
    found = harness.open("c").audit(full=True)
    assert found.ok
    (note,) = found.notes
    assert "chosen by version 1 of replan, and this is version 2" in note


def test_all_else_is_still_decided_again(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS)
    campaign.ask_many(3, "r")
    monkeypatch.setattr(replan, "VERSION", replan.VERSION + 1)
    storage = harness.storage()
    entries = storage._campaigns["c"].entries
    ticket = {**entries[1].body["tickets"][0], "held": [1]}
    body = {**entries[1].body, "tickets": [ticket, *entries[1].body["tickets"][1:]]}
    entries[1] = entries[1]._replace(body=body)
    assert any("would be" in finding for finding in campaign.audit(full=True).findings)


TERMS = {
    "arms": {"a": 1, "b": 1},
    "budget": 100,
    "cost_min": "0.1",
    "policy": "replan",
    "explore": 0.1,
}
