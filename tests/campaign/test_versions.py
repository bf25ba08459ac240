"""Audits of campaigns whose policy has another rule by now."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import in_memory
from purse.policies import replan

TERMS: dict[str, Any] = {"arms": {"a": 1, "b": 1}, "budget": 100, "policy": "replan"}


@pytest.fixture
def campaign(monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign with ten reports, whose policy is of the next version by now."""
    made = Campaign.create("c", **TERMS, explore=0.1, storage=in_memory())
    for turn in range(10):
        made.tell(made.ask(), turn % 2, "0.5")
    assert made.audit(full=True).notes == ()
    monkeypatch.setattr(replan, "VERSION", replan.VERSION + 1)
    return made


def test_choices_of_another_version_are_not_made_again_and_that_is_said_once(
    campaign: Campaign,
) -> None:
    found = campaign.audit(full=True)
    assert found.ok
    (note,) = found.notes
    assert "chosen by version 1 of replan, and this is version 2" in note


def test_all_else_is_still_decided_again(campaign: Campaign) -> None:
    with campaign.storage.db.writing() as session:
        session.read([("DROP TRIGGER purse_no_update", ())])
        ((text,),) = session.read([("SELECT body FROM purse_journal WHERE seq = 2", ())])[0]
        body = orjson.dumps({**orjson.loads(text), "held": [1]}).decode()
        session.read([("UPDATE purse_journal SET body = ? WHERE seq = 2", (body,))])
    assert any("would be" in finding for finding in campaign.audit(full=True).findings)


def test_the_terms_say_which_version_chooses() -> None:
    made = Campaign.create("c", **TERMS, storage=in_memory())
    assert made.terms.policy_version == replan.VERSION
    other = Campaign.create("o", **{**TERMS, "policy": "uniform"}, storage=in_memory())
    assert "policy_version" not in other.terms.as_dict()
