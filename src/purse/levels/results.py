"""What users get: tickets, receipts and balances, with amounts as decimal text."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from purse.base import amounts
from purse.levels.arms import Arms
from purse.levels.records import HELD, OPEN, VOID, Balance, Units
from purse.levels.ticket import SKIP, Ticket

text = lru_cache(10_000)(amounts.text)  # the same amounts come again and again


class Receipt(NamedTuple):
    """What became of a ticket; `late` says that its report came after its deadline."""

    ticket: int
    state: str
    duplicate: bool
    late: bool
    spent: tuple[str, ...]
    refunded: tuple[str, ...]
    overrun: tuple[str, ...]


class IssuedTicket(NamedTuple):
    """A ticket for its user."""

    id: int
    t: int
    arm: str | None  # None: the round passes without a pull
    probability: float
    held: tuple[str, ...]
    state: str
    request_id: str | None
    asked_at: float  # seconds since 1970
    deadline: float | None


class Status(NamedTuple):
    """A glance at a level."""

    name: str
    kind: str
    status: str
    entries: int
    digest: str
    balances: tuple[Balance, ...]  # units
    counts: dict[str, int]
    rounds: int
    period: tuple[int, float, float] | None  # number, begin and end
    below: tuple[Status, ...] = ()


def texts(units: Units) -> tuple[str, ...]:
    """Amounts as text."""
    return tuple(map(text, units))


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
    return Receipt(ticket.id, ticket.state, duplicate, late, *money)


def issued(arms: Arms, ticket: Ticket) -> IssuedTicket:
    """Return a ticket for its user."""
    return IssuedTicket(
        ticket.id,
        ticket.t,
        None if ticket.arm == SKIP else arms.names[ticket.arm],
        ticket.p,
        texts([0] * len(ticket.held) if ticket.state == VOID else ticket.held),
        ticket.state,
        ticket.request,
        ticket.at / 1000,
        None if ticket.deadline is None else ticket.deadline / 1000,
    )
