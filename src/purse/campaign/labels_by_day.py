"""Sums of what was spent for each label on each day, from the journal.

A ticket counts on the day on which it was asked for, with all that it came to cost, so that no sum
is negative and the days together are what `labels` returns without days.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from purse.campaign.ask_inputs import Sums
from purse.campaign.entry import Entry
from purse.campaign.make_results import labels
from purse.campaign.period import local_day
from purse.campaign.records import Move
from purse.campaign.results import LabelStatus
from purse.campaign.states import OPEN
from purse.campaign.ticket import TicketRecord, moved_between


def labels_by_day(
    entries: Iterable[Entry], time_zone: str, key: str | None, limit: int
) -> list[LabelStatus]:
    """Return the sums of each day's labels, the earliest day first.

    entries   a whole journal, in order
    key       only labels with this key; None: with any
    limit     the number of labels of a day at most, those on which most was spent
    """
    by_day: dict[str, Sums] = {}
    tickets: dict[int, tuple[str, TicketRecord]] = {}  # whose money may still move, with their days
    for entry in entries:
        if entry.kind == "asked":
            if wanted := with_key(entry.body.get("labels", {}), key):
                day, ticket = local_day(time_zone, entry.at), TicketRecord.issued(entry)
                move: Move = [(0, 0, units, 0, 0) for units in ticket.held]
                by_day.setdefault(day, Sums()).book(wanted, 1, move)
                tickets[ticket.id] = day, ticket
        elif entry.ticket in tickets:
            day, before = tickets.pop(entry.ticket)
            after = before.after(entry, None)
            if move := moved_between(before, after):
                by_day[day].book(with_key(before.asked["labels"], key), 0, move)
            if after.state in OPEN:
                tickets[after.id] = day, after
    return [
        replace(status, day=day)
        for day in sorted(by_day)
        for status in labels(by_day[day].listed(), limit)
    ]


def with_key(labels: dict[str, str], key: str | None) -> dict[str, str]:
    """Return the labels with a key, or all of them."""
    return labels if key is None else {key: labels[key]} if key in labels else {}
