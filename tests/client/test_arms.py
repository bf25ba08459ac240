"""Asks with arms, arms that come and go, and arms that cool down, through the client."""

from __future__ import annotations

import inspect
import json
from types import MappingProxyType
from typing import Any

import httpx
import pytest

import purse
from purse.base.problem_types import PREFIX
from purse.campaign.local.campaign import LocalCampaign as Campaign
from purse.campaign.results import CoolingArm, Status
from purse.client.client import Client
from purse.client.wire import error_of, result_of
from tests.client.test_client import TERMS, Place

ROOM = {"capacity": 4, "cost_floor": "0.00001", "cost_ceiling": "0.1"}
COOLING = {
    "type": PREFIX + "arms-cooling-down",
    "title": "",
    "status": 503,
    "detail": "wait",
    "seconds": 0.25,
}


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place()
    monkeypatch.setattr("purse.client.connection.time.sleep", made.waits.append)
    made.client.create("prompts", **TERMS, **ROOM)
    return made


@pytest.mark.parametrize(
    "verb", ["ask", "ask_many", "probabilities", "add_arm", "retire_arm", "set_arm", "recommend"]
)
def test_a_verb_is_called_like_that_of_a_campaign(verb: str) -> None:
    own, other = (inspect.signature(getattr(kind, verb)).parameters for kind in (Client, Campaign))
    parts = list(own.values())[2:]  # after self and the name of the campaign
    known = list(other.values())[1:]
    assert [(each.kind, each.default) for each in parts] == [
        (each.kind, each.default) for each in known
    ]
    names = {"name": "arm"} if "arm" in verb and verb != "ask_many" else {}
    assert [each.name for each in parts] == [names.get(each.name, each.name) for each in known]


def test_the_terms_are_those_of_a_campaign(place: Place) -> None:
    terms: dict[str, Any] = {
        **TERMS,
        **ROOM,
        "stop": "hold",
        "cooldown": 2,
        "cooldown_max": 30.5,
        "reward_within": 60,
        "missing_reward": 0,
        "reward_range": (-1, 1),
        "explore": 0.05,
    }
    place.client.create("far", **terms)
    Campaign.create("here", **terms, storage=place.storage)
    far, here = (
        Campaign.open(name, storage=place.storage).terms.as_dict() for name in ("far", "here")
    )
    assert {**far, "name": "", "id": ""} == {**here, "name": "", "id": ""}
    ticket = place.client.ask("far")
    assert place.client.tell("far", ticket, -0.5, "0.001").state == "told"


@pytest.mark.parametrize(
    "arms", [["large"], ("large",), {"large": 0.02}, MappingProxyType({"large": "0.02"})]
)
def test_an_ask_chooses_among_the_arms_it_names(place: Place, arms: Any) -> None:
    client, campaign = place.client, place.campaign
    ticket = client.ask("prompts", "q", arms=arms)
    assert ticket == campaign.ask("q", arms=arms)
    assert (ticket.arm, ticket.held) == ("large", ("0.02" if "get" in dir(arms) else "0.05",))
    assert {each.arm for each in client.ask_many("prompts", 3, arms=arms)} == {"large"}
    assert client.probabilities("prompts", arms) == campaign.probabilities(arms)
    with pytest.raises(purse.Conflict):
        client.ask("prompts", "q")
    with pytest.raises(purse.InvalidInput, match="unknown arm in arms 'big'"):
        client.ask("prompts", arms=["big"])


def test_what_is_not_said_is_not_sent(place: Place) -> None:
    place.client.ask("prompts", "q")
    assert json.loads(place.wire.sent[-1].read()) == {"n": 1, "request_id": "q"}
    place.client.probabilities("prompts")
    assert json.loads(place.wire.sent[-1].read()) == {}


@pytest.mark.parametrize("arm", ["medium", "a/b", "..", "é=1, 2%"])
def test_arms_come_and_go(place: Place, arm: str) -> None:
    client, campaign = place.client, place.campaign
    added = client.add_arm("prompts", arm, cost_min="0.001", cost_max="0.03")
    assert added == campaign.status()
    assert added.arms == ("small", "large", arm)
    assert client.set_arm("prompts", arm, cost_max=0.02) == campaign.status()
    assert client.ask("prompts", arms=[arm]).held == ("0.02",)
    assert client.retire_arm("prompts", arm).retired == (arm,)
    with pytest.raises(purse.InvalidInput, match="is retired"):
        client.ask("prompts", arms=[arm])
    with pytest.raises(purse.InvalidInput, match="between the floor and the ceiling"):
        client.set_arm("prompts", "small", cost_max=1)


def test_a_change_of_arms_whose_answer_is_lost_counts_once(place: Place) -> None:
    for change in (
        lambda: place.client.add_arm("prompts", "third"),
        lambda: place.client.set_arm("prompts", "third", cost_max="0.02"),
        lambda: place.client.retire_arm("prompts", "third"),
    ):
        before = place.campaign.status().entries
        place.wire.trouble = [place.wire.lose] * 2
        assert change().entries == before + 1


def test_arms_that_cool_down_are_raised_at_once_with_the_seconds(place: Place) -> None:
    place.storage.now = lambda: 1_000_000
    client = place.client
    client.fail("prompts", client.ask("prompts", arms=["small"]))
    before = len(place.wire.sent)
    for verb in (client.ask, client.probabilities):
        with pytest.raises(purse.ArmsCoolingDown, match="'small' failed") as refused:
            verb("prompts", arms=["small"])
        assert refused.value.seconds == 1.0
    assert len(place.wire.sent) == before + 2
    assert place.waits == []
    status = client.status("prompts")
    assert status == place.campaign.status()
    assert status.cooling == (CoolingArm("small", 1001.0, 1.0, None),)


def test_a_storage_that_does_not_answer_before_is_still_waited_for(place: Place) -> None:
    def cooling(_: httpx.Request) -> httpx.Response:
        return httpx.Response(503, headers={"Retry-After": "1"}, json=COOLING)

    place.wire.trouble = [place.wire.busy(503), cooling]
    with pytest.raises(purse.ArmsCoolingDown) as refused:
        place.client.ask("prompts")
    assert refused.value.seconds == 0.25
    assert len(place.waits) == 1


def test_the_seconds_may_be_missing() -> None:
    found = error_of({"type": COOLING["type"], "detail": "wait"})
    assert isinstance(found, purse.ArmsCoolingDown)
    assert found.seconds == 0


def test_what_an_older_server_does_not_say_has_its_default(place: Place) -> None:
    status = place.campaign.status()
    facts = {
        name: value
        for name, value in status.as_dict().items()
        if name not in ("retired", "cooling")
    }
    assert result_of(Status, facts) == status
