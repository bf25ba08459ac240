"""What users get of tickets, made from what is stored: tickets, receipts, sums of labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from heapq import nsmallest
from itertools import groupby
from typing import Any

from purse.base import amounts
from purse.campaign.arms import Arms
from purse.campaign.records import HELD, OPEN, VOID, Units
from purse.campaign.results import CampaignTicket, LabelStatus
from purse.campaign.results import Receipt as Receipt
from purse.campaign.ticket import SKIP, Ticket

text = lru_cache(10_000)(amounts.text)  # the same amounts come again and again


def texts(units: Units) -> tuple[str, ...]:
    """Return amounts as decimal text."""
    return tuple(map(text, units))


def issued(terms: Any, arms: Arms, ticket: Ticket) -> CampaignTicket:
    """Return a ticket for its user."""
    return CampaignTicket(
        terms.name,
        ticket.id,
        ticket.t,
        None if ticket.arm == SKIP else arms.names[ticket.arm],
        ticket.p,
        texts([0] * len(ticket.held) if ticket.state == VOID else ticket.held),
        ticket.state,  # type: ignore[arg-type]
        ticket.request,
        ticket.at / 1000,
        None if ticket.deadline is None else ticket.deadline / 1000,
    )


def receipt(ticket: Ticket, *, duplicate: bool = False) -> Receipt:
    """Return what became of a ticket so far."""
    nothing = [0] * len(ticket.held)
    if ticket.state in OPEN:  # its reward is known, and its cost is not
        spent = refunded = overrun = nothing
    elif ticket.costs is None:
        spent, refunded, overrun = nothing, list(ticket.held), nothing
    else:
        spent, overrun = ticket.spent, ticket.overrun
        apart = ticket.held if ticket.source in OPEN else nothing
        refunded = [most - paid for most, paid in zip(apart, spent, strict=True)]
    late = ticket.costs is not None and ticket.source != HELD
    money = texts(spent), texts(refunded), texts(overrun)
    return Receipt(ticket.id, ticket.state, duplicate, late, *money)  # type: ignore[arg-type]


def labels(rows: Iterable[Sequence[Any]], limit: int) -> list[LabelStatus]:
    """Return the sums of at most `limit` labels, from rows of key, value, resource, tickets, spent,
    held, presumed and overrun: those on which most was spent of the first resource come first,
    overruns included; with as much those with more tickets.
    """
    known = sorted(map(tuple, rows))
    found = [list(parts) for _, parts in groupby(known, key=lambda row: row[:2])]
    made = []
    for parts in nsmallest(limit, found, key=lambda parts: rank(*parts[0])):
        key, value, _, tickets, *_ = parts[0]
        spent, held, presumed, overrun = map(texts, list(zip(*parts, strict=True))[4:])
        made.append(LabelStatus(key, value, tickets, spent, held, presumed, overrun))
    return made


def rank(key: str, value: str, _: int, tickets: int, spent: int, *more: int) -> tuple[Any, ...]:
    """Return the place of a label in the order of what was spent, from its first resource."""
    return -spent - more[-1], -tickets, key, value
