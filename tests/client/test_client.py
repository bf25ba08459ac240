from __future__ import annotations

import random
import sys
from collections.abc import Callable
from decimal import Decimal
from subprocess import run
from typing import Any

import httpx
import numpy as np
import pytest

import purse
from purse.base.problem_types import PREFIX
from purse.campaign.local.campaign import LocalCampaign as Campaign
from purse.campaign.results import CampaignTicket, Receipt, Status
from purse.campaign.storage.memory import Memory
from purse.client.client import Client
from purse.client.wire import error_of, result_of
from tests.support.service import HERE, PROMPTS, TestClient, service

HEAVY = {"apsw", "click", "httpx", "numba", "numpy", "orjson", "polars", "rich", "scipy"}
TERMS: dict[str, Any] = {key: value for key, value in PROMPTS.items() if key != "name"}


class Wire(httpx.BaseTransport):
    """A connection to a service in this process. `trouble` says what goes wrong, request by
    request.
    """

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.trouble: list[Callable[[httpx.Request], httpx.Response]] = []
        self.sent: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return self.trouble.pop(0)(request) if self.trouble else self.deliver(request)

    def deliver(self, request: httpx.Request) -> httpx.Response:
        answer = self.client.request(
            request.method, str(request.url), content=request.read(), headers=dict(request.headers)
        )
        return httpx.Response(
            answer.status_code,
            headers={"Content-Type": answer.headers["Content-Type"]},
            content=answer.content,
        )

    def refuse(self, request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    def lose(self, request: httpx.Request) -> httpx.Response:
        """Do what is asked and drop the answer."""
        self.deliver(request)
        raise httpx.ReadTimeout("no answer", request=request)

    def cut(self, request: httpx.Request) -> httpx.Response:
        """Do what is asked and break the connection."""
        self.deliver(request)
        raise httpx.RemoteProtocolError("cut", request=request)

    def busy(self, status: int, **headers: str) -> Callable[[httpx.Request], httpx.Response]:
        return lambda request: httpx.Response(
            status,
            headers={name.replace("_", "-"): value for name, value in headers.items()},
            text="<html>",
        )


class Place:
    """A client, the wire it uses, and the storage at its end."""

    def __init__(self) -> None:
        self.storage = Memory()
        self.wire = Wire(service(self.storage))
        self.client = Client(HERE, transport=self.wire)
        self.waits: list[float] = []

    @property
    def campaign(self) -> Campaign:
        return Campaign.open("prompts", storage=self.storage)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Place:
    made = Place()
    monkeypatch.setattr("purse.client.connection.time.sleep", made.waits.append)
    made.client.create("prompts", **TERMS)
    return made


def test_the_verbs_are_those_of_a_campaign_and_so_are_the_answers(place: Place) -> None:
    client, campaign = place.client, place.campaign
    assert client.campaigns() == ["prompts"]
    assert client.status("prompts") == campaign.status()
    ticket = client.ask("prompts", "q-1")
    assert ticket == campaign.ask("q-1")
    assert isinstance(ticket, CampaignTicket)
    assert client.tickets("prompts") == campaign.tickets() == [ticket]
    receipt = client.tell("prompts", ticket, 0.5, "0.001")
    assert receipt._replace(duplicate=True) == campaign.tell(1, 0.5, "0.001")
    two, three = client.ask_many("prompts", 2)
    good, bad = client.tell_many(
        "prompts", [(two, 1, Decimal("0.001")), (99, 1, np.float64(0.001))]
    )
    assert isinstance(good, Receipt)
    assert isinstance(bad, purse.TicketError)
    assert client.void("prompts", three).state == "void"
    assert client.top_up("prompts", "5").purses[0].budget == "30"
    assert [
        client.pause("prompts").status,
        client.resume("prompts").status,
        client.close("prompts").status,
    ] == ["paused", "running", "closed"]
    assert list(client.journal("prompts")) == list(campaign.journal())
    assert list(client.journal("prompts", after=3)) == list(campaign.journal(after=3))
    assert client.tickets("prompts", states=["void"], limit=1)[0].id == 3
    assert isinstance(client.status("prompts"), Status)
    assert client.status("prompts") == campaign.status()


def test_a_journal_of_several_pages(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.client.verbs.records.PAGE_SIZE", 2)
    for _ in range(4):
        place.client.ask("prompts")
    assert [entry.seq for entry in place.client.journal("prompts")] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("how", ["refuse", "lose", "cut"])
def test_an_ask_whose_answer_is_lost_is_sent_again_and_holds_once(place: Place, how: str) -> None:
    place.wire.trouble = [getattr(place.wire, how)] * 3
    assert place.client.ask("prompts").id == 1
    asked = place.wire.sent[1:]
    assert len(asked) == 4
    assert len({request.read() for request in asked}) == 1
    assert place.campaign.status().counts["tickets"] == 1


def test_a_top_up_whose_answer_is_lost_counts_once(place: Place) -> None:
    place.wire.trouble = [place.wire.lose] * 2
    assert place.client.top_up("prompts", 5).purses[0].budget == "30"


def test_reports_whose_answer_is_lost_count_once(place: Place) -> None:
    tickets = place.client.ask_many("prompts", 3)
    place.wire.trouble = [place.wire.lose]
    assert place.client.tell("prompts", tickets[0], 1, "0.002").duplicate
    place.wire.trouble = [place.wire.cut]
    assert [
        receipt.duplicate
        for receipt in place.client.tell_many("prompts", [(tickets[1], 1, "0.002")])
    ] == [True]
    place.wire.trouble = [place.wire.lose]
    assert place.client.void("prompts", tickets[2]).state == "void"
    status = place.campaign.status()
    assert (
        status.purses[0].spent,
        status.counts["told"],
        status.counts["void"],
        status.counts["conflicts"],
    ) == ("0.004", 2, 1, 0)


def test_two_asks_are_two_requests(place: Place) -> None:
    assert [place.client.ask("prompts").id, place.client.ask("prompts").id] == [1, 2]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again_when_it_says(place: Place, status: int) -> None:
    place.wire.trouble = [place.wire.busy(status, Retry_After="7"), place.wire.busy(status)]
    assert place.client.ask("prompts").id == 1
    first, second = place.waits
    assert 7 <= first <= 7.1
    assert 0 <= second <= 0.2


def test_no_server_puts_a_client_to_sleep_for_a_day(place: Place) -> None:
    place.wire.trouble = [place.wire.busy(503, Retry_After="99999")]
    assert place.client.ask("prompts").id == 1
    assert 60 <= place.waits[0] <= 60.1


@pytest.mark.parametrize("text", ["", "<html>", "[]", "7", "null", '{"tickets": [7]}', "{}"])
def test_an_answer_that_cannot_be_read_is_no_answer(place: Place, text: str) -> None:
    def garbled(request: httpx.Request) -> httpx.Response:
        place.wire.deliver(request)
        return httpx.Response(200, text=text)

    place.wire.trouble = [garbled]
    assert place.client.ask("prompts").id == 1
    assert place.campaign.status().counts["held"] == 1
    place.wire.trouble = [garbled] * 6
    with pytest.raises(purse.StorageUnavailable, match="an answer that cannot be read"):
        place.client.ask("prompts")


def test_waits_grow_and_differ(place: Place) -> None:
    random.seed(0)
    for _ in range(20):
        place.wire.trouble = [place.wire.refuse] * 5
        place.client.status("prompts")
    waits = np.array(place.waits).reshape(20, 5)
    assert (waits <= 0.1 * 2.0 ** np.arange(5)).all()
    assert (waits.max(axis=0) > 0.05 * 2.0 ** np.arange(5)).all()
    assert len(np.unique(waits)) == 100


def test_it_gives_up_in_one_line(place: Place) -> None:
    place.wire.trouble = [place.wire.refuse] * 6
    with pytest.raises(
        purse.StorageUnavailable, match="does not answer after 6 attempts: ConnectError: refused"
    ):
        place.client.ask("prompts")
    assert len(place.waits) == 5
    place.wire.trouble = [place.wire.busy(503)] * 6
    with pytest.raises(purse.StorageUnavailable, match="the server answered 503"):
        place.client.ask("prompts")


def test_what_is_refused_is_not_sent_again(place: Place) -> None:
    before = len(place.wire.sent)
    with pytest.raises(purse.NoSuchCampaign, match="there is no campaign 'other'"):
        place.client.ask("other")
    assert len(place.wire.sent) == before + 1


def test_problems_are_the_errors_of_a_campaign(place: Place) -> None:
    client = place.client
    client.create("small", arms={"a": 1, "b": 1}, budget=2, cost_min=1, policy="uniform")
    with pytest.raises(purse.CampaignExists):
        client.create("small", arms={"a": 1}, budget=2, cost_min=1)
    tickets = client.ask_many("small", 9)
    with pytest.raises(purse.BudgetHeld):
        client.ask("small")
    client.tell_many("small", [(ticket, 1, 1) for ticket in tickets])
    with pytest.raises(purse.BudgetExhausted) as refused:
        client.ask("small")
    assert type(refused.value) is purse.BudgetExhausted
    with pytest.raises(purse.Conflict):
        client.tell("small", 1, 0, 1)
    with pytest.raises(purse.TicketError):
        client.void("small", 77)
    with pytest.raises(purse.InvalidInput, match="cost: must be an amount"):
        client.tell("small", 1, 1, -1)
    client.close("small")
    with pytest.raises(purse.CampaignClosed):
        client.ask("small")


def test_what_cannot_be_sent_is_refused_here(place: Place) -> None:
    before = len(place.wire.sent)
    for bad in (float("nan"), object()):
        with pytest.raises(purse.InvalidInput, match="cannot be sent as JSON"):
            place.client.tell("prompts", 1, 1, bad)
    with pytest.raises(purse.InvalidInput, match="must be one of campaign 'other'"):
        place.client.void("other", place.client.ask("prompts"))
    assert len(place.wire.sent) == before + 1


def test_a_creation_that_may_have_happened_is_told_as_such(place: Place) -> None:
    place.wire.trouble = [place.wire.lose]
    with pytest.raises(
        purse.CampaignExists,
        match="an earlier attempt of this call, which got no answer, may have created it",
    ):
        place.client.create("second", **TERMS)


def test_the_token_is_sent_and_connections_are_let_go() -> None:
    seen: list[str] = []

    class Recorded(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            seen.append(request.headers["Authorization"])
            return httpx.Response(200, json={"campaigns": []})

        def close(self) -> None:
            seen.append("closed")

    with Client(HERE, token="purse_secret", transport=Recorded()) as client:
        assert client.campaigns() == []
    assert seen == ["Bearer purse_secret", "closed"]


def test_an_answer_that_is_no_problem_is_still_told(place: Place) -> None:
    place.wire.trouble = [place.wire.busy(418)]
    with pytest.raises(purse.PurseError, match="the server answered 418: <html>"):
        place.client.campaigns()


def test_a_name_cannot_leave_its_place(place: Place) -> None:
    with pytest.raises(purse.PurseError):
        place.client.status("../metrics")
    assert place.wire.sent[-1].url.raw_path == b"/campaigns/..%2Fmetrics"


def test_what_a_newer_server_says_besides_is_left_out(place: Place) -> None:
    status = place.campaign.status()
    assert result_of(Status, {**status.as_dict(), "mood": "good"}) == status
    assert type(error_of({"type": PREFIX + "no-mood", "detail": "bad"})) is purse.PurseError


def test_the_client_loads_nothing_heavy() -> None:
    code = "import sys; from purse import Client; print(*sys.modules)"
    loaded = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "purse.client.client" in loaded.stdout.split()
    assert not HEAVY & set(loaded.stdout.split())
