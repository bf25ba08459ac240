"""What a journal comes to: purses, tickets and counts. `Ledger.fold` is the only place where they
change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from purse.campaign import cooldown
from purse.campaign.arms import ArmRecord, Arms
from purse.campaign.budget_ledger import BudgetLedger
from purse.campaign.contexts import CLIPPED, CONTEXT
from purse.campaign.journal import Entry
from purse.campaign.labels import LABELS, LabelSums
from purse.campaign.periods.period import (
    ABOVE,
    DROPPED,
    PERIOD,
    Period,
    begin_next,
)
from purse.campaign.records import REPORT_ALARMS, Balance, CampaignRecord, TicketRecord
from purse.campaign.states import (
    FAILED,
    HELD,
    OPEN,
    PRESUMED,
    SETTLED,
    SKIPPED,
    TOLD,
    UNFINISHED,
    VOID,
    TicketState,
)
from purse.campaign.terms import Terms
from purse.types import SKIP

HEARD = -1  # of an arm that has brought a reward


class Ledger(BudgetLedger):
    """The state of a campaign, or as much of it as the entries to come need."""

    terms: Terms
    head: CampaignRecord

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
        self.labels = LabelSums()
        # the arms as they are now
        self.arms = Arms(terms, self.head.arms) if self.head.arms else terms.first_arms

    def fold(self, entry: Entry) -> None:
        """Take in the next entry."""
        before = self.balances
        super().fold(entry)
        if self.head.labels and self.balances is not before:
            self.book_labels(entry, before)

    def created(self, entry: Entry) -> None:
        """Open the purses, and begin the counts of pulls that the terms need."""
        super().created(entry)
        if self.terms.pending:
            self.head.open = [0] * self.terms.n_arms
        self.head.silent = [0] * self.terms.n_arms
        if self.terms.initial_rounds:
            self.head.owed = list(range(len(self.terms.arms)))

    def book_labels(self, entry: Entry, before: Sequence[Balance]) -> None:
        """Sum what an entry has moved for the labels of its tickets."""
        issued = entry.body.get("tickets", ())
        numbers = [entry.ticket] if entry.ticket is not None else [each["id"] for each in issued]
        labels = self.tickets[numbers[0]].body.get(LABELS) if numbers else None
        if labels:
            self.labels.book(labels, len(issued), before, self.balances)

    def asked(self, entry: Entry) -> None:
        """Issue tickets and hold the most that each may cost."""
        issued, skips = entry.body["tickets"], 0
        labels = entry.body.get(LABELS)
        if labels and not labels.keys() <= set(self.head.labels):
            self.head.labels = sorted({*self.head.labels, *labels})
        cooling = cooldown.read(self.head.cooling) if self.head.cooling else {}
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
            if labels:
                body[LABELS] = labels
            if self.head.period:
                body[PERIOD] = self.head.period[0]
            if ABOVE in entry.body:
                body[ABOVE] = entry.body[ABOVE]
            if "names" in each:
                body["names"] = each["names"]
            if CONTEXT in each:
                body[CONTEXT] = each[CONTEXT]
                self.see(each)
            if any(arm in self.head.owed for arm in each["arms"]):
                body["initial"] = True
            self.tickets[each["id"]] = TicketRecord(each["id"], state, entry.at, deadline, body)
            self.head.rounds = each["t"]
            if self.head.owed:
                owed = [arm for arm in self.head.owed if arm not in each["arms"]]
                self.head.owed = owed or ()  # as a record has it that was read
            add_pulls(self.head.open, each["arms"], 1)
            self.hear(each["arms"], 1)
            if cooling:
                cooldown.issued(cooling, each["arms"], each["id"], entry.at)
                self.keep(cooling)
        self.count("tickets", len(issued))
        self.count(HELD, len(issued) - skips)
        self.count(SKIPPED, skips)
        self.move(
            [sum(units) for units in zip(*(each["held"] for each in issued), strict=True)], held=1
        )

    def see(self, ticket: dict[str, Any]) -> None:
        """Record the least and the most of each column of contexts, and count values that were
        clipped.
        """
        numbers = ticket[CONTEXT]
        least, most = self.head.seen or (numbers, numbers)
        self.head.seen = [list(map(min, least, numbers)), list(map(max, most, numbers))]
        if CLIPPED in ticket:
            self.count(CLIPPED, ticket[CLIPPED])

    def told(self, entry: Entry) -> None:
        """Take in a whole report; the money moves where it has not done so before."""
        body, record = entry.body, self.tickets[entry.ticket or 0]
        if not body.get("settled"):
            self.pay(record, entry)
            self.compare_minimum(record, entry)
        report = {name: body[name] for name in ("rewards", "costs", "from", "spent", "overrun")}
        self.put(record._replace(state=TOLD, body={**record.body, "report": report}), record.state)
        if "reward" not in record.body:  # else it was compared when it came
            self.compare_range(entry)
        self.succeed(record)
        if self.head.silent and body["from"] in OPEN:
            for arm in record.body["arms"]:
                self.head.silent[arm] = HEARD

    def settled(self, entry: Entry) -> None:
        """Take in what a pull cost, whose reward is not known yet."""
        record, within = self.tickets[entry.ticket or 0], self.terms.reward_within
        self.compare_minimum(record, entry)
        if within is not None:
            self.tickets[record.id] = record._replace(deadline=entry.at + within)
        self.close_hold(entry, SETTLED)
        self.succeed(record)

    def failed(self, entry: Entry) -> None:
        """Take in what a pull cost that did not work; its arm cools down, and owes an initial pull
        again.
        """
        record = self.tickets[entry.ticket or 0]
        self.close_hold(entry, FAILED)
        self.owe_again(record)
        self.hear(record.body["arms"], -1)
        if (first := self.terms.cooldown) is not None:
            cooling, issued = cooldown.read(self.head.cooling), self.head.counts["tickets"]
            arms = record.body["arms"]
            cooldown.failed(cooling, arms, record.id, entry.at, issued, first)
            self.keep(cooling)

    def close_hold(self, entry: Entry, state: TicketState) -> None:
        """Let the money of a report without a reward move."""
        body, record = entry.body, self.tickets[entry.ticket or 0]
        self.pay(record, entry)
        report = {name: body[name] for name in ("costs", "from", "spent", "overrun")}
        self.put(record._replace(state=state, body={**record.body, "report": report}), record.state)

    def rewarded(self, entry: Entry) -> None:
        """Keep a reward with its ticket."""
        record = self.tickets[entry.ticket or 0]
        body = {**record.body, "reward": entry.body["rewards"]}
        self.tickets[record.id] = record._replace(body=body)
        self.compare_range(entry)

    def pay(self, record: TicketRecord, entry: Entry) -> None:
        """Settle a hold: spend up to it, count the rest as overrun."""
        body = entry.body
        if record.state in OPEN:
            self.move(record.body["held"], **{record.state: -1})
            self.end_hold(record, body["spent"], body)
        self.move(body["spent"], spent=1)
        if any(body["overrun"]):
            self.move(body["overrun"], overrun=1)
            self.alarm("overrun", entry)

    def end_hold(self, record: TicketRecord, spent: list[int], body: dict[str, Any]) -> None:
        """Take in that a hold is gone: what comes back from an ended period may be dropped."""
        if not self.head.period or record.body[PERIOD] == self.head.period[0]:
            return
        period = Period(*self.head.period)
        hold, nothing = record.body["held"], [0] * len(spent)
        refund = [most - paid for most, paid in zip(hold, spent, strict=True)]
        dropped = body.get(DROPPED) or nothing
        self.move(dropped, budget=-1)
        unheld = hold if record.state == HELD else nothing
        self.head.period = list(period.after_hold(refund, unheld, dropped))

    def compare_minimum(self, record: TicketRecord, entry: Entry) -> None:
        """Count a report of less than the declared minimum; a call that failed may cost nothing."""
        least = [units for arm in record.body["arms"] for units in self.arms.cost_min[arm]]
        if any(cost < low for cost, low in zip(entry.body["costs"], least, strict=True)):
            self.alarm("below-minimum", entry)

    def compare_range(self, entry: Entry) -> None:
        """Count a report of a reward outside the declared range."""
        if self.terms.reward_range is not None:
            low, high = self.terms.reward_range
            if not all(low <= reward <= high for reward in entry.body["rewards"]):
                self.alarm("outside-range", entry)

    def alarm(self, kind: str, entry: Entry) -> None:
        """Count a report that causes an alarm, and remember when it came."""
        super().alarm(kind, entry)
        self.count(REPORT_ALARMS[kind], 1)

    def succeed(self, record: TicketRecord) -> None:
        """A call worked: its arm has recovered."""
        if self.head.cooling:
            cooling = cooldown.read(self.head.cooling)
            cooldown.succeeded(cooling, record.body["arms"], record.id)
            self.keep(cooling)

    def end_probe(self, record: TicketRecord) -> None:
        """A ticket ends without saying whether its call worked."""
        if self.head.cooling:
            cooling = cooldown.read(self.head.cooling)
            cooldown.ended(cooling, record.body["arms"], record.id)
            self.keep(cooling)

    def keep(self, cooling: cooldown.CoolDowns) -> None:
        """Record the cool-downs."""
        if cooling:
            self.head.cooling = cooldown.write(cooling)

    def hear(self, arms: list[int], change: int) -> None:
        """Count pulls of arms that have not brought a reward yet."""
        for arm in arms if self.head.silent else ():
            if arm >= 0 and self.head.silent[arm] >= 0:
                self.head.silent[arm] += change

    def left_for(self, ask: dict[str, Any]) -> list[int]:
        """(d,) What could be held when an ask was decided on: the least over the campaign and its
        accounts, which the ask says where it was not the campaign's own.
        """
        return ask.get("left") or [purse.left for purse in self.balances]

    def arm_added(self, entry: Entry) -> None:
        """Take in an arm that is new, or back; a new one owes its initial pull."""
        place = entry.body["arm"]
        is_new = place == len(self.arms.names)
        self.change_arm(entry, retired=False)
        if is_new and self.terms.initial_rounds:
            self.head.owed = [*self.head.owed, place]

    def arm_retired(self, entry: Entry) -> None:
        """Choose an arm no more."""
        self.change_arm(entry, retired=True)

    def arm_changed(self, entry: Entry) -> None:
        """Move what an arm may cost."""
        self.change_arm(entry, retired=self.arms.is_retired[entry.body["arm"]])

    def change_arm(self, entry: Entry, *, retired: bool) -> None:
        """Take in an arm that is not as the terms say."""
        body = entry.body
        arm = ArmRecord(body["arm"], body["name"], retired, body["cost_min"], body["cost_max"])
        rows = {row[0]: row for row in [*self.head.arms, list(arm)]}
        self.head.arms = [rows[place] for place in sorted(rows)]
        self.arms = Arms(self.terms, self.head.arms)

    def voided(self, entry: Entry) -> None:
        """Release a hold; an arm owes an initial pull again."""
        record = self.tickets[entry.ticket or 0]
        self.move(record.body["held"], **{record.state: -1})
        self.end_hold(record, [0] * len(self.balances), entry.body)
        self.put(record._replace(state=VOID), record.state)
        self.owe_again(record)
        self.hear(record.body["arms"], -1)
        self.end_probe(record)

    def owe_again(self, record: TicketRecord) -> None:
        """Let arms owe their initial pull again, which brought no reward."""
        if "initial" in record.body:
            self.head.owed = sorted({*self.head.owed, *record.body["arms"]})

    def expired(self, entry: Entry) -> None:
        """Presume a hold spent."""
        record = self.tickets[entry.ticket or 0]
        hold = record.body["held"]
        self.move(hold, held=-1, presumed=1)
        self.end_hold(record, hold, entry.body)
        self.put(record._replace(state=PRESUMED), HELD)
        self.end_probe(record)

    def conflict(self, entry: Entry) -> None:
        """Count what was said too late."""
        self.alarm("conflict", entry)

    def renewed(self, entry: Entry) -> None:
        """Begin the next period."""
        period, self.balances = begin_next(entry.body, self.balances, self.head.rounds)
        self.head.period = list(period)

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
        change = (record.state in UNFINISHED) - (before in UNFINISHED)
        if change:  # a void ticket that is settled is open again
            add_pulls(self.head.open, record.body["arms"], change)

    def count(self, what: str, change: int) -> None:
        """How many there are."""
        self.head.counts[what] += change


def add_pulls(counts: list[int] | tuple[()], arms: list[int], change: int) -> None:
    """Count pulls of arms, where they are counted; none of a skipped round.

    >>> counts = [0, 0, 0]
    >>> add_pulls(counts, [2], 1)
    >>> counts
    [0, 0, 1]
    """
    if counts and arms[0] != SKIP:
        counts[arms[0]] += change


def settle(held: list[int], cost: list[int]) -> tuple[list[int], list[int]]:
    """P6: what is spent, up to the hold, and what is overrun, of each resource.

    >>> settle([50], [30]), settle([50], [80])
    (([30], [0]), ([50], [30]))
    """
    spent = [min(part, most) for part, most in zip(cost, held, strict=True)]
    return spent, [part - paid for part, paid in zip(cost, spent, strict=True)]


def fits(need: Sequence[int], left: Sequence[int]) -> bool:
    """Whether there is enough of each resource.

    >>> fits([2, 3], [2, 4]), fits([2, 5], [9, 4])
    (True, False)
    """
    for units, rest in zip(need, left, strict=True):  # twice as fast as `all`
        if units > rest:
            return False
    return True
