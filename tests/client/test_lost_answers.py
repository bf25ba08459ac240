"""Requests without an answer, or with one that cannot be read: when they are sent again."""

import json
import random
from collections.abc import Callable, Mapping
from http.client import HTTPMessage
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest

import purse
from purse import Campaign
from purse.base.problem_types import PREFIX
from purse.campaign.api.results import Status
from purse.campaign.storage.connect import in_memory
from purse.client import Server
from purse.client.wire import error_of, reader
from tests.support.service import HERE, PROMPTS, TestClient, service

COOLING = {"type": PREFIX + "arms-cooling-down", "status": 503, "detail": "wait", "seconds": 0.25}

TERMS: dict[str, Any] = {key: value for key, value in PROMPTS.items() if key != "name"}
Answer: TypeAlias = tuple[int, HTTPMessage, bytes]


class Sent(NamedTuple):
    """A request."""

    method: str
    path: str
    content: bytes


class Wire:
    """Sends to a service in this process. `trouble` says what goes wrong, request by request."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.trouble: list[Callable[[Sent], Answer]] = []
        self.sent: list[Sent] = []

    def send(self, method: str, path: str, content: bytes, timeout: float) -> Answer:
        request = Sent(method, path, content)
        self.sent.append(request)
        return self.trouble.pop(0)(request) if self.trouble else self.deliver(request)

    def deliver(self, request: Sent) -> Answer:
        headers = {"Content-Type": "application/json"}
        answer = self.client.request(
            request.method, request.path, content=request.content, headers=headers
        )
        return answer.status_code, headed(answer.headers), answer.content

    def refuse(self, request: Sent) -> Answer:
        raise ConnectionRefusedError("refused")

    def lose(self, request: Sent) -> Answer:
        """Do what is asked and drop the answer."""
        self.deliver(request)
        raise TimeoutError("no answer")

    def busy(self, status: int, text: bytes = b"<html>", **more: str) -> Callable[[Sent], Answer]:
        headers = {name.replace("_", "-"): value for name, value in more.items()}
        return lambda request: (status, headed(headers), text)


def headed(facts: Any) -> HTTPMessage:
    """Headers, as the standard library has them."""
    headers = HTTPMessage()
    for name, value in facts.items():
        headers[name] = value
    return headers


class Far:
    """A campaign on a server, the wire to it, and the storage at its end."""

    def __init__(self, **terms: Any) -> None:
        self.storage = in_memory()
        self.wire = Wire(service(self.storage))
        self.server = Server(HERE)
        vars(self.server)["_links"] = self.wire
        self.campaign = self.create("prompts", **terms)
        self.waits: list[float] = []

    def create(self, name: str, **terms: Any) -> Campaign:
        return Campaign.create(name, **{**TERMS, **terms}, storage=self.server)

    @property
    def here(self) -> Campaign:
        """The same campaign, where it is kept."""
        return Campaign.open("prompts", storage=self.storage)


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Far:
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
    first, second = far.campaign.ask(), far.campaign.ask()  # each has a name of its own
    names = {json.loads(request.content)["request_id"] for request in far.wire.sent[-2:]}
    assert names == {first.request_id, second.request_id}
    assert (first.id, second.id) == (2, 3)


def test_reports_whose_answer_is_lost_count_once(far: Far) -> None:
    one, two, three, four = far.campaign.ask_many(4)
    for verb, *given in (
        ("tell", one, 1, "0.002"),
        ("tell_many", [(two, 1, "0.002")]),
        ("settle", three, "0.002"),
        ("void", four),
    ):
        far.wire.trouble = [far.wire.lose]
        answer = getattr(far.campaign, verb)(*given)
        assert (answer[0] if verb == "tell_many" else answer).duplicate
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


@pytest.mark.parametrize("status", [429, 503, 504])
def test_a_busy_server_is_asked_again_when_it_says_but_not_in_a_day(far: Far, status: int) -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    asked = [far.wire.busy(status, Retry_After=after) for after in ("7", "99999", date)]
    far.wire.trouble = [*asked, far.wire.busy(status)]
    assert far.campaign.ask().id == 1
    for wait, (least, most) in zip(
        far.waits, ((7, 7.1), (60, 60.2), (0, 0.4), (0, 0.8)), strict=True
    ):
        assert least <= wait <= most


DEEP = '{"tickets": ' + "[" * 200_000


@pytest.mark.parametrize(
    "text",
    ["", "<html>", "[]", "7", "null", '{"tickets": [7]}', "{}", '{"tickets": []}', DEEP],
    ids=lambda text: text[:16],
)
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


def test_waits_grow_and_differ(far: Far, caplog: pytest.LogCaptureFixture) -> None:
    random.seed(0)
    for _ in range(20):
        far.wire.trouble = [far.wire.busy(503)] * 5
        far.campaign.status()
    waits = np.array(far.waits).reshape(20, 5)
    assert (waits <= 0.1 * 2.0 ** np.arange(5)).all()
    assert (waits.max(axis=0) > 0.05 * 2.0 ** np.arange(5)).all()
    assert len(np.unique(waits)) == 100
    for trouble, said in (
        (far.wire.refuse, "does not answer after 6 attempts: ConnectionRefusedError"),
        (far.wire.busy(503), "the server answered 503"),
    ):
        far.wire.trouble, far.waits[:] = [trouble] * 6, []
        with pytest.raises(purse.errors.StorageUnavailable, match=said):
            far.campaign.ask()
        assert len(far.waits) == 5
    assert [record.getMessage() for record in caplog.records] == [
        f"nobody listens at {far.campaign._server.url}; trying again for a while"
    ]


def test_a_restart_is_waited_for(far: Far) -> None:
    def missing(_: Sent) -> Answer:
        raise FileNotFoundError("/run/purse.sock")

    for down in (far.wire.refuse, missing, far.wire.busy(502)):
        far.wire.trouble, far.waits[:] = [down] * 5, []
        far.campaign.status()
        assert 6 < sum(far.waits) < 12.5


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
    with pytest.raises(purse.errors.NotFound, match="there is no campaign 'other'"):
        Campaign.open("other", storage=far.server)
    assert len(far.wire.sent) == before + 1  # what is refused there is not sent again


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
    assert far.campaign.labels("\ud800") == []  # half a character, in letters
    assert far.wire.sent[-1].path == "/campaigns/prompts/labels?key=%5Cud800"


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


def test_what_a_newer_server_says_is_left_out_and_what_an_older_one_omits_has_its_default(
    far: Far,
) -> None:
    status, read = far.here.status(), reader(Status)
    assert read is not None
    facts = {
        key: part for key, part in status.as_dict().items() if key not in ("retired", "cooling")
    }
    assert read({**facts, "mood": "good"}) == status
    assert type(error_of({"type": PREFIX + "no-mood", "detail": "bad"})) is purse.PurseError
    error = error_of({"type": COOLING["type"], "detail": "wait"})
    assert isinstance(error, purse.errors.ArmsCoolingDown)
    assert error.seconds == 0
