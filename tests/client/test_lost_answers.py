"""Requests without an answer, or with one that cannot be read: when they are sent again."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import purse
from purse import Campaign
from purse.base.problem_types import PREFIX
from purse.campaign.results import Status
from purse.client.wire import error_of, reader

if TYPE_CHECKING:
    from tests.support.wire import Far

COOLING = {"type": PREFIX + "arms-cooling-down", "status": 503, "detail": "wait", "seconds": 0.25}


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Far:
    from tests.support.wire import Far

    made = Far()
    monkeypatch.setattr("purse.client.server.time.sleep", made.waits.append)
    return made


@pytest.mark.parametrize("how", ["refuse", "lose"])
def test_an_ask_whose_answer_is_lost_is_sent_again_and_holds_once(far: Far, how: str) -> None:
    before = len(far.wire.sent)
    far.wire.trouble = [getattr(far.wire, how)] * 3
    assert far.campaign.ask().id == 1
    asked = far.wire.sent[before:]
    assert len(asked) == 4
    assert len(set(asked)) == 1
    assert far.here.status().counts["tickets"] == 1


def test_reports_whose_answer_is_lost_count_once(far: Far) -> None:
    one, two, three, four = far.campaign.ask_many(4)
    far.wire.trouble = [far.wire.lose]
    assert far.campaign.tell(one, 1, "0.002").duplicate
    far.wire.trouble = [far.wire.lose]
    (told,) = far.campaign.tell_many([(two, 1, "0.002")])
    assert isinstance(told, tuple)
    assert told.duplicate
    far.wire.trouble = [far.wire.lose]
    assert far.campaign.settle(three, "0.002").duplicate
    far.wire.trouble = [far.wire.lose]
    assert far.campaign.void(four).state == "void"
    status = far.here.status()
    counts = [status.counts[name] for name in ("told", "settled", "void", "conflicts")]
    assert (status.purses[0].spent, *counts) == ("0.006", 2, 1, 1, 0)


def test_changes_whose_answer_is_lost_count_once(far: Far) -> None:
    wide = far.create("wide", capacity=3)
    for change in (
        lambda: wide.top_up(5),
        lambda: wide.add_arm("third"),
        lambda: wide.set_arm("third", cost_max="0.02"),
        lambda: wide.retire_arm("third"),
    ):
        before = wide.status().entries
        far.wire.trouble = [far.wire.lose] * 2
        assert change().entries == before + 1
    assert wide.status().purses[0].budget == "30"


def test_a_creation_that_may_have_happened_is_told_as_such(far: Far) -> None:
    far.wire.trouble = [far.wire.lose]
    with pytest.raises(
        purse.errors.CampaignExists,
        match="an earlier attempt of this call, which got no answer, may have created it",
    ):
        far.create("second")
    far.wire.trouble = [far.wire.lose] * 2
    assert far.create("third", exist_ok=True).name == "third"


def test_every_ask_has_a_name_of_its_own(far: Far) -> None:
    first, second = far.campaign.ask(), far.campaign.ask()
    assert first.id != second.id
    names = {json.loads(request.content)["request_id"] for request in far.wire.sent[-2:]}
    assert names == {first.request_id, second.request_id}


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again_when_it_says(far: Far, status: int) -> None:
    far.wire.trouble = [far.wire.busy(status, Retry_After="7"), far.wire.busy(status)]
    assert far.campaign.ask().id == 1
    first, second = far.waits
    assert 7 <= first <= 7.1
    assert 0 <= second <= 0.2


def test_no_server_puts_a_client_to_sleep_for_a_day(far: Far) -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    far.wire.trouble = [far.wire.busy(503, Retry_After=after) for after in ("99999", date)]
    assert far.campaign.ask().id == 1
    assert 60 <= far.waits[0] <= 60.1
    assert 0 <= far.waits[1] <= 0.2


@pytest.mark.parametrize("text", ["", "<html>", "[]", "7", "null", '{"tickets": [7]}', "{}"])
def test_an_answer_that_cannot_be_read_is_no_answer(far: Far, text: str) -> None:
    def garbled(request: Any) -> Any:
        _, headers, _ = far.wire.deliver(request)
        return 200, headers, text.encode()

    far.wire.trouble = [garbled]
    assert far.campaign.ask().id == 1
    assert far.here.status().counts["held"] == 1
    far.wire.trouble = [garbled] * 6
    with pytest.raises(purse.errors.StorageUnavailable, match="an answer that cannot be read"):
        far.campaign.ask()


def test_waits_grow_and_differ(far: Far) -> None:
    random.seed(0)
    for _ in range(20):
        far.wire.trouble = [far.wire.refuse] * 5
        far.campaign.status()
    waits = np.array(far.waits).reshape(20, 5)
    assert (waits <= 0.1 * 2.0 ** np.arange(5)).all()
    assert (waits.max(axis=0) > 0.05 * 2.0 ** np.arange(5)).all()
    assert len(np.unique(waits)) == 100


def test_it_gives_up_in_one_line(far: Far) -> None:
    far.wire.trouble = [far.wire.refuse] * 6
    with pytest.raises(
        purse.errors.StorageUnavailable,
        match="does not answer after 6 attempts: ConnectionRefusedError",
    ):
        far.campaign.ask()
    assert len(far.waits) == 5
    far.wire.trouble = [far.wire.busy(503)] * 6
    with pytest.raises(purse.errors.StorageUnavailable, match="the server answered 503"):
        far.campaign.ask()


def test_what_is_refused_is_not_sent_again(far: Far) -> None:
    before = len(far.wire.sent)
    with pytest.raises(purse.errors.NotFound, match="there is no campaign 'other'"):
        Campaign.open("other", storage=far.server)
    assert len(far.wire.sent) == before + 1


def test_arms_that_cool_down_are_raised_at_once(far: Far) -> None:
    cooling = far.wire.busy(503, json.dumps(COOLING).encode(), Retry_After="1")
    far.wire.trouble = [far.wire.busy(503), cooling]
    with pytest.raises(purse.errors.ArmsCoolingDown) as refused:
        far.campaign.ask()
    assert refused.value.seconds == 0.25
    assert len(far.waits) == 1  # after the answer that says nothing


def test_what_cannot_be_sent_is_refused_here(far: Far) -> None:
    ticket = far.campaign.ask()
    before = len(far.wire.sent)
    with pytest.raises(purse.InvalidInput, match="cannot be sent as JSON"):
        far.campaign.tell(1, 1, object())
    with pytest.raises(purse.InvalidInput, match="must be one of campaign 'prompts'"):
        far.campaign.void(ticket._replace(campaign="other"))
    assert len(far.wire.sent) == before


class Prices(Mapping[str, float]):
    """A mapping that is no dict."""

    def __getitem__(self, name: str) -> float:
        return {"large": 0.02}[name]

    def __iter__(self) -> Any:
        return iter(["large"])

    def __len__(self) -> int:
        return 1


def test_what_json_does_not_know_is_sent_in_its_words(far: Far) -> None:
    asked = [
        far.campaign.ask(f"q{number}", arms=arms)
        for number, arms in enumerate((("large",), np.array(["large"]), Prices()))
    ]
    assert [ticket.held for ticket in asked] == [("0.05",), ("0.05",), ("0.02",)]
    assert far.campaign.tell(1, np.float64(0.5), np.array([0.01])).spent == ("0.01",)


def test_what_is_not_said_is_not_sent(far: Far) -> None:
    far.campaign.ask("q")
    assert json.loads(far.wire.sent[-1].content) == {"request_id": "q"}
    far.campaign.probabilities()
    assert far.wire.sent[-1].content == b""
    far.campaign.tickets(["held", "told"], 2)
    assert far.wire.sent[-1].path == "/campaigns/prompts/tickets?state=held&state=told&limit=2"


def test_what_is_no_purse_server_is_told(far: Far) -> None:
    for status in (404, 418):
        far.wire.trouble = [far.wire.busy(status)]
        with pytest.raises(purse.PurseError, match=f"the server answered {status}: <html>"):
            far.campaign.status()
    far.wire.trouble = [far.wire.busy(301, Location="https://purse.example.com/")]
    with pytest.raises(purse.PurseError, match=r"use the address https://purse\.example"):
        far.campaign.status()


@pytest.mark.parametrize("name", ["../metrics", "..", "", "é?", "\ud800", 7])
def test_a_name_that_nothing_can_have_is_not_sent(far: Far, name: Any) -> None:
    before = len(far.wire.sent)
    with pytest.raises(purse.InvalidInput, match=r"name=.*: must be 1 to 100 letters"):
        Campaign.open(name, storage=far.server)
    assert len(far.wire.sent) == before


def test_halves_of_characters_are_sent_in_letters(far: Far) -> None:
    assert far.campaign.labels("\ud800") == []
    assert far.wire.sent[-1].path == "/campaigns/prompts/labels?key=%5Cud800"


def test_what_a_newer_server_says_besides_is_left_out(far: Far) -> None:
    status, read = far.here.status(), reader(Status)
    assert read is not None
    assert read({**status.as_dict(), "mood": "good"}) == status
    assert type(error_of({"type": PREFIX + "no-mood", "detail": "bad"})) is purse.PurseError


def test_what_an_older_server_does_not_say_has_its_default(far: Far) -> None:
    status, read = far.here.status(), reader(Status)
    assert read is not None
    facts = {
        name: value
        for name, value in status.as_dict().items()
        if name not in ("retired", "cooling")
    }
    assert read(facts) == status
    found = error_of({"type": COOLING["type"], "detail": "wait"})
    assert isinstance(found, purse.errors.ArmsCoolingDown)
    assert found.seconds == 0
