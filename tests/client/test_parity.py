"""A campaign on a server has what one in a file has: verbs, signatures, answers, errors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from purse.campaign.local.campaign import LocalCampaign
from purse.client.connection import Connection
from purse.client.remote_campaign import RemoteCampaign

import purse
from purse import AsyncCampaign, Campaign
from purse.campaign.campaign import Campaign as Abstract
from purse.campaign.spending import Spending
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from tests.support.server import Served
from tests.support.storages import START

TERMS: dict[str, Any] = {
    "arms": {"small": "0.01", "large": "0.05"},
    "budget": "25",
    "cost_min": "0.0001",
    "resources": ["USD"],
    "policy": "uniform",
}
VERBS = sorted(
    name
    for name in dir(LocalCampaign)
    if not name.startswith("_") and callable(getattr(LocalCampaign, name))
)


def shape(function: Any) -> list[tuple[str, Any, Any]]:
    """Names, kinds and defaults of the parameters."""
    parameters = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in parameters]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", [RemoteCampaign, AsyncCampaign, Abstract])
def test_every_verb_is_there_and_takes_the_same(kind: type, verb: str) -> None:
    here, there = getattr(LocalCampaign, verb), getattr(kind, verb)
    assert shape(there) == shape(here)
    assert inspect.getdoc(there)
    assert inspect.getdoc(there) == inspect.getdoc(getattr(Campaign, verb))


@pytest.mark.parametrize("verb", VERBS)
def test_the_verbs_of_the_twin_are_awaited(verb: str) -> None:
    found = getattr(AsyncCampaign, verb)
    if verb == "spending":  # what it returns is for `async with`
        assert hasattr(Spending, "__aenter__")
    else:
        assert inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found)


def both(at: Served, **changes: Any) -> tuple[Campaign, Campaign]:
    """The same campaign on a server and here."""
    terms, memory = {**TERMS, **changes}, in_memory()
    memory.now = lambda: START
    return (
        Campaign.create("prompts", **terms, storage=at.url),
        Campaign.create("prompts", **terms, storage=memory),
    )


def test_the_address_says_which_class_it_is(at: Served, storage: Storage) -> None:
    made = Campaign.create("prompts", **TERMS, storage=at.url)
    assert type(made) is RemoteCampaign
    assert type(Campaign.open("prompts", storage=at.url)) is RemoteCampaign
    assert type(Campaign.open("prompts", storage=storage)) is LocalCampaign
    assert isinstance(made, Campaign)
    assert (made.name, made.url) == ("prompts", at.url)
    assert repr(made) == f"<Campaign 'prompts' at {at.url}>"
    assert Campaign.names(storage=at.url) == Campaign.names(storage=storage) == ["prompts"]
    connection = Connection(at.url + "/", timeout=3)
    assert Campaign.open("prompts", storage=connection).status() == made.status()


def answers(campaign: Campaign) -> list[Any]:
    """What a campaign answers to every verb, without what depends on the time."""
    found: list[Any] = [campaign.probabilities(), campaign.probabilities(["small"])]
    one = campaign.ask("frage 1 ü", arms={"small": "0.004"})
    two, three, four = campaign.ask_many(3, "batch", arms=["large"], labels={"tenant": "ü"})
    late = campaign.ask(arms=["small"], labels={"tenant": "x", "team": "y"})
    found += [each._replace(asked_at=0, deadline=0, request_id="") for each in (one, two, late)]
    found.append(campaign.tell(one, np.float64(0.5), "0.001"))
    found.append(campaign.tell(one.id, 0.5, "0.001").duplicate)
    told = campaign.tell_many([(two, 1, 0.02), (99, 1, 1), (three, 1, -1), (three, 1, "0.01")])
    found += [each if isinstance(each, tuple) else type(each) for each in told]
    found += [campaign.settle(four, "0.03"), campaign.reward(four.id, 0.25)]
    found += [campaign.fail(late, reason="down"), campaign.void(campaign.ask(arms=["large"]))]
    found += [campaign.tell_many([]), campaign.labels()]
    found += [campaign.recommend(), campaign.recommend("ratio", cap="0.04", confidence=0.5)]
    for change in (
        lambda: campaign.top_up("5", "t-1"),
        lambda: campaign.top_up("5", "t-1"),
        lambda: campaign.add_arm("medium", cost_max="0.03"),
        lambda: campaign.set_arm("medium", cost_max="0.02"),
        lambda: campaign.retire_arm("medium"),
        campaign.pause,
        campaign.resume,
    ):
        status = change()
        found += [status.status, status.purses, status.counts, status.arms, status.retired]
    found.append(campaign.expire())
    states = ("told", "void", "failed")
    found.append([ticket.id for ticket in campaign.tickets(states)])
    found.append([ticket.id for ticket in campaign.tickets(states, limit=2, after=2)])
    found += [campaign.tickets(()), campaign.ticket(2).state]
    found.append([(entry.seq, entry.kind, entry.ticket) for entry in campaign.journal(after=3)])
    status = campaign.status()
    audit = campaign.audit(full=True, acknowledged=[1, 2], noted=(status.entries, status.digest))
    found += [audit.ok, audit.entries, audit.findings, campaign.audit(acknowledged=[77]).findings]
    file = StringIO()
    count = campaign.export(file)
    copy = Campaign.restore(StringIO(file.getvalue()), storage=in_memory())
    found += [count == status.entries, copy.audit(full=True).digest == audit.digest]
    found += [campaign.end().status, type(campaign.status())]
    return found


ROOM = {"capacity": 3, "cost_ceiling": "0.08", "cooldown": None}


def test_every_verb_answers_the_same(at: Served) -> None:
    there, here = both(at, **ROOM)
    for theirs, ours in zip(answers(there), answers(here), strict=True):
        assert theirs == ours


REFUSED: dict[str, Callable[[Campaign], Any]] = {
    "a ticket that was never issued": lambda campaign: campaign.tell(9, 1, "0.01"),
    "another report": lambda campaign: campaign.tell(1, 0.25, "0.002"),
    "void after told": lambda campaign: campaign.void(1),
    "another request": lambda campaign: campaign.ask_many(2, "first"),
    "a ticket of another campaign": lambda campaign: campaign.void(
        campaign.ask()._replace(campaign="other")
    ),
    "a number that is none": lambda campaign: campaign.void("1"),
    "a state that is none": lambda campaign: campaign.tickets(["open"]),
    "a limit that is none": lambda campaign: campaign.tickets(limit=0),
    "a request without a name": lambda campaign: campaign.ask(""),
    "a request that cannot be printed": lambda campaign: campaign.ask("a\nb"),
    "a ninth key": lambda campaign: [
        campaign.ask(labels={f"{first}{number}": "x" for number in range(5)}) for first in "ab"
    ],
    "a key with an equals sign": lambda campaign: campaign.ask(labels={"a=b": "x"}),
    "other labels": lambda campaign: campaign.ask("first", labels={"tenant": "x"}),
    "an arm that is not there": lambda campaign: campaign.ask(arms=["huge"]),
    "an arm that cannot be added": lambda campaign: campaign.add_arm("medium"),
    "a name that is taken": lambda campaign: Campaign.create(
        "prompts", **TERMS, storage=place(campaign)
    ),
    "other values": lambda campaign: Campaign.create(
        "prompts", **{**TERMS, "budget": 26}, storage=place(campaign), exist_ok=True
    ),
    "a name that is not there": lambda campaign: Campaign.open("promts", storage=place(campaign)),
    "all money is held": lambda campaign: [
        campaign.ask_many(500, arms=["large"]) for _ in range(2)
    ],
    "all arms cool down": lambda campaign: [
        campaign.fail(campaign.ask(arms=["large"])) for _ in range(2)
    ],
    "best by what nobody knows": lambda campaign: campaign.recommend("cost"),
    "a confidence that is none": lambda campaign: campaign.recommend(confidence=95),
    "a miss below nothing": lambda campaign: campaign.recommend(within=-1),
    "a cost of another resource": lambda campaign: campaign.recommend(resource="EUR"),
    "a cap of nothing": lambda campaign: campaign.recommend(cap=0),
    "an ended campaign": lambda campaign: (campaign.end(), campaign.ask()),
}


def place(campaign: Campaign) -> Any:
    return campaign.storage if isinstance(campaign, LocalCampaign) else campaign.url  # type: ignore[attr-defined]


@pytest.mark.parametrize("what", REFUSED)
def test_errors_are_the_same_with_the_same_words(at: Served, storage: Storage, what: str) -> None:
    said = []
    for campaign in both(at, cooldown=60):
        campaign.tell(campaign.ask("first"), 0.5, "0.002")
        with pytest.raises(purse.PurseError) as caught:
            REFUSED[what](campaign)
        seconds = getattr(caught.value, "seconds", None)
        said.append((type(caught.value), str(caught.value), seconds))
    assert said[0] == said[1]


@pytest.mark.parametrize("cost", [-1, "abc", float("nan"), None, [1, 2]])
def test_a_cost_that_is_none_is_invalid_here_and_there(at: Served, cost: Any) -> None:
    for campaign in both(at):
        ticket = campaign.ask()
        with pytest.raises(purse.InvalidInput, match=r"cost|JSON") as caught:
            campaign.tell(ticket, 1, cost)
        assert type(caught.value) is purse.InvalidInput
        wrong, right = campaign.tell_many([(ticket, 1, cost), (ticket, 1, "0.001")])
        assert type(wrong) is purse.InvalidInput
        assert isinstance(right, tuple)


def test_a_creation_with_exist_ok_takes_what_is_the_same(at: Served) -> None:
    first = Campaign.create("prompts", **TERMS, storage=at.url, exist_ok=True)
    first.ask()
    again = Campaign.create("prompts", **TERMS, storage=at.url, exist_ok=True)
    assert again.status().counts["tickets"] == 1


def test_long_answers_come_in_pages(at: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.client.verbs.records.MOST", 2)
    monkeypatch.setattr("purse.client.verbs.records.PAGE_SIZE", 2)
    monkeypatch.setattr("purse.client.verbs.reports.MOST", 2)
    campaign = Campaign.create("prompts", **TERMS, storage=at.url)
    tickets = campaign.ask_many(5)
    assert campaign.tickets() == tickets
    assert campaign.tickets(limit=3) == tickets[:3]
    assert campaign.tickets(after=1, limit=2) == tickets[1:3]
    reports = [(ticket, 1, -1 if ticket.id in (2, 4) else "0.001") for ticket in tickets]
    found = campaign.tell_many(reports)
    assert [isinstance(each, purse.InvalidInput) for each in found] == [False, True] * 2 + [False]
    assert campaign.status().counts["told"] == 3
    assert [entry.seq for entry in campaign.journal()] == list(range(1, 10))


def test_what_only_the_database_can_do_is_said_in_a_sentence(at: Served) -> None:
    campaign = Campaign.create("prompts", **TERMS, storage=at.url)
    elsewhere = "with the database's own address, not through a server"
    with pytest.raises(purse.PurseError, match=elsewhere):
        Campaign.restore(StringIO(), storage=at.url)
    for name in ("terms", "storage"):
        with pytest.raises(AttributeError, match=f"no '{name}' here; status"):
            getattr(campaign, name)
    with pytest.raises(AttributeError, match="'RemoteCampaign' object has no attribute 'asl'"):
        getattr(campaign, "asl")  # noqa: B009


def test_an_export_is_that_of_the_database(at: Served, storage: Storage, tmp_path: Path) -> None:
    terms = {**TERMS, "policy": "uniform", "features": {"länge": (0, 8000), "code": None}}
    there = Campaign.create("prompts", **terms, storage=at.url)
    for length in (1e-7, 812.5, 1e16, 0):
        there.ask(context={"länge": length, "code": 0.1})
    here = Campaign.open("prompts", storage=storage)
    for more in ({}, {"contexts": False}):
        assert there.export(tmp_path / "there", **more) == here.export(tmp_path / "here", **more)
        copies = [
            Campaign.restore(tmp_path / name, storage=in_memory()) for name in ("there", "here")
        ]
        assert list(copies[0].journal(after=1)) == list(copies[1].journal(after=1))
        assert copies[0].status().digest == copies[1].status().digest
