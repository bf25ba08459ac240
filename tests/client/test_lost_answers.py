"""Requests without an answer, or with one that cannot be read: when they are sent again."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from purse.client.exchange import Answer, Lost, Request

import purse
from purse import Campaign
from purse.base.problem_types import PREFIX
from purse.campaign.results import Status
from purse.client.wire import error_of, result_of
from tests.support.wire import Far


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Far:
    made = Far()
    monkeypatch.setattr("purse.client.connection.time.sleep", made.waits.append)
    return made


@pytest.mark.parametrize("how", ["refuse", "lose"])
def test_an_ask_whose_answer_is_lost_is_sent_again_and_holds_once(far: Far, how: str) -> None:
    before = len(far.wire.sent)
    far.wire.trouble = [getattr(far.wire, how)] * 3
    assert far.campaign.ask().id == 1
    asked = far.wire.sent[before:]
    assert len(asked) == 4
    assert len({request.content() for request in asked}) == 1
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
    names = {json.loads(request.content() or b"")["request_id"] for request in far.wire.sent[-2:]}
    assert names == {first.request_id, second.request_id}


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again_when_it_says(far: Far, status: int) -> None:
    far.wire.trouble = [far.wire.busy(status, retry_after="7"), far.wire.busy(status)]
    assert far.campaign.ask().id == 1
    first, second = far.waits
    assert 7 <= first <= 7.1
    assert 0 <= second <= 0.2


def test_no_server_puts_a_client_to_sleep_for_a_day(far: Far) -> None:
    far.wire.trouble = [far.wire.busy(503, retry_after="99999")]
    assert far.campaign.ask().id == 1
    assert 60 <= far.waits[0] <= 60.1


@pytest.mark.parametrize("text", ["", "<html>", "[]", "7", "null", '{"tickets": [7]}', "{}"])
def test_an_answer_that_cannot_be_read_is_no_answer(far: Far, text: str) -> None:
    def garbled(request: Request[Any]) -> Answer | Lost:
        far.wire.deliver(request)
        return Answer(200, text)

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
        Campaign.open("other", storage=far.connection)
    assert len(far.wire.sent) == before + 1


def test_what_cannot_be_sent_is_refused_here(far: Far) -> None:
    ticket = far.campaign.ask()
    before = len(far.wire.sent)
    for bad in (float("nan"), object()):
        with pytest.raises(purse.InvalidInput, match="cannot be sent as JSON"):
            far.campaign.tell(1, 1, bad)
    with pytest.raises(purse.InvalidInput, match="must be one of campaign 'prompts'"):
        far.campaign.void(ticket._replace(campaign="other"))
    assert len(far.wire.sent) == before


def test_what_is_not_said_is_not_sent(far: Far) -> None:
    far.campaign.ask("q")
    assert far.wire.sent[-1].body == {"n": 1, "request_id": "q"}
    far.campaign.probabilities()
    assert far.wire.sent[-1].body == {}


def test_what_is_no_purse_server_is_told(far: Far) -> None:
    for status in (404, 418):
        far.wire.trouble = [far.wire.busy(status)]
        with pytest.raises(purse.PurseError, match=f"the server answered {status}: <html>"):
            far.campaign.status()
    far.wire.trouble = [far.wire.busy(301, location="https://purse.example.com/")]
    with pytest.raises(purse.PurseError, match=r"use the address https://purse\.example"):
        far.campaign.status()


def test_a_name_cannot_leave_its_place(far: Far) -> None:
    with pytest.raises(purse.PurseError):
        Campaign.open("../metrics", storage=far.connection)
    assert far.wire.sent[-1].path == "/campaigns/..%2Fmetrics"


def test_what_a_newer_server_says_besides_is_left_out(far: Far) -> None:
    status = far.here.status()
    assert result_of(Status, {**status.as_dict(), "mood": "good"}) == status
    assert type(error_of({"type": PREFIX + "no-mood", "detail": "bad"})) is purse.PurseError
