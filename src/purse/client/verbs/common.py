"""What the verbs share: how arguments are sent, and how answers are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from purse.base.plain_validation import integer
from purse.campaign.results import CampaignTicket
from purse.client.exchange import Request
from purse.client.wire import T, result_of
from purse.errors import invalid

Ticket: TypeAlias = CampaignTicket | int
Arms: TypeAlias = Sequence[str] | Mapping[str, Any] | None
Labels: TypeAlias = Mapping[str, str] | None
LARGEST = 2**62  # number of a ticket or an entry


def result(
    kind: type[T], method: str, where: str, body: Mapping[str, Any] | None = None
) -> Request[T]:
    """A request whose answer is a result of this type."""
    return Request(method, where, lambda text: result_of(kind, json.loads(text)), body)


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None: older servers know no others."""
    return {name: value for name, value in fields.items() if value is not None}


def number_of(name: str, ticket: Ticket) -> int:
    """Return the number of a ticket of this campaign."""
    if isinstance(ticket, CampaignTicket):
        if ticket.campaign != name:
            raise invalid("ticket", ticket, f"must be one of campaign {name!r}")
        return ticket.id
    return integer("ticket", ticket, low=1, high=LARGEST)


def tickets_of(text: str) -> list[CampaignTicket]:
    """Return the tickets of an answer."""
    return [result_of(CampaignTicket, each) for each in json.loads(text)["tickets"]]
