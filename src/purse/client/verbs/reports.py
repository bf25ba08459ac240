"""Reports on tickets, as requests."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Mapping
from typing import Any

from purse.campaign.results import Receipt
from purse.client.exchange import Request, WrongFields
from purse.client.verbs.common import Ticket, number_of, result
from purse.client.wire import encoded, error_of, path, result_of
from purse.errors import InvalidInput, PurseError

MOST = 1_000  # reports in one request
PLACE = re.compile(r"reports\[(\d+)\]\.?(.*)")
Answers = list[Receipt | PurseError]


def tell(name: str, ticket: Ticket, reward: Any, cost: Any) -> Request[Receipt]:
    """Report reward and cost."""
    return report(name, ticket, "tell", {"reward": reward, "cost": cost})


def settle(name: str, ticket: Ticket, cost: Any) -> Request[Receipt]:
    """Report the cost."""
    return report(name, ticket, "settle", {"cost": cost})


def reward(name: str, ticket: Ticket, reward: Any) -> Request[Receipt]:
    """Report the reward."""
    return report(name, ticket, "reward", {"reward": reward})


def fail(name: str, ticket: Ticket, cost: Any = 0, reason: str = "") -> Request[Receipt]:
    """Report that a call did not work."""
    return report(name, ticket, "fail", {"cost": cost, "reason": reason})


def void(name: str, ticket: Ticket) -> Request[Receipt]:
    """Cancel a ticket."""
    return report(name, ticket, "void")


def report(
    name: str, ticket: Ticket, verb: str, body: Mapping[str, Any] | None = None
) -> Request[Receipt]:
    """Say something of a ticket."""
    return result(Receipt, "POST", path(name, "tickets", number_of(name, ticket), verb), body)


def tell_many(
    name: str, reports: Iterable[tuple[Ticket, Any, Any]]
) -> Generator[Request[Any], Any, Answers]:
    """Report many tickets, as many at a time as a server takes."""
    answers: dict[int, Receipt | PurseError] = {}
    waiting: list[tuple[int, dict[str, Any]]] = []  # each with its place
    for place, (ticket, reward, cost) in enumerate(reports):
        try:
            one = {"ticket": number_of(name, ticket), "reward": reward, "cost": cost}
            encoded(one)  # what cannot be sent is refused alone, too
        except InvalidInput as error:
            answers[place] = error
        else:
            waiting.append((place, one))
    while waiting:
        batch, waiting = waiting[:MOST], waiting[MOST:]
        body = {"reports": [one for _, one in batch]}
        try:
            found = yield Request("POST", path(name, "tells"), receipts_of, body)
        except WrongFields as error:
            # the server refuses such a request as a whole; its other reports count all the same
            wrong = wrong_reports(error)
            if not wrong:
                raise
            answers |= {batch[place][0]: each for place, each in wrong.items()}
            waiting = [each for k, each in enumerate(batch) if k not in wrong] + waiting
        else:
            answers |= dict(zip((place for place, _ in batch), found, strict=True))
    return [answers[place] for place in sorted(answers)]


def wrong_reports(error: WrongFields) -> dict[int, InvalidInput]:
    """Return the error of each report that a server could not read, by its place."""
    found: dict[int, InvalidInput] = {}
    for each in error.errors:
        if place := PLACE.fullmatch(each["field"]):
            found.setdefault(int(place[1]), InvalidInput(f"{place[2]}: {each['detail']}"))
    return found


def receipts_of(text: str) -> Answers:
    """Return the receipts and errors of an answer."""
    return [
        error_of(each["error"]) if "error" in each else result_of(Receipt, each)
        for each in json.loads(text)["receipts"]
    ]
