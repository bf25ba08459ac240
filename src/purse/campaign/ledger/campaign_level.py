"""A campaign: a level with arms. What entries about tickets and arms change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import gt, itemgetter, lt
from typing import TYPE_CHECKING, Any

from purse.campaign.api.defaults import TRAFFIC
from purse.campaign.api.states import CAMPAIGN, HELD, OPEN, UNFINISHED
from purse.campaign.ledger import cooldown, masks
from purse.campaign.ledger.ask_inputs import Sums, from_body
from purse.campaign.ledger.entry import SEAL, LedgerEntry, kept_by
from purse.campaign.ledger.forecast import Traffic, Window
from purse.campaign.ledger.level import OWN, Level, Load, charge_move
from purse.campaign.ledger.limits import Label, LabelBudget
from purse.campaign.ledger.records import Balance, Head, Move, Units, apply_move
from purse.campaign.ledger.ticket import SKIP, TicketRecord, fold_ticket, moved_between
from purse.campaign.terms.arms import Arms

if TYPE_CHECKING:
    from purse.campaign.terms.terms import Terms

_HEARD = -1  # of an arm that has brought a reward


class CampaignLevel(Level):
    """The state of a campaign, or as much of it as the entries to come need."""

    kind = CAMPAIGN

    def __init__(
        self,
        terms: Terms,
        seq: int = 0,
        head: Head | None = None,
        balances: Sequence[Balance] = (),
        above: Level | None = None,
    ) -> None:
        super().__init__(terms, seq, head, balances, above)
        self.terms: Terms = terms
        self.tickets: dict[int, TicketRecord] = {}  # as far as they are known
        self.labels = Sums()  # of those without a limit
        self.loaded: dict[Label, LabelBudget] = {}  # as they were, as far as they are known
        self.limited: dict[Label, LabelBudget] = {}  # those that have changed
        # time, arm and probability of the last ask of each session, as far as they are known
        self.sessions: dict[str, tuple[int, int, float]] = {}
        self.arms = Arms(terms, self.head.arms) if self.head.arms else terms.first_arms

    def facts(self) -> list[Any]:
        """Return what a checkpoint says, without tickets."""
        sums = sorted([*label, *row] for label, row in self.labels.rows.items())
        limited = [budget for _, budget in sorted(self.limited.items())]
        return [*super().facts(), sums, limited]

    def begin_at(self, seq: int, head: dict[str, Any], balances: Any, *more: Any) -> None:
        """Be what a checkpoint says."""
        super().begin_at(seq, head, balances)
        sums, limited = more
        self.arms = type(self)(self.terms, seq, self.head).arms
        self.labels.rows = {
            (key, value): (count, [Balance(*counters) for counters in parts])
            for key, value, count, parts in sums
        }
        self.limited = {
            (key, value): LabelBudget(key, value, count, [Balance(*row) for row in parts], *more)
            for key, value, count, parts, *more in limited
        }

    def fold(self, entry: LedgerEntry) -> int | None:
        """Take in the next entry; return its turn in the tree, None if the level stands alone."""
        turn = super().fold(entry)
        if entry.kind == SEAL:
            kept = sorted((e.ticket, e.seq, e) for e in kept_by(entry) if e.ticket is not None)
            for _, about in groupby(kept, itemgetter(0)):
                ticket = fold_ticket((e for *_, e in about), self.terms.reward_within)
                if ticket is not None and ticket.state in UNFINISHED:
                    self.tickets[ticket.id] = ticket
        return turn

    def apply(self, entry: LedgerEntry) -> None:
        """Change what an entry changes."""
        match entry.kind:
            case "asked":
                self.issue(entry)
            case "conflict":
                self.head.alarm("conflict", entry.at)
            case _ if entry.ticket is not None:
                self.reported(entry, self.tickets[entry.ticket])
            case "created":
                super().apply(entry)
                self.head.limits = {key: list(units) for key, units in self.terms.limits}
                self.head.labels = list(self.head.limits)
                self.head.silent = [0] * self.terms.n_arms
                if self.terms.horizon == TRAFFIC:
                    self.head.traffic = list(Traffic.begun_at(entry.at, self.terms.ahead))
                self.head.open = [0] * self.terms.n_arms if self.terms.pending else []
                self.head.owed = (
                    list(range(len(self.terms.arms))) if self.terms.initial_rounds else []
                )
            case "arm_added" | "arm_retired" | "arm_changed":
                self.change_arm(entry)
            case "handed_over":
                super().apply(entry)
                self.head.taught = self.arms.widened
                self.head.policy = entry.body.get("policy", self.head.policy)
                self.head.taught_from = entry.body.get("sealed", 0)
            case "charged":
                super().apply(entry)
                if labels := entry.body.get("labels"):
                    self._note_keys(labels)
                    self._book_labels(labels, charge_move(entry))
            case "limited":
                body = entry.body
                self._set_limit(body["key"], body.get("value"), body.get("units"))
            case "joined":
                self.head.joined = entry.body.get("periods", {})
                if self.above is not None:
                    self.above.book([(0, *part[1:5]) for part in self.balances], entry.at)
            case "renewed" if self.head.traffic:
                super().apply(entry)
                ahead = entry.body.get("ahead", 0)
                self.head.traffic = list(self.traffic.next_period(entry.body["at"], ahead))
            case _:
                super().apply(entry)

    @property
    def policy(self) -> list[Any]:
        """The policy in charge, as it is written, and its version."""
        return self.head.policy or [self.terms.policy, self.terms.policy_version]

    @property
    def traffic(self) -> Traffic:
        """The times of its asks, if its horizon is a forecast."""
        return Traffic(*self.head.traffic)

    @property
    def window(self) -> Window:
        """The time that a forecast is for: the period, or all of it, up to its end."""
        if (period := self.period) is None:
            return Window(self.head.created, self.terms.until)
        return Window(period.begun, min(period.ends, self.terms.until or period.ends))

    def to_come(self, at: int) -> float | None:
        """Return about how many asks come after a time, ms; None if the horizon is no forecast."""
        if not self.head.traffic:
            return None
        return self.traffic.as_of(at, self.window).to_come(at, self.window)

    @property
    def asked_in_period(self) -> int:
        """The rounds that were asked for in this period, or in all."""
        return self.head.rounds - (period.rounds if (period := self.period) else 0)

    def lasts(self) -> list[float]:
        """(d,) For how many more asks the money lasts, at what one has cost in this period, once it
        was reported; infinity if nothing was spent.
        """
        balances, period, held = self.balances, self.period, self.head.counts.get(HELD, 0)
        spent = [part.spent + part.presumed for part in balances]
        if period is not None:
            spent = period.spent(balances)
        reports = max(1, self.asked_in_period - held)
        return [
            max(0.0, (left + part.held) * reports / paid - held) if paid > 0 else math.inf
            for left, part, paid in zip(self.left(), balances, spent, strict=True)
        ]

    def is_over(self, at: int) -> bool:
        """Return whether its time is over at a time, ms. No entry says so: a clock that was ahead
        would end it for good.
        """
        return 0 < self.terms.until <= at

    def take(self, entry: LedgerEntry, above: Level | None, load: Load) -> None:
        """Take in the next entry of a journal that is read, with the ticket that it is about."""
        self.recall(entry, load)
        super().take(entry, above, load)
        self.forget(entry)

    def recall(
        self,
        entry: LedgerEntry,
        load: Callable[[int], Iterable[LedgerEntry]],
        load_label: Callable[[Label], LabelBudget | None] | None = None,
        load_ask: Callable[[str, int], LedgerEntry | None] | None = None,
    ) -> None:
        """Know the ticket, the labels and the session of an entry to come.

        load         finds the entries about a ticket
        load_label   finds the budget of a label; None: all that there are are known
        load_ask     finds the last ask of a session before an entry; None: likewise
        """
        if load_ask is not None:
            self.sessions.clear()
            session = entry.body.get("session")
            if session is not None and (last := load_ask(session, entry.seq)):
                self.note_session(last)
        number, labels = entry.ticket, entry.body.get("labels") or {}
        if number is not None and entry.kind != "asked":
            if number not in self.tickets:
                before = [earlier for earlier in load(number) if earlier.seq < entry.seq]
                if ticket := fold_ticket(before, self.terms.reward_within):
                    self.tickets[ticket.id] = ticket
            if number in self.tickets:
                labels = self.tickets[number].asked.get("labels", {})
        elif entry.kind == "limited" and "value" in entry.body:
            labels = {entry.body["key"]: entry.body["value"]}
        if load_label is not None and self.head.limits:
            for label in labels.items():
                if label not in self.limited and (budget := load_label(label)):
                    self.loaded[label] = budget

    def forget(self, entry: LedgerEntry) -> None:
        """Let go of the ticket of an entry, if it is finished."""
        ticket = self.tickets.get(entry.ticket or 0)
        if ticket is not None and ticket.state not in UNFINISHED:
            del self.tickets[ticket.id]

    def issue(self, entry: LedgerEntry) -> None:
        """Issue a ticket, and hold the most that it may cost."""
        head, body, ticket = self.head, entry.body, TicketRecord.issued(entry)
        self.tickets[ticket.id] = ticket
        move: Move = [(0, 0, units, 0, 0) for units in ticket.held]
        if "labels" in body:
            self._note_keys(body["labels"])
            self._book_labels(body["labels"], move, 1)
        self.note_session(entry)
        if "context" in body:
            self.see(body)
        if self.terms.masks:
            self.count_mask(entry, ticket.t)
        head.rounds = ticket.t
        if head.traffic:
            head.traffic = list(self.traffic.after_ask(entry.at, self.window))
        head.count("tickets")
        head.count(ticket.state)
        if ticket.arm != SKIP:
            if ticket.arm in head.owed:
                head.owed = [arm for arm in head.owed if arm != ticket.arm]
            if head.open:
                head.open[ticket.arm] += 1
            self.hear(ticket.arm, 1)
            if head.cooling:
                cooldown.issued(head, ticket.arm, ticket.id, entry.at)
            self.book(move, entry.at, holds=True)

    def note_session(self, entry: LedgerEntry) -> None:
        """Know an ask as the last one of its session, if it has one."""
        if (session := entry.body.get("session")) is not None:
            self.sessions[session] = entry.at, entry.body["arm"], entry.body["p"]

    def _note_keys(self, labels: Iterable[str]) -> None:
        """Record the keys of labels."""
        self.head.labels += [key for key in labels if key not in self.head.labels]

    def _book_labels(
        self,
        labels: Mapping[str, str],
        move: Move,
        tickets: int = 0,
        about: TicketRecord | None = None,
    ) -> None:
        """Move money on labels.

        tickets   that are issued by it
        about     the ticket that it is a report on
        """
        limits = self.head.limits
        for budget in self.budgets_of(labels) if limits else ():
            label = budget.key, budget.value
            is_old = about is not None and (
                about.id <= self.head.limited_after.get(budget.key, 0)
                or about.asked.get("periods", {}).get(OWN, 0) < self.period_number
            )
            self.limited[label] = budget.after(move, tickets, holds=tickets > 0, is_old=is_old)
            self.labels.rows.pop(label, None)
        others = {key: labels[key] for key in labels if key not in limits} if limits else labels
        self.labels.book(others, tickets, move)

    @property
    def period_number(self) -> int:
        """The number of the period; 0 without periods."""
        return self.head.period[0] if self.head.period else 0

    def budgets_of(self, labels: Mapping[str, str] | None) -> list[LabelBudget]:
        """Return the budgets of those labels whose keys have a limit."""
        return [
            self.label_budget((key, labels[key]))
            for key in self.head.limits
            if labels and key in labels
        ]

    def label_budget(self, label: Label) -> LabelBudget:
        """Return the budget of a label, whose key has a limit, as of now."""
        budget = self.limited.get(label)
        if budget is None:
            tickets, parts = self.labels.rows.get(label, (0, []))  # before it had one
            budget = self.loaded.get(label)
            if budget is None:
                nothing = [0] * len(self.terms.resources)
                budget = LabelBudget(*label, 0, [Balance() for _ in nothing], nothing)
            if parts:
                sums = apply_move(budget.balances, [part[:5] for part in parts])
                budget = budget._replace(tickets=budget.tickets + tickets, balances=sums)
        return budget.as_of(self.head.limits[label[0]], self.period_number)

    def _set_limit(self, key: str, value: str | None = None, units: Units | None = None) -> None:
        """Take in the limit of a key, or of one value; None: that of its key again."""
        head = self.head
        if value is not None:
            budget = self.label_budget((key, value))._replace(own=units)
            self.limited[key, value] = budget.as_of(head.limits[key], self.period_number)
            self.labels.rows.pop((key, value), None)
        elif units is not None:
            if key not in head.limits:
                head.limited_after = head.limited_after | {key: head.counts.get("tickets", 0)}
            self._note_keys([key])
            head.limits = head.limits | {key: list(units)}

    def label_rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the columns of the rows of labels, of those with a limit first."""
        for budget in self.limited.values():
            yield from budget.rows()
        for row in self.labels.listed():
            yield (*row, 0, None, None)

    def count_mask(self, entry: LedgerEntry, t: int) -> None:
        """Count the arms that an ask might have chosen with money enough."""
        n_arms, mask = self.arms.n_places, entry.body.get("mask")
        places = self.arms.there if mask is None else list(from_body(mask, n_arms).allowed)
        open_ones = masks.ready(self.head, places, entry.at)
        self.head.masks = masks.counted(self.head.masks, t, open_ones, n_arms)

    def see(self, body: dict[str, Any]) -> None:
        """Record the least and the most of each feature, and count values that were clipped."""
        if numbers := body["context"]:  # else it is forgotten
            low, high = self.head.seen or (numbers, numbers)
            self.head.seen = [list(map(min, low, numbers)), list(map(max, high, numbers))]
        self.head.count("clipped", body.get("clipped", 0))

    def reported(self, entry: LedgerEntry, before: TicketRecord) -> None:
        """Take in an entry about a ticket: its money, its state, and what is counted of its arm."""
        head, kind, arm = self.head, entry.kind, before.arm
        after = self.tickets[before.id] = before.after(entry, self.terms.reward_within)
        if after.state != before.state:
            head.count(before.state, -1)
            head.count(after.state)
            if head.open:  # the policy wants to know
                head.open[arm] += (after.state in UNFINISHED) - (before.state in UNFINISHED)
        if move := moved_between(before, after):
            self.book(move, entry.at, before.asked.get("periods", {}))
            if "labels" in before.asked:
                self._book_labels(before.asked["labels"], move, about=before)
        if "over" in entry.body:
            self.raise_arm(arm, after.costs or ())
            head.count("overruns")
            for level in self.chain():
                level.head.alarmed["overrun"] = entry.at
        if kind == "told" or kind == "settled":
            minimum = self.arms.cost_min[arm]
            if before.costs is None and any(map(lt, after.costs or (), minimum)):
                head.alarm("below-minimum", entry.at)
            if head.cooling:
                cooldown.succeeded(head, arm, after.id)
        elif kind == "failed" or kind == "broken":
            first, rest = self.terms.cooldown, entry.body.get("rest", 0)
            if first is not None or rest:
                cooldown.failed(head, arm, after.id, entry.at, first or 0, rest)
        elif kind == "voided" or kind == "expired":
            cooldown.ended(head, arm, after.id)
        if kind in ("failed", "broken", "voided") and not before.failed:
            self.hear(arm, -1)
            if before.asked.get("initial"):
                head.owed = sorted([*head.owed, arm])
        elif kind == "told" and after.source in OPEN:
            head.silent[arm] = _HEARD
        if after.reward is not None and before.reward is None and self.terms.reward_range:
            low, high = self.terms.reward_range
            if not low <= after.reward <= high:
                head.alarm("outside-range", entry.at)

    def hear(self, arm: int, change: int) -> None:
        """Count tickets of an arm that has not brought a reward yet."""
        if self.head.silent[arm] != _HEARD:
            self.head.silent[arm] += change

    @property
    def playable(self) -> list[int]:
        """The arms that the policy in charge knows; one that was added a moment ago it may not."""
        known, there = self.n_known, self.arms.there
        return there if there[-1] < known else [arm for arm in there if arm < known]

    @property
    def n_known(self) -> int:
        """The places for arms that the policy in charge knows."""
        taught = self.head.taught
        return max(self.terms.n_arms, taught[-1][0] + 1 if taught else 0)

    def raise_arm(self, arm: int, costs: Units) -> None:
        """Expect an arm to cost as much as was billed, until `set_arm` says otherwise."""
        arms = self.arms
        if any(map(gt, costs, arms.cost_max[arm])):
            cost_max = list(map(max, costs, arms.cost_max[arm]))
            declared = list(arms.declared.get(arm, arms.cost_max[arm]))
            cost_min, is_retired = list(arms.cost_min[arm]), arms.is_retired[arm]
            self.put_arm([arm, arms.names[arm], is_retired, cost_min, cost_max, declared])

    def put_arm(self, row: list[Any]) -> None:
        """Take in an arm that is not as the terms say, as `Arms` has it."""
        self.head.arms = sorted([*(other for other in self.head.arms if other[0] != row[0]), row])
        self.arms = Arms(self.terms, self.head.arms)
        self.head.over = []

    def change_arm(self, entry: LedgerEntry) -> None:
        """Take in an arm that an operator has changed; a new one owes its initial pull."""
        body = entry.body
        arm, is_new = body["arm"], body["arm"] == len(self.arms.names)
        retired = entry.kind == "arm_retired" or (
            entry.kind == "arm_changed" and self.arms.is_retired[arm]
        )
        before, row = self.arms, [arm, body["name"], retired, body["cost_min"], body["cost_max"]]
        declared = before.declared.get(arm)
        if entry.kind == "arm_retired" and declared:
            row.append(declared)
        self.put_arm(row)
        if self.terms.masks:
            self.head.masks = masks.after_change(
                self.head.masks, self.head.rounds, before, self.arms
            )
        if is_new and arm >= self.terms.n_arms:
            self.head.silent = [*self.head.silent, 0]
            self.head.open = [*self.head.open, 0] if self.terms.pending else []
        if is_new and self.terms.initial_rounds:
            self.head.owed = [*self.head.owed, arm]
