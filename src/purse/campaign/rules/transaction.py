"""A level and the entries that are to be added to its journal: what all rules have in common.

A rule is a function of a transaction. It raises before it adds an entry, so that a refusal changes
nothing. Two refusals are kept: a conflict, and that a budget is exhausted, if an alert is about it.
That a policy has ended the game is noted beside the journal. No rule knows the storage.

An entry may cause events, which alerts are about. Each event is made once: it has a key of a
subject and a mark, and the marks of one subject only grow.

subject                    mark
80%:0 (resource 0)         number of the period, number of top-ups since there are alerts
refused:0 (resource 0)     the same: `100%`, by an ask that was refused
overrun, expired           UTC hour of the entry, so that there is at most one an hour; then, if
                           a clock was ahead, how often
cooling-down:2 (arm 2)     the same
forecast:0 (resource 0)    the same with UTC days
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from purse.base import amounts
from purse.base.text import count
from purse.campaign.api.states import ENDED
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.cooldown import CoolDown
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.records import COUNTERS, HOUR, Balance, Units
from purse.campaign.ledger.ticket import TicketRecord
from purse.campaign.terms.arms import PolicyView
from purse.campaign.terms.calendar import ahead_of_utc, data_version
from purse.errors import CampaignEnded, Conflict, InvalidInput, TicketError

_DAY = 24 * HOUR
_FEW = 100  # asks, of which the average cost says little
_MOST_PERIODS = 10_000  # that begin one by one
_MISSED = 0.2  # of the requests of a period
_MONEY = {"topped_up": "a top-up", "budget_set": "a budget", "charged": "a charge"}
PERIOD, ALERT = "\nperiod ", "\nalert "  # requests of our own; those of users are printable


class _Chooser(Protocol):
    """A policy that chooses."""

    def choose(self, view: PolicyView) -> tuple[int, float]:
        """Return an arm and its probability."""

    def probabilities(self, view: PolicyView) -> list[float]:
        """Return the probability of each arm."""

    def begin_period(self, rounds: int) -> None:
        """Let the horizon count from the end of a number of rounds."""


class Added(NamedTuple):
    """An entry that was added, with what is stored beside it."""

    level: Level
    entry: LedgerEntry
    digest: str
    turn: int | None  # its place in the order of the whole tree


class Transaction:
    """Adds entries to the journal of a level and of those above; each depends on those before."""

    def __init__(self, level: Level, now: int, chooser: _Chooser | None = None) -> None:
        self.level = level
        self.now = now  # ms
        self.chooser = chooser  # the policy, if something is asked for
        self.added: list[Added] = []
        self.chosen: tuple[int, float] | None = None  # arm and probability, if they are known

    @property
    def campaign(self) -> CampaignLevel:
        """The level, which has tickets."""
        assert isinstance(self.level, CampaignLevel)
        return self.level

    @property
    def policy(self) -> _Chooser:
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
    ) -> LedgerEntry:
        """Add an entry, and the events that it causes on its level and those above."""
        level = level or self.level
        entry = LedgerEntry.of(level.seq + 1, self.now, kind, body, request, ticket)
        turn = level.fold(entry)
        self.added.append(Added(level, entry, level.head.digest, turn))
        if kind != "event":
            for above in level.chain():
                if above.head.alerts:
                    for event in due_events(above, entry, own=above is level):
                        self.add_event(above, event)
        return entry

    def add_event(self, level: Level, body: dict[str, Any]) -> None:
        """Add an event; the storage refuses one that was made before."""
        self.add("event", body, request=ALERT + body["key"], level=level)

    def note_refusal(self, need: Units) -> None:
        """Make the events that so much cannot be paid any more, if a rule of alerts wants them."""
        for level in self.level.chain():
            for event in refused_events(level, need):
                self.add_event(level, event)

    def renew(self) -> None:
        """Begin the periods that are due on running levels, in order, from the top down."""
        for level in reversed(list(self.level.chain())):
            while (kind := level.due(self.now)) and (period := level.period):
                if kind == "clock":
                    is_back = self.now < period.begun
                    body = self.end_after(level, period.ends, self.now) if is_back else {}
                    self.add(kind, body, level=level)
                    continue
                passed, at = level.calendar.count_in(self.now - period.ends), self.now
                if passed <= _MOST_PERIODS:  # else a clock is wrong by years: one entry for all
                    passed, at = 1, period.ends
                body = {"number": period.number + passed, "at": at}
                body |= self.end_after(level, period.ends, at)
                self.add(kind, body, request=f"{PERIOD}{body['number']}", level=level)

    def end_after(self, level: Level, boundary: int, instant: int) -> dict[str, Any]:
        """Return the end of the period after an instant (ms), and the version of the time-zone data
        that told it; for forecasts also how far local time is ahead of UTC.

        boundary   the end of a period before it, ms
        """
        terms, version = level.terms, data_version(level.terms.time_zone)
        end = level.calendar.next_end(boundary, instant)
        ahead = ahead_of_utc(terms.time_zone, instant) if level.head.traffic else 0
        return {
            "next": end,
            **({"tz": version} if version else {}),
            **({"ahead": ahead} if ahead else {}),
        }

    def repeated(self, request: str, kind: str, same: Mapping[str, Any]) -> LedgerEntry | None:
        """Return the entry that answered this request. Raise `Conflict` if it was another one."""
        entry = self.level.requests.get(request)
        if entry is not None and (
            entry.kind != kind or any(entry.body.get(name) != same[name] for name in same)
        ):
            before = (
                count(entry.body.get("n", 1), "ticket")
                + " of some arms" * ("mask" in entry.body)
                + " with labels" * ("labels" in entry.body)
                if entry.kind == "asked"
                else f"{_MONEY[entry.kind]} of "
                + ", ".join(map(amounts.text, entry.body.get("units") or entry.body["amount"]))
            )
            raise Conflict(f"request_id={request!r} was used before for another request: {before}")
        return entry

    def find(self, number: int) -> TicketRecord:
        """Return a ticket. Raise `TicketError` if it was never issued, or is sealed."""
        ticket = self.campaign.tickets.get(number)
        if ticket is None:
            raise unknown_ticket(self.campaign, number)
        return ticket

    def refuse_ended(self) -> None:
        """Raise `CampaignEnded` if the level has ended."""
        if self.level.head.status == ENDED:
            raise CampaignEnded(f"{self.level.title} has ended")


def unknown_ticket(level: CampaignLevel, number: int) -> TicketError:
    """Return the error for a ticket of which there are no entries."""
    if 1 <= number <= level.head.counts.get("tickets", 0):
        return TicketError(f"ticket {number} of {level.title} was finished, and is sealed")
    return TicketError(f"ticket {number} is not one that {level.title} issued")


def check_counted(
    field: str, what: str, balances: Sequence[Balance], units: Units, counter: int
) -> None:
    """Raise `InvalidInput` if a counter (its place in a balance) would be too large."""
    for balance, more in zip(balances, units, strict=True):
        if balance[counter] + more > amounts.LARGEST:
            raise InvalidInput(
                f"{field}={amounts.text(more)}: {what} {amounts.LARGEST // amounts.UNIT:,}"
            )


_Cause = tuple[str, list[int], dict[str, Any]]  # subject, mark, and what else the event says


def due_events(level: Level, entry: LedgerEntry, *, own: bool) -> list[dict[str, Any]]:
    """Return the bodies of the events that an entry, which is folded, causes on a level.

    own   whether the entry is the level's own, not one of a level below
    """
    return [
        _event_body(level, rule, *cause)
        for rule in level.head.alerts
        for cause in _causes(level, entry, rule, own)
        if _is_new(level, cause)
    ]


def refused_events(level: Level, need: Units) -> list[dict[str, Any]]:
    """Return the events of a level that has not `need` left, even if nothing were held."""
    if "100%" not in level.head.alerts:
        return []
    lacking = [
        (f"refused:{resource}", *_of_budget(level, "100%", resource)[1:])
        for resource, (balance, units) in enumerate(zip(level.balances, need, strict=True))
        if units and balance.spent + balance.presumed + units > balance.budget
    ]
    return [
        _event_body(level, "100%", *cause, refused=list(need))
        for cause in lacking
        if _is_new(level, cause)
    ]


def _causes(level: Level, entry: LedgerEntry, rule: str, own: bool) -> Iterator[_Cause]:
    """Yield what a rule finds after an entry, new or not."""
    if rule.endswith("%"):
        if entry.kind != "asked":  # which spends nothing
            yield from _used_up(level, rule)
        return
    steps = level.head.clock_steps
    hour = [entry.at // HOUR, *([steps] if steps else [])]
    if rule == "overrun":
        if entry.body.get("over"):
            yield rule, hour, _dearer_arm(level, entry) if own else {}
    elif rule == "expired":
        if own and entry.kind == "expired":
            yield rule, hour, {}
    elif isinstance(level, CampaignLevel) and rule == "forecast" and "rounds_left" in entry.body:
        day = [entry.at // _DAY, *hour[1:]]
        yield from _misses(level, entry.body["rounds_left"] - 1, entry.at, day)
    elif isinstance(level, CampaignLevel) and rule == "cooling-down":
        failures = level.head.cooling if entry.kind in ("failed", "broken") else ()
        for cool in map(CoolDown._make, failures):
            if cool.length and cool.begun == entry.at:
                yield f"{rule}:{cool.arm}", hour, {"arm": level.arms.names[cool.arm]}


def _used_up(level: Level, rule: str) -> Iterator[_Cause]:
    """Yield the resources of which a part of the budget is spent or presumed spent."""
    balances, period = level.balances, level.period
    used = [balance.spent + balance.presumed for balance in balances]
    if period is not None:
        used = period.spent(balances)
    for resource, (part, budget) in enumerate(zip(used, level.granted, strict=True)):
        if budget and 100 * part >= int(rule[:-1]) * budget:
            yield _of_budget(level, rule, resource)


def _dearer_arm(level: Level, entry: LedgerEntry) -> dict[str, Any]:
    """Return which arm a report was about, and the most that it may cost now, in units."""
    assert isinstance(level, CampaignLevel)
    arm = level.tickets[entry.ticket or 0].arm
    return {"arm": level.arms.names[arm], "most": list(level.arms.cost_max[arm])}


def _misses(level: CampaignLevel, to_come: int, at: int, mark: list[int]) -> Iterator[_Cause]:
    """Yield that money would be gone before the end, or left over, by a fifth of the period's
    requests. Nothing is said before a quarter of the time and `FEW` asks have passed.

    to_come   about how many requests after this one
    """
    lasts, (begun, ends) = level.lasts(), level.window
    resource = lasts.index(min(lasts))
    asks = level.asked_in_period
    if asks < _FEW or at < begun + (ends - begun) // 4 or lasts[resource] == math.inf:
        return
    if abs(lasts[resource] - to_come) > _MISSED * (asks + to_come):
        more = {"resource": level.terms.resources[resource], "requests": to_come}
        yield f"forecast:{resource}", mark, {**more, "affords": int(lasts[resource])}


def _of_budget(level: Level, rule: str, resource: int) -> _Cause:
    """Return the cause that a used part of a budget is: once in each period and for each top-up."""
    mark = [_period_number(level), level.head.top_ups]
    return f"{rule}:{resource}", mark, {"resource": level.terms.resources[resource]}


def _period_number(level: Level) -> int:
    """Return the number of the period; 0 if the budget is never renewed."""
    return level.head.period[0] if level.head.period else 0


def _is_new(level: Level, cause: _Cause) -> bool:
    """Return whether there was no such event before."""
    mark, last = cause[1], level.head.alerted.get(cause[0], [])
    # backwards: an hour may come again after a step of the clock; of the other marks no part falls
    return (len(mark), mark[::-1]) > (len(last), last[::-1])


def _event_body(
    level: Level, rule: str, subject: str, mark: list[int], more: dict[str, Any], **besides: Any
) -> dict[str, Any]:
    """Return the body of an event: its rule, key and period, and the balances of this moment."""
    return {
        "rule": rule,
        "key": "/".join([subject, *map(str, mark)]),
        "period": _period_number(level),
        **more,
        **besides,
        "balances": [list(balance[: len(COUNTERS)]) for balance in level.balances],
    }
