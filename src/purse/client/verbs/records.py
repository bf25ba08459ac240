"""What is stored of a campaign, as requests."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from purse.base.plain_validation import choice, integer
from purse.base.recommendation import (
    CONFIDENCE,
    REWARD,
    Recommendation,
    check_confidence,
    check_criterion,
    check_within,
)
from purse.campaign.journal import Entry
from purse.campaign.results import Audit, CampaignTicket, LabelStatus, Status
from purse.campaign.states import OPEN, STATES
from purse.client.exchange import Request
from purse.client.verbs.common import LARGEST, Ticket, given, number_of, result, tickets_of
from purse.client.wire import amount_text, path, result_of

if TYPE_CHECKING:
    pass

PAGE_SIZE = 1_000  # entries of a journal at a time
MOST = 1_000  # tickets in one answer
AUDIT_TIMEOUT = 600.0  # seconds: a full audit reads the whole journal
ELSEWHERE = "with the database's own address, not through a server"


def names() -> Request[list[str]]:
    """List the campaigns of the server."""
    return Request("GET", "/campaigns", lambda text: list(json.loads(text)["campaigns"]))


def status(name: str) -> Request[Status]:
    """Look at the balances, counts and alarms."""
    return result(Status, "GET", path(name))


def ticket(name: str, number: Ticket) -> Request[CampaignTicket]:
    """Look at one ticket."""
    return result(CampaignTicket, "GET", path(name, "tickets", number_of(name, number)))


def tickets(
    name: str, states: Sequence[str] = OPEN, limit: int = 1000, after: int = 0
) -> Generator[Request[Any], Any, list[CampaignTicket]]:
    """Look at tickets, as many at a time as an answer holds."""
    limit = integer("limit", limit, low=1, high=LARGEST)
    after = integer("after", after, low=0, high=LARGEST)
    found: list[CampaignTicket] = []
    states = [choice("states", state, STATES) for state in states]
    while states and len(found) < limit:
        wanted = min(MOST, limit - len(found))
        query: dict[str, Any] = {"state": states, "limit": wanted}
        if last := found[-1].id if found else after:
            query["after"] = last
        page = yield Request("GET", path(name, "tickets"), tickets_of, query=query)
        found += page
        if len(page) < wanted:
            break
    return found


def labels(name: str, key: str | None = None, limit: int = 100) -> Request[list[LabelStatus]]:
    """Look at the labels on which most was spent."""
    return Request("GET", path(name, "labels"), labels_of, query={**given(key=key), "limit": limit})


def labels_of(text: str) -> list[LabelStatus]:
    """Return the labels of an answer."""
    return [result_of(LabelStatus, each) for each in json.loads(text)["labels"]]


def recommend(
    name: str,
    by: str = REWARD,
    *,
    cap: Any = None,
    confidence: float = CONFIDENCE,
    within: float = 0.0,
    resource: str | None = None,
) -> Request[Recommendation]:
    """Ask which arm is best."""
    return Request(
        "GET",
        path(name, "recommendation"),
        lambda text: result_of(Recommendation, json.loads(text)),
        query=given(
            by=check_criterion(by),
            cap=amount_text(cap),
            confidence=check_confidence(confidence),
            within=check_within(within),
            resource=resource,
        ),
    )


def journal_page(name: str, after: int) -> Request[list[Entry]]:
    """Look at the entries that follow one; at the end there are none."""
    return journal_request(path(name, "journal"), after)


def journal_request(where: str, after: int) -> Request[list[Entry]]:
    """A request for the entries of a journal that follow one."""
    query = {"after": integer("after", after, low=0, high=LARGEST), "limit": PAGE_SIZE}
    return Request("GET", where, entries_of, query=query)


def entries_of(text: str) -> list[Entry]:
    """Return the entries of an answer, which has one on each line."""
    return [Entry(**json.loads(line)) for line in text.split("\n") if line]


def audit(
    name: str,
    *,
    full: bool = False,
    acknowledged: Iterable[Ticket] = (),
    noted: tuple[int, str] | None = None,
) -> Request[Audit]:
    """Check a campaign against its journal."""
    body: dict[str, Any] = {
        "full": full,
        "acknowledged": [number_of(name, each) for each in acknowledged],
    }
    if noted is not None:
        entries, digest = noted
        body["noted"] = {
            "entries": integer("noted", entries, low=0, high=LARGEST),
            "digest": digest,
        }
    return Request(
        "POST",
        path(name, "audit"),
        lambda text: result_of(Audit, json.loads(text)),
        body,
        timeout=AUDIT_TIMEOUT,
    )
