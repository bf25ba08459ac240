"""A level and the entries that are to be added to its journal: what all rules have in common.

A rule is a function of a transaction. It raises before it adds an entry, so that a refusal changes
nothing. Two refusals are kept: a conflict, and that a budget is exhausted, if an alert is about it.
No rule knows the storage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from purse.base import amounts
from purse.campaign import events
from purse.campaign.arms import Seen
from purse.campaign.calendar import Calendar, data_version
from purse.campaign.campaign_ledger import CampaignLevel
from purse.campaign.entry import Entry
from purse.campaign.ledger import Level
from purse.campaign.records import Balance, Units
from purse.campaign.states import ENDED, RUNNING
from purse.campaign.ticket import TicketRecord
from purse.errors import CampaignEnded, Conflict, InvalidInput, TicketError

PERIOD, ALERT = "\nperiod ", "\nalert "  # requests of our own; those of users are printable


class Chooser(Protocol):
    """A policy that chooses."""

    def choose(self, seen: Seen) -> tuple[int, float]:
        """Return an arm and its probability."""

    def probabilities(self, seen: Seen) -> list[float]:
        """Return the probability of each arm."""

    def begin_period(self, rounds: int) -> None:
        """Let the horizon count from the round after so many."""


class Added(NamedTuple):
    """An entry that was added, with what is stored beside it."""

    level: Level
    entry: Entry
    digest: str
    turn: int | None  # its place in the order of the whole tree


class Transaction:
    """Adds entries to the journal of a level and of those above it; each depends on those before.

    now       ms
    chooser   the policy, if something is asked for
    """

    def __init__(self, level: Level, now: int, chooser: Chooser | None = None) -> None:
        self.level = level
        self.now = now
        self.chooser = chooser
        self.added: list[Added] = []
        self.chosen: tuple[int, float] | None = None  # arm and probability, if they are known

    @property
    def campaign(self) -> CampaignLevel:
        """The level, which has tickets."""
        assert isinstance(self.level, CampaignLevel)
        return self.level

    @property
    def policy(self) -> Chooser:
        """The policy, which is there if something is asked for."""
        assert self.chooser is not None
        return self.chooser

    def add(
        self,
        kind: str,
        body: dict[str, Any],
        *,
        request: str | None = None,
        ticket: int | None = None,
        level: Level | None = None,
    ) -> Entry:
        """Add an entry, and the events that it causes on its level and those above."""
        level = level or self.level
        entry = Entry.of(level.seq + 1, self.now, kind, body, request, ticket)
        turn = level.fold(entry)
        self.added.append(Added(level, entry, level.head.digest, turn))
        if kind != "event":
            for each in level.chain():
                if each.head.alerts:
                    for event in events.due(each, entry, own=each is level):
                        self.add_event(each, event)
        return entry

    def add_event(self, level: Level, body: dict[str, Any]) -> None:
        """Add an event; the storage refuses one that was made before."""
        self.add("event", body, request=ALERT + body["key"], level=level)

    def note_refusal(self, need: Units) -> None:
        """Make the events that so much cannot be paid any more, if a rule of alerts wants them."""
        for level in self.level.chain():
            for event in events.refused(level, need):
                self.add_event(level, event)

    def renew(self) -> None:
        """Begin the periods that are due, in order, from the top down; those of a level that is not
        running go on.
        """
        for level in reversed(list(self.level.chain())):
            while level.head.status == RUNNING and (period := level.period):
                if self.now < period.ends:
                    break
                body = {"number": period.number + 1, "at": period.ends}
                body |= self.end_after(level, period.ends, period.ends)
                self.add("renewed", body, request=f"{PERIOD}{period.number + 1}", level=level)

    def end_after(self, level: Level, known: int, instant: int) -> dict[str, Any]:
        """Return the end of the period after an instant (ms), and the version of the time-zone data
        that told it.

        known   the end of a period before it, ms
        """
        terms, version = level.terms, data_version(level.terms.time_zone)
        end = Calendar(terms.every, terms.time_zone).next_end(known, instant)
        return {"next": end, **({"tz": version} if version else {})}

    def repeated(self, request: str, kind: str, same: Mapping[str, Any]) -> Entry | None:
        """Return the entry that answered this request before.

        Raise `Conflict` if that was another request.
        """
        entry = self.level.requests.get(request)
        if entry is not None and (
            entry.kind != kind or any(entry.body.get(name) != same[name] for name in same)
        ):
            before = (
                f"{entry.body.get('n', 1)} tickets"
                + " of some arms" * ("mask" in entry.body)
                + " with labels" * ("labels" in entry.body)
                if entry.kind == "asked"
                else f"a top-up of {', '.join(map(amounts.text, entry.body['units']))}"
            )
            raise Conflict(f"request_id={request!r} was used before for another request: {before}")
        return entry

    def find(self, number: int) -> TicketRecord:
        """Return a ticket. Raise `TicketError` if it was never issued."""
        ticket = self.campaign.tickets.get(number)
        if ticket is None:
            raise TicketError(
                f"ticket {number} is not one that campaign {self.level.terms.name!r} issued"
            )
        return ticket

    def refuse_ended(self) -> None:
        """Raise `CampaignEnded` if the level has ended."""
        if self.level.head.status == ENDED:
            raise CampaignEnded(f"{self.level.title} has ended")


def check_counted(
    field: str, what: str, balances: Sequence[Balance], units: Units, place: int
) -> None:
    """Raise `InvalidInput` if a counter would exceed what can be counted.

    field   of the amounts
    what    the words of the error before the limit
    place   of the counter in a balance
    """
    for balance, more in zip(balances, units, strict=True):
        if balance[place] + more > amounts.LARGEST:
            raise InvalidInput(
                f"{field}={amounts.text(more)}: {what} {amounts.LARGEST // amounts.UNIT:,}"
            )
