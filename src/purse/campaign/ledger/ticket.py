"""A ticket: the fold of the two to four entries about it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from purse.campaign.api.results import CampaignTicket, Receipt
from purse.campaign.api.states import FAILED, HELD, OPEN, PRESUMED, SETTLED, SKIPPED, TOLD, VOID
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.records import Move, Units, text
from purse.campaign.terms.arms import Arms

SKIP = -1  # the arm of a round that passes without a pull


class TicketRecord(NamedTuple):
    """The permission to pull an arm once, and what became of it."""

    id: int
    state: str
    at: int  # ms
    deadline: int | None  # ms, of the report or of the reward
    t: int
    arm: int
    p: float
    held: Units
    request: str | None
    asked: dict[str, Any]  # the body of its first entry
    costs: Units | None = None
    reward: float | None = None
    source: str = ""  # its state before its cost was known
    failed: bool = False  # its call did not work, whether or not the cost is known

    @classmethod
    def issued(cls, entry: LedgerEntry) -> "TicketRecord":
        """Return the ticket of an ask."""
        body = entry.body
        state = SKIPPED if body["arm"] == SKIP else HELD
        t, arm, p, held = body["t"], body["arm"], body["p"], body["held"]
        request = body.get("of", entry.request)
        deadline = body.get("deadline")
        return cls(entry.ticket or 0, state, entry.at, deadline, t, arm, p, held, request, body)

    def after(self, entry: LedgerEntry, reward_within: int | None) -> "TicketRecord":
        """Return the ticket after one more entry about it."""
        body = entry.body
        match entry.kind:
            case "told":
                facts = self[2:10]  # `_replace` takes three times as long
                return TicketRecord(
                    self.id, TOLD, *facts, body["costs"], body["reward"], body["from"]
                )
            case "settled":
                due = self.deadline if reward_within is None else entry.at + reward_within
                return self._replace(
                    state=SETTLED,
                    costs=body["costs"],
                    source=body["from"],
                    deadline=due,
                    failed=False,
                )
            case "failed":
                costs, source = body["costs"], body["from"]
                return self._replace(state=FAILED, costs=costs, source=source, failed=True)
            case "broken":
                return self._replace(failed=True)
            case "rewarded":
                return self._replace(reward=body["reward"])
            case "voided":
                return self._replace(state=VOID, failed=False)
            case "expired":
                return self._replace(state=PRESUMED)
        return self

    def due(self, reward_within: int | None) -> int | None:
        """Return when it expires, or its reward counts as missing, ms; None: never."""
        waits = self.state == HELD or (self.state == SETTLED and reward_within is not None)
        return self.deadline if waits else None


def moved_between(before: TicketRecord, after: TicketRecord) -> Move:
    """Return the move of each resource between two states of a ticket; [] if none moves."""
    is_paid = after.costs is not None and before.costs is None
    is_freed = before.state in OPEN and after.state != before.state
    if not is_paid and not is_freed:
        return []
    nothing = [0] * len(before.held)
    costs = after.costs if is_paid and after.costs else nothing
    freed = before.held if is_freed else nothing
    parts = zip(costs, freed, _exceeding(costs, freed), strict=True)
    if before.state != HELD:
        return [(0, cost, 0, -hold, over) for cost, hold, over in parts]
    is_presumed = after.state == PRESUMED
    return [(0, cost, -hold, hold * is_presumed, over) for cost, hold, over in parts]


def _exceeding(costs: Units, holds: Units) -> list[int]:
    """(d,) Return the parts of costs above holds (P6)."""
    return [max(0, cost - hold) for cost, hold in zip(costs, holds, strict=True)]


def fold_ticket(entries: Iterable[LedgerEntry], reward_within: int | None) -> TicketRecord | None:
    """Return the ticket that its entries come to, in any order; None without entries."""
    ticket: TicketRecord | None = None
    for entry in sorted(entries, key=lambda entry: entry.seq):
        ticket = (
            TicketRecord.issued(entry) if ticket is None else ticket.after(entry, reward_within)
        )
    return ticket


def texts(units: Units) -> tuple[str, ...]:
    """Return amounts as decimal text."""
    return tuple(map(text, units))


def user_ticket(terms: Any, arms: Arms, ticket: TicketRecord) -> CampaignTicket:
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


def receipt(ticket: TicketRecord, *, duplicate: bool = False) -> Receipt:
    """Return the receipt of a ticket as it is now."""
    nothing = [0] * len(ticket.held)
    costs = ticket.costs or nothing
    holds = ticket.held if ticket.source in OPEN or ticket.state == VOID else nothing
    money = texts(costs), texts(_exceeding(holds, costs)), texts(_exceeding(costs, holds))
    late = ticket.costs is not None and ticket.source != HELD
    return Receipt(ticket.id, ticket.state, duplicate, late, *money)  # type: ignore[arg-type]
