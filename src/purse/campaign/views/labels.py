"""Sums of what was spent for each label, in all or on each day.

A ticket counts on the day on which it was asked for, with all that it came to cost, and a charge on
its own day. The days together are what `labels` returns.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from itertools import groupby
from typing import Any

from purse.campaign.api.results import LabelStatus
from purse.campaign.ledger.ask_inputs import Sums
from purse.campaign.ledger.entry import SEAL, LedgerEntry, kept_by
from purse.campaign.ledger.level import charge_move
from purse.campaign.ledger.limits import LabelBudget
from purse.campaign.ledger.records import Balance, Move, Units
from purse.campaign.ledger.ticket import TicketRecord, moved_between, texts
from purse.campaign.terms.calendar import local_day


class DaySums:
    """The sums of each day's labels.

    key   only labels with this key; None: with any
    """

    def __init__(self, time_zone: str, key: str | None = None) -> None:
        self.time_zone, self.key = time_zone, key
        self.by_day: dict[str, Sums] = {}
        # whose cost is not known, with their days
        self._tickets: dict[int, tuple[str, TicketRecord]] = {}

    def add(self, entry: LedgerEntry) -> None:
        """Count in the next entry of a journal."""
        by_day, tickets = self.by_day, self._tickets
        if entry.kind == SEAL:
            self._begin_at(entry)
        elif entry.kind == "asked":
            if wanted := _with_key(entry.body.get("labels", {}), self.key):
                day, ticket = local_day(self.time_zone, entry.at), TicketRecord.issued(entry)
                move: Move = [(0, 0, units, 0, 0) for units in ticket.held]
                by_day.setdefault(day, Sums()).book(wanted, 1, move)
                tickets[ticket.id] = day, ticket
        elif entry.kind == "charged":
            if wanted := _with_key(entry.body.get("labels", {}), self.key):
                day = local_day(self.time_zone, entry.at)
                by_day.setdefault(day, Sums()).book(wanted, 0, charge_move(entry))
        elif entry.ticket in tickets:
            day, before = tickets.pop(entry.ticket)
            after = before.after(entry, None)
            if move := moved_between(before, after):
                by_day[day].book(_with_key(before.asked["labels"], self.key), 0, move)
            if after.costs is None:  # a void ticket may cost something after all
                tickets[after.id] = day, after

    def _begin_at(self, seal: LedgerEntry) -> None:
        """Count in what is sealed."""
        for entry in kept_by(seal):
            self.add(entry)
        self.by_day.clear()
        for day, rows in seal.body["state"]["days"]:
            for key, value, tickets, parts in rows:
                if wanted := _with_key({key: value}, self.key):
                    move = [Balance(*counters)[:5] for counters in parts]
                    self.by_day.setdefault(day, Sums()).book(wanted, tickets, move)

    def facts(self) -> list[Any]:
        """Return the sums as a seal has them."""
        return [
            [day, sorted([*label, *row] for label, row in sums.rows.items())]
            for day, sums in sorted(self.by_day.items())
        ]


def labels_by_day(
    entries: Iterable[LedgerEntry], time_zone: str, key: str | None, limit: int
) -> list[LabelStatus]:
    """Return the sums of each day's labels, the earliest day first.

    entries   a whole journal, in order
    key       only labels with this key; None: with any
    limit     the number of labels of a day at most, those on which most was spent
    """
    sums = DaySums(time_zone, key)
    for entry in entries:
        sums.add(entry)
    return [
        replace(status, day=day)
        for day in sorted(sums.by_day)
        for status in labels(sums.by_day[day].listed(), limit, {})
    ]


def _with_key(labels: dict[str, str], key: str | None) -> dict[str, str]:
    """Return the labels with a key, or all of them."""
    return labels if key is None else {key: labels[key]} if key in labels else {}


def labels(
    rows: Iterable[Sequence[Any]], limit: int, limits: Mapping[str, Units], period: int = 0
) -> list[LabelStatus]:
    """Return the sums of at most `limit` labels, largest first.

    rows     key, value, resource, tickets, counters, and of keys in `limits` the rest of a row
    period   the number of the period

    The order is by what was spent of the first resource, then by tickets.
    """
    ordered = sorted(map(tuple, rows))
    groups = [list(parts) for _, parts in groupby(ordered, key=lambda row: row[:2])]
    sums = []
    for parts in nsmallest(limit, groups, key=lambda parts: _rank(*parts[0])):
        key, value, _, tickets, *_ = parts[0]
        spent, held, presumed, overrun = map(texts, list(zip(*parts, strict=True))[5:9])
        status = LabelStatus(key, value, tickets, spent, held, presumed, overrun)
        if key in limits:
            budget = LabelBudget.of_rows((key, value), [row[3:] for row in parts])
            left = texts([part.left for part in budget.as_of(limits[key], period).balances])
            status = replace(status, limit=texts(budget.own or limits[key]), left=left)
        sums.append(status)
    return sums


def _rank(
    key: str, value: str, _: int, tickets: int, budget: int, spent: int, *more: Any
) -> tuple[Any, ...]:
    """Return the place of a label in the order of what was spent, from its first resource."""
    return -spent, -tickets, key, value
