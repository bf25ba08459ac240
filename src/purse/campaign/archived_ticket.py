"""Tickets whose entries were archived: as much as is needed to answer for them as before.

A repeated ask finds its tickets by a hash of its request id, and a repeated report finds the first
one. The policy can still learn all of them again, in their order.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from purse.base.json import compact
from purse.campaign.contexts import CONTEXT, UNUSED
from purse.campaign.journal import Entry
from purse.campaign.labels import LABELS
from purse.campaign.ledger import settle, total_costs
from purse.campaign.periods.period import ABOVE, PERIOD
from purse.campaign.records import TicketRecord
from purse.campaign.states import OPEN

HASH_BYTES = 16
MORE = ("initial", "names", CONTEXT, LABELS, PERIOD, ABOVE)  # what few tickets have
OF_ASK = ("mask", UNUSED, LABELS)  # what few asks have


class ArchivedTicket(NamedTuple):
    """A ticket in few bytes."""

    id: int
    told: int | None  # the entry that its report is in
    # the hash of the request id, where it is the first ticket of an ask; None for the others
    request: bytes | None
    # state, at, deadline, t, arms, probabilities, held, what `pack_ask` keeps of the ask; where its
    # cost is known: from, rewards, costs; where a reward is kept with it: that; more of its body
    body: str


def request_hash(request: str) -> bytes:
    """The hash by which a request is found."""
    return blake2b(request.encode(), digest_size=HASH_BYTES).digest()


def archive_ticket(record: TicketRecord, told: int | None, ask: Entry) -> ArchivedTicket:
    """A ticket in few bytes.

    told   the entry that its report is in; None where it is not told
    ask    the entry that issued it
    """
    body, issued = record.body, ask.body["tickets"]
    is_first = record.id == issued[0]["id"]
    facts = [
        record.state,
        record.at,
        record.deadline,
        body["t"],
        body["arms"],
        body["probabilities"],
        body["held"],
        pack_ask(ask.body) if is_first else None,
    ]
    if report := body.get("report"):
        facts += [report["from"], report.get("rewards"), report["costs"]]
    more = {name: body[name] for name in MORE if name in body}
    if "reward" in body or more:
        facts += [*[None] * (11 - len(facts)), body.get("reward"), *([more] if more else [])]
    request = request_hash(ask.request or "") if is_first else None
    return ArchivedTicket(record.id, told, request, compact(facts))


def unpack_ticket(ticket: ArchivedTicket, request: str | None = None) -> TicketRecord:
    """The ticket as it was stored; its request id is known where the caller gives it."""
    state, at, deadline, t, arms, probabilities, held, _, *report = orjson.loads(ticket.body)
    body: dict[str, Any] = {
        "t": t,
        "arms": arms,
        "probabilities": probabilities,
        "held": held,
        "request": request,
    }
    if report and report[0] is not None:
        body["report"] = whole_report(held, *report[:3])
    if len(report) > 3 and report[3] is not None:
        body["reward"] = report[3]
    if len(report) > 4:
        body |= report[4]
    return TicketRecord(ticket.id, state, at, deadline, body)


def whole_report(
    held: list[int], state: str, rewards: list[float] | None, costs: list[int]
) -> dict[str, Any]:
    """A report with what was spent and what was overrun."""
    spent, overrun = settle(
        held if state in OPEN else [0] * len(held), total_costs(costs, len(held))
    )
    money = {"costs": costs, "from": state, "spent": spent, "overrun": overrun}
    return money if rewards is None else {"rewards": rewards, **money}


def told_body(ticket: ArchivedTicket) -> str:
    """The report of a ticket as the policy learns it, as JSON."""
    body = unpack_ticket(ticket).body
    report = body["report"]
    known = {name: body[name] for name in ("t", "arms", "probabilities", CONTEXT) if name in body}
    return compact({**known, **{name: report[name] for name in ("rewards", "costs", "from")}})


def repeated_ask(first: ArchivedTicket, request: str) -> Entry:
    """The ask whose first ticket this is, as far as a repeat of it has to know."""
    count, body = unpack_ask(orjson.loads(first.body)[7])
    body["tickets"] = [{"id": number} for number in range(first.id, first.id + count)]
    return Entry(0, 0, "asked", request, None, body)


def pack_ask(body: dict[str, Any]) -> list[Any]:
    """What the first ticket of an ask keeps of it: the tickets wanted and issued, the mask,
    contexts without a ticket, and the labels.
    """
    facts = [body["n"], len(body["tickets"]), *(body.get(name) for name in OF_ASK)]
    while facts[-1] is None:
        facts.pop()
    return facts


def unpack_ask(facts: list[Any]) -> tuple[int, dict[str, Any]]:
    """The number of tickets that were issued, and the rest of what `pack_ask` keeps."""
    n, count, *more = facts
    known = zip(OF_ASK, more, strict=False)
    return count, {"n": n, **{name: value for name, value in known if value is not None}}
