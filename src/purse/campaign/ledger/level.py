"""The state of a level, which is the fold of its journal. Only entries change a level.

A level is a budget. One below another spends from both: what moves on it moves on all levels above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from operator import gt, sub
from typing import TYPE_CHECKING, Any

from purse.base.amounts import LARGEST
from purse.campaign.api.states import ACCOUNT, CAMPAIGN, ENDED, PAUSED, RUNNING
from purse.campaign.ledger.entry import FORGOTTEN, SEAL, LedgerEntry
from purse.campaign.ledger.limits import LabelBudget
from purse.campaign.ledger.period import Period
from purse.campaign.ledger.records import HOUR, Balance, Head, Move, Units, apply_move, drawn
from purse.campaign.terms.budget_terms import RULES
from purse.campaign.terms.calendar import Calendar

if TYPE_CHECKING:
    from purse.campaign.terms.budget_terms import AccountTerms
    from purse.campaign.terms.terms import Terms

Load = Callable[[int], list[LedgerEntry]]  # finds the entries about a ticket
OWN = "own"  # the key of a level's own period


class Level:
    """An account: a budget for the levels below it."""

    kind = ACCOUNT

    def __init__(
        self,
        terms: AccountTerms | Terms,
        seq: int = 0,
        head: Head | None = None,
        balances: Sequence[Balance] = (),
        above: Level | None = None,
    ) -> None:
        self.terms: AccountTerms | Terms = terms
        self.seq = seq
        self.head = head or Head()
        self.balances = list(balances)
        self.above = above
        self.requests: dict[str, LedgerEntry] = {}  # as far as they are known

    @property
    def title(self) -> str:
        """Its kind and its name, for people."""
        return f"{self.kind} {self.terms.name!r}"

    def chain(self) -> list[Level]:
        """Return this level and those above it, from below."""
        return [self] if self.above is None else [self, *self.above.chain()]

    def fold(self, entry: LedgerEntry) -> int | None:
        """Take in the next entry; return its turn in the tree, None if the level stands alone."""
        if entry.kind == SEAL:
            head, *more = entry.body["state"]["level"]
            self.begin_at(entry.seq, {**head, **entry.body["summary"]["head"]}, *more)
            return None
        self.seq = entry.seq
        self.head.see_clock(entry.at)
        self.head.digest = entry.chain(self.head.digest)
        if entry.request is not None:
            self.requests[entry.request] = entry
        if FORGOTTEN in entry.body:
            self.head.forgotten += 1
        self.apply(entry)
        top = self.chain()[-1]
        if top.kind == CAMPAIGN:
            return None
        top.head.turn += 1
        return top.head.turn

    def facts(self) -> list[Any]:
        """Return what a checkpoint says."""
        return [vars(self.head), self.balances]

    def begin_at(self, seq: int, head: dict[str, Any], balances: Any, *_: Any) -> None:
        """Be what a checkpoint says."""
        self.seq, self.head = seq, Head(**deepcopy(head))
        self.head.id = self.terms.id  # of a copy it is another one
        self.balances = [Balance(*counters) for counters in balances]

    def take(self, entry: LedgerEntry, above: Level | None, load: Load) -> None:
        """Take in the next entry of a journal that is read; `load` finds those about a ticket."""
        self.above = above
        self.fold(entry)
        self.requests.clear()

    def apply(self, entry: LedgerEntry) -> None:
        """Change what an entry changes."""
        head, body = self.head, entry.body
        match entry.kind:
            case "created":
                self.balances = [Balance(units) for units in self.terms.budget]
                head.id, head.created = self.terms.id, entry.at
                head.alerts, head.rules = list(self.terms.alerts), self.terms.rules
                if self.terms.every:
                    nothing = [0] * len(self.balances)
                    ends = self.terms.first_end
                    head.period = list(Period(1, entry.at, ends, 0, nothing, nothing, nothing))
            case "handed_over":
                head.rules = RULES
            case "sealed":
                head.sealed = body["seq"]
            case "topped_up":
                self._add_budget(body["units"])
            case "budget_set":
                head.allowance = list(body["units"])
                if not body.get("next"):
                    self._add_budget(list(map(sub, body["units"], self.granted)))
            case "charged":
                self.book(charge_move(entry), entry.at)
            case "renewed":
                before, period = self.balances, Period(*head.period)
                passed = body["number"] - period.number
                span = body["at"], body["next"]
                period, after = period.next(
                    before, self.allowance, self.terms.carry, span, head.rounds, passed
                )
                self.balances = drawn(before, after)
                head.period = list(period)
                head.ahead = [other for other in head.ahead if other[1] > period.begun]
            case "clock" if "next" in body:
                head.ahead = [*head.ahead, head.period[:3]]
                period = Period(*head.period)._replace(begun=entry.at, ends=body["next"])
                head.period = list(period)
            case "clock":
                *head.ahead, (_, begun, ends) = head.ahead
                head.period = list(Period(*head.period)._replace(begun=begun, ends=ends))
            case "paused":
                head.status = PAUSED
            case "resumed":
                head.status = RUNNING
                if "next" in body:
                    head.period = list(Period(*head.period)._replace(ends=body["next"]))
                    head.ahead = [other for other in head.ahead if other[1] > entry.at]
            case "ended":
                head.status = ENDED
            case "alerts_set":
                head.alerts = list(body["alerts"])
            case "event":
                subject, *mark = body["key"].split("/")
                head.alerted = head.alerted | {subject: list(map(int, mark))}
            case kind:
                raise ValueError(f"unknown kind of entry {kind!r}")

    @property
    def allowance(self) -> Units:
        """(d,) The budget that was set last; if it is renewed, of each period."""
        return self.head.allowance or self.terms.budget

    @property
    def granted(self) -> list[int]:
        """(d,) The budget of this period, or in all."""
        if (period := self.period) is not None:
            return period.budget(self.balances)
        return [balance.budget for balance in self.balances]

    def _add_budget(self, units: Units) -> None:
        """Add to the budget, or take from it."""
        before, head = self.balances, self.head
        self.balances = drawn(before, apply_move(before, [(more, 0, 0, 0, 0) for more in units]))
        head.top_ups += bool(head.alerts or head.alerted)

    @property
    def period(self) -> Period | None:
        """The period that the budget is in; None if it is never renewed."""
        return Period(*self.head.period) if self.head.period else None

    @property
    def calendar(self) -> Calendar:
        """The boundaries of its periods."""
        return Calendar(self.terms.every, self.terms.time_zone)

    def due(self, at: int) -> str:
        """Return the kind of the entry about periods that has to come first at a time, ms; "" if
        no such entry has to.

        A period that begins more than an hour later was begun by a clock that was ahead: until then
        others run in its place. A clock that jumps to it again finds it, and what was granted is
        not granted again. If others have ended one by one until it begins, it is granted like them.
        """
        head, period = self.head, self.period
        if head.status != RUNNING or period is None:
            return ""
        if at < period.begun - HOUR:
            return "clock"
        if head.ahead and head.ahead[-1][1] <= at:
            number, begun, _ = head.ahead[-1]
            if period.ends != begun or period.number == number:
                return "clock"
        return "renewed" if period.ends <= at else ""

    def book(
        self, move: Move, at: int, asked_in: dict[str, int] | None = None, *, holds: bool = False
    ) -> None:
        """Move money on this level and all above it.

        at         ms
        asked_in   the periods in which its ticket was asked for, see `periods`; None if that is
                   now. What comes back from an ended period may be dropped, and so may what it
                   owes.
        holds      whether it is an ask, which an overdraft never covers
        """
        for level in self.chain():
            before = level.balances
            after = apply_move(before, move)
            level.head.see_clock(at)
            if asked_in is not None and (period := level.period) is not None:
                key = OWN if level is self else level.head.id
                number = max(asked_in.get(key, 0), self.head.joined.get(key, 0))
                if number < period.number:
                    period, dropped = period.after_hold(move, level.terms.carry)
                    level.head.period = list(period)
                    after = [
                        part._replace(budget=min(part.budget - units, LARGEST))
                        for part, units in zip(after, dropped, strict=True)
                    ]
            level.balances = after if holds and level.head.rules >= RULES else drawn(before, after)

    def left(self, labels: Sequence[LabelBudget] = ()) -> list[int]:
        """(d,) Return what can be held: the least over this level and those above, at least 0, and
        over labels with a limit. So a resource that is overdrawn stops only arms that need it.
        """
        rests = [[max(0, part.left) for part in up.balances] for up in self.holders(labels)]
        return rests[0] if len(rests) == 1 else [min(parts) for parts in zip(*rests, strict=True)]

    def available(self, labels: Sequence[LabelBudget] = ()) -> list[int]:
        """(d,) Return what could be held if all that is held came back."""
        holders = self.holders(labels)
        rests = [[max(0, part.left + part.held) for part in up.balances] for up in holders]
        return [min(parts) for parts in zip(*rests, strict=True)]

    def holders(self, labels: Sequence[LabelBudget]) -> list[Level | LabelBudget]:
        """Return the budgets in which a hold needs room: this level, those above, and labels."""
        return [*self.chain(), *labels]

    def periods(self) -> dict[str, int]:
        """Return the numbers of the periods of this level and, by id, of those above it."""
        return {
            OWN if level is self else level.head.id: level.head.period[0]
            for level in self.chain()
            if level.head.period
        }

    def periods_above(self) -> dict[str, int]:
        """Return the same without its own."""
        return {key: number for key, number in self.periods().items() if key != OWN}


def charge_move(entry: LedgerEntry) -> Move:
    """Return the move of a charge or a credit."""
    return [(0, units, 0, 0, 0) for units in entry.body["amount"]]


def fits(need: Units, left: Units) -> bool:
    """Return whether there is enough of each resource.

    >>> fits([2, 3], [2, 4]), fits([2, 5], [9, 4])
    (True, False)
    """
    return not any(map(gt, need, left))
