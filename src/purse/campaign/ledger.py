"""What a journal comes to: purses, tickets and counts. `Ledger.fold` is the only place where they
change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from purse.campaign.journal import Entry, chain
from purse.campaign.states import (
    CLOSED,
    FAILED,
    HELD,
    OPEN,
    PAUSED,
    PRESUMED,
    RUNNING,
    SETTLED,
    SKIPPED,
    STATES,
    TOLD,
    VOID,
    CampaignState,
    TicketState,
)
from purse.campaign.terms import Terms
from purse.types import SKIP

COUNTS = ("tickets", *STATES, "conflicts", "overruns", "below_minimum")


class Balance(NamedTuple):
    """The counters of one resource, in units. P1: spent + held + presumed <= budget."""

    budget: int
    spent: int = 0
    held: int = 0
    presumed: int = 0
    overrun: int = 0  # what calls cost above what was held for them; P1 does not cover it

    @property
    def left(self) -> int:
        """What can still be held."""
        return self.budget - self.spent - self.held - self.presumed


class TicketRecord(NamedTuple):
    """A ticket as it is stored."""

    id: int
    state: TicketState
    at: int  # ms
    deadline: int | None  # ms
    body: dict[str, Any]  # t, arms, probabilities, held, request; report once it is told


@dataclass
class CampaignRecord:
    """What is known of a campaign besides its purses, tickets and journal."""

    id: str = ""  # of the terms
    status: CampaignState = RUNNING
    rounds: int = 0  # asked for so far
    created: int = 0  # ms
    changed: int = 0  # ms
    snapshot: int = 0  # the entry up to which the last snapshot of the policy goes
    digest: str = ""  # of the journal
    archived: int = 0  # the entry up to which the journal was archived
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    # initial pulls that were voided: t, arms, probabilities
    again: list[list[Any]] = field(default_factory=list)
    # pulls of each arm that count against its cap, where there are caps
    taken: list[int] = field(default_factory=list)
    # pulls of each arm on tickets that are held, where the policy counts them
    open: list[int] | tuple[()] = ()

    def __post_init__(self) -> None:
        """Leave out an empty `open`, which the class has: other heads are stored as in 0.1.0."""
        if not self.open:
            del self.open

    @classmethod
    def from_json(cls, text: str) -> CampaignRecord:
        """A record as it is stored; 0.1.0 stored `handover`, too, which nobody needs."""
        facts = orjson.loads(text)
        facts.pop("handover", None)
        facts["counts"] = {**dict.fromkeys(COUNTS, 0), **facts["counts"]}  # new states
        return cls(**facts)


class Ledger:
    """The state of a campaign, or as much of it as the entries to come need."""

    def __init__(
        self,
        terms: Terms,
        seq: int = 0,
        head: CampaignRecord | None = None,
        purses: list[Balance] | None = None,
    ) -> None:
        self.terms = terms
        self.seq = seq
        self.head = head or CampaignRecord()
        self.balances = purses or []
        self.tickets: dict[int, TicketRecord] = {}
        self.requests: dict[str, Entry] = {}

    def fold(self, entry: Entry) -> None:
        """Take in the next entry."""
        getattr(self, entry.kind)(entry)
        self.seq, self.head.changed = entry.seq, entry.at
        self.head.digest = chain(self.head.digest, entry)
        if entry.request is not None:
            self.requests[entry.request] = entry

    def created(self, entry: Entry) -> None:
        """Open the purses."""
        self.balances = [Balance(units) for units in self.terms.budget]
        self.head.id, self.head.created = self.terms.id, entry.at
        self.head.taken = [0] * len(self.terms.arms) if self.terms.caps is not None else []
        if self.terms.pending:
            self.head.open = [0] * len(self.terms.arms)

    def asked(self, entry: Entry) -> None:
        """Issue tickets and hold the most that each may cost."""
        issued, skips = entry.body["tickets"], 0
        for each in issued:
            skipped = each["arms"][0] == SKIP
            skips += skipped
            body = {
                "t": each["t"],
                "arms": each["arms"],
                "probabilities": each["probabilities"],
                "held": each["held"],
                "request": entry.request,
            }
            state, deadline = (SKIPPED, None) if skipped else (HELD, entry.body["deadline"])
            self.tickets[each["id"]] = TicketRecord(each["id"], state, entry.at, deadline, body)
            if each["t"] > self.head.rounds:
                self.head.rounds = each["t"]
            else:
                self.head.again.pop(0)
            add_pulls(self.head.taken, each["arms"], 1)
            add_pulls(self.head.open, each["arms"], 1)
        self.count("tickets", len(issued))
        self.count(HELD, len(issued) - skips)
        self.count(SKIPPED, skips)
        self.move(
            [sum(units) for units in zip(*(each["held"] for each in issued), strict=True)], held=1
        )

    def told(self, entry: Entry) -> None:
        """Take in a whole report; the money moves where it has not done so before."""
        body, record = entry.body, self.tickets[entry.ticket or 0]
        if not body.get("settled"):
            self.pay(record, body)
            self.compare_minimum(record, body)
        report = {name: body[name] for name in ("rewards", "costs", "from", "spent", "overrun")}
        self.put(record._replace(state=TOLD, body={**record.body, "report": report}), record.state)

    def settled(self, entry: Entry) -> None:
        """Take in what a pull cost, whose reward is not known yet."""
        self.compare_minimum(self.tickets[entry.ticket or 0], entry.body)
        self.close_hold(entry, SETTLED)

    def failed(self, entry: Entry) -> None:
        """Take in what a pull cost that did not work; an initial pull will be asked for again."""
        record = self.tickets[entry.ticket or 0]
        self.close_hold(entry, FAILED)
        self.ask_again(record)

    def close_hold(self, entry: Entry, state: TicketState) -> None:
        """Let the money of a report without a reward move."""
        body, record = entry.body, self.tickets[entry.ticket or 0]
        self.pay(record, body)
        report = {name: body[name] for name in ("costs", "from", "spent", "overrun")}
        self.put(record._replace(state=state, body={**record.body, "report": report}), record.state)

    def rewarded(self, entry: Entry) -> None:
        """Keep a reward with its ticket."""
        record = self.tickets[entry.ticket or 0]
        body = {**record.body, "reward": entry.body["rewards"]}
        self.tickets[record.id] = record._replace(body=body)

    def pay(self, record: TicketRecord, body: dict[str, Any]) -> None:
        """Settle a hold: spend up to it, count the rest as overrun."""
        if record.state in OPEN:
            self.move(record.body["held"], **{record.state: -1})
        self.move(body["spent"], spent=1)
        if any(body["overrun"]):
            self.move(body["overrun"], overrun=1)
            self.count("overruns", 1)

    def compare_minimum(self, record: TicketRecord, body: dict[str, Any]) -> None:
        """Count a report of less than the declared minimum; a call that failed may cost nothing."""
        least = [units for arm in record.body["arms"] for units in self.terms.cost_min[arm]]
        if any(cost < low for cost, low in zip(body["costs"], least, strict=True)):
            self.count("below_minimum", 1)

    def voided(self, entry: Entry) -> None:
        """Release a hold; an initial pull will be asked for again."""
        record = self.tickets[entry.ticket or 0]
        self.move(record.body["held"], **{record.state: -1})
        self.put(record._replace(state=VOID), record.state)
        add_pulls(self.head.taken, record.body["arms"], -1)
        self.ask_again(record)

    def ask_again(self, record: TicketRecord) -> None:
        """Have an initial pull asked for again that brought no reward."""
        if record.body["t"] <= self.terms.initial_rounds:
            self.head.again.append(
                [record.body["t"], record.body["arms"], record.body["probabilities"]]
            )

    def expired(self, entry: Entry) -> None:
        """Presume a hold spent, or release it where the terms say so."""
        record, state = self.tickets[entry.ticket or 0], entry.body["to"]
        self.move(record.body["held"], held=-1, **({PRESUMED: 1} if state == PRESUMED else {}))
        self.put(record._replace(state=state), HELD)

    def conflict(self, _: Entry) -> None:
        """Count what was said too late."""
        self.count("conflicts", 1)

    def topped_up(self, entry: Entry) -> None:
        """Add to the budget."""
        self.move(entry.body["units"], budget=1)

    def paused(self, _: Entry) -> None:
        """Give out no tickets for a while."""
        self.head.status = PAUSED

    def resumed(self, _: Entry) -> None:
        """Give out tickets again."""
        self.head.status = RUNNING

    def closed(self, _: Entry) -> None:
        """Give out no more tickets."""
        self.head.status = CLOSED

    def archived(self, entry: Entry) -> None:
        """Let go of entries that a file holds."""
        self.head.archived = entry.body["last"]

    def move(
        self,
        units: list[int],
        *,
        budget: int = 0,
        spent: int = 0,
        held: int = 0,
        presumed: int = 0,
        overrun: int = 0,
    ) -> None:
        """Add units of each resource to the counters, times their signs."""
        self.balances = [
            Balance(
                was[0] + budget * part,
                was[1] + spent * part,
                was[2] + held * part,
                was[3] + presumed * part,
                was[4] + overrun * part,
            )
            for was, part in zip(self.balances, units, strict=True)
        ]

    def put(self, record: TicketRecord, before: str) -> None:
        """A ticket in a new state."""
        self.tickets[record.id] = record
        self.count(before, -1)
        self.count(record.state, 1)
        if before == HELD:
            add_pulls(self.head.open, record.body["arms"], -1)

    def count(self, what: str, change: int) -> None:
        """How many there are."""
        self.head.counts[what] += change


def add_pulls(counts: list[int] | tuple[()], arms: list[int], change: int) -> None:
    """Count pulls of arms, where they are counted; a skipped play ends the round.

    >>> counts = [0, 0, 0]
    >>> add_pulls(counts, [2, 0, -1], 1)
    >>> counts
    [1, 0, 1]
    """
    if counts:
        for arm in arms:
            if arm == SKIP:
                break
            counts[arm] += change


def total_costs(costs: Sequence[int], n_resources: int) -> list[int]:
    """(d,) What all plays of a report cost, of each resource.

    >>> total_costs([1, 10, 2, 20], 2)
    [3, 30]
    """
    return [sum(costs[m::n_resources]) for m in range(n_resources)]


def settle(held: list[int], cost: list[int]) -> tuple[list[int], list[int]]:
    """P6: what is spent, up to the hold, and what is overrun, of each resource.

    >>> settle([50], [30]), settle([50], [80])
    (([30], [0]), ([50], [30]))
    """
    spent = [min(part, most) for part, most in zip(cost, held, strict=True)]
    return spent, [part - paid for part, paid in zip(cost, spent, strict=True)]
