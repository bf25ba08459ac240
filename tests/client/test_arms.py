"""Asks with arms, arms that come and go, and arms that cool down, on a server."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from purse.campaign.local.campaign import LocalCampaign
from purse.client.exchange import Answer, Request

import purse
from purse.base.problem_types import PREFIX
from purse.campaign.results import CoolingArm, Status
from purse.client.wire import error_of, result_of
from tests.support.wire import TERMS, Far

ROOM = {"capacity": 4, "cost_ceiling": "0.1"}
COOLING = {
    "type": PREFIX + "arms-cooling-down",
    "title": "",
    "status": 503,
    "detail": "wait",
    "seconds": 0.25,
}


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Far:
    made = Far(**ROOM)
    monkeypatch.setattr("purse.client.connection.time.sleep", made.waits.append)
    return made


def test_the_terms_are_those_of_a_campaign(far: Far) -> None:
    terms: dict[str, Any] = {
        **TERMS,
        **ROOM,
        "cooldown": 2,
        "reward_within": 60,
        "missing_reward": 0,
        "reward_range": (-1, 1),
        "explore": 0.05,
    }
    made = far.create("far", **terms)
    LocalCampaign.create("here", **terms, storage=far.storage)
    there, here = (
        LocalCampaign.open(name, storage=far.storage).terms.as_dict() for name in ("far", "here")
    )
    assert {**there, "name": "", "id": ""} == {**here, "name": "", "id": ""}
    assert made.tell(made.ask(), -0.5, "0.001").state == "told"


@pytest.mark.parametrize(
    "arms", [["large"], ("large",), {"large": 0.02}, MappingProxyType({"large": "0.02"})]
)
def test_an_ask_chooses_among_the_arms_it_names(far: Far, arms: Any) -> None:
    campaign, here = far.campaign, far.here
    ticket = campaign.ask("q", arms=arms)
    assert ticket == here.ask("q", arms=arms)
    assert (ticket.arm, ticket.held) == ("large", ("0.02" if "get" in dir(arms) else "0.05",))
    assert {each.arm for each in campaign.ask_many(3, arms=arms)} == {"large"}
    assert campaign.probabilities(arms) == here.probabilities(arms)
    with pytest.raises(purse.Conflict):
        campaign.ask("q")
    with pytest.raises(purse.InvalidInput, match="unknown arm in arms 'big'"):
        campaign.ask(arms=["big"])


@pytest.mark.parametrize("arm", ["medium", "a/b", "..", "é=1, 2%"])
def test_arms_come_and_go(far: Far, arm: str) -> None:
    campaign, here = far.campaign, far.here
    added = campaign.add_arm(arm, cost_min="0.001", cost_max="0.03")
    assert added == here.status()
    assert added.arms == ("small", "large", arm)
    assert campaign.set_arm(arm, cost_max=0.02) == here.status()
    assert campaign.ask(arms=[arm]).held == ("0.02",)
    assert campaign.retire_arm(arm).retired == (arm,)
    with pytest.raises(purse.InvalidInput, match="is retired"):
        campaign.ask(arms=[arm])
    with pytest.raises(purse.InvalidInput, match="between the cost_min of arm"):
        campaign.set_arm("small", cost_max=1)


def test_arms_that_cool_down_are_raised_at_once_with_the_seconds(far: Far) -> None:
    far.storage.now = lambda: 1_000_000
    campaign = far.campaign
    campaign.fail(campaign.ask(arms=["small"]))
    before = len(far.wire.sent)
    for verb in (campaign.ask, campaign.probabilities):
        with pytest.raises(purse.errors.ArmsCoolingDown, match="'small' failed") as refused:
            verb(arms=["small"])
        assert refused.value.seconds == 1.0
    assert len(far.wire.sent) == before + 2
    assert far.waits == []
    status = campaign.status()
    assert status == far.here.status()
    assert status.cooling == (CoolingArm("small", 1001.0, 1.0, None),)


def test_a_storage_that_does_not_answer_before_is_still_waited_for(far: Far) -> None:
    def cooling(_: Request[Any]) -> Answer:
        return Answer(503, json.dumps(COOLING), retry_after="1")

    far.wire.trouble = [far.wire.busy(503), cooling]
    with pytest.raises(purse.errors.ArmsCoolingDown) as refused:
        far.campaign.ask()
    assert refused.value.seconds == 0.25
    assert len(far.waits) == 1


def test_the_seconds_may_be_missing() -> None:
    found = error_of({"type": COOLING["type"], "detail": "wait"})
    assert isinstance(found, purse.errors.ArmsCoolingDown)
    assert found.seconds == 0


def test_what_an_older_server_does_not_say_has_its_default(far: Far) -> None:
    status = far.here.status()
    facts = {
        name: value
        for name, value in status.as_dict().items()
        if name not in ("retired", "cooling")
    }
    assert result_of(Status, facts) == status
