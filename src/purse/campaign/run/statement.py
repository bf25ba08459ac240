"""A month's statement of a level and of all below it: what each had, was granted and spent, and
what it has at the end. All entries of a tree are folded, and each move counts when it was booked.

    closing = opening + granted - spent - charged - lapsed

Holds are not spent; what is presumed spent is, until a report corrects it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from heapq import merge
from typing import Any, NamedTuple

from purse.campaign.ledger.entry import LedgerEntry, kept_by
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.records import Balance
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run.audit import level_of, lines
from purse.campaign.storage.sql import LevelRows
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.calendar import EPOCH, MILLISECOND, Calendar, local_day
from purse.errors import InvalidInput, invalid

_GRANTS = ("created", "topped_up", "budget_set")


class Amounts(NamedTuple):
    """What happened to one resource of a level in a month, in units."""

    opening: int = 0  # what was left when it began, with what was held
    granted: int = 0
    spent: int = 0
    charged: int = 0
    lapsed: int = 0  # what a period left and did not carry over

    @property
    def closing(self) -> int:
        """What is left at the end, with what is held."""
        return self.opening + self.granted - self.spent - self.charged - self.lapsed

    def plus(self, other: "Amounts") -> "Amounts":
        """Return the sums."""
        return Amounts(*map(sum, zip(self, other, strict=True)))


class Statement(NamedTuple):
    """The statement of one level."""

    name: str
    resources: Sequence[str]
    sums: list[Amounts]  # of each resource
    # of each value of the label, what was spent and charged of each resource; "" without one
    by_value: dict[str, list[Amounts]]


def month_of(month: str, time_zone: str) -> tuple[int, int]:
    """Return when a month such as 2027-01 begins and ends, ms."""
    calendar = Calendar.of("month", time_zone)
    try:
        first = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    except ValueError:
        raise invalid("month", month, "must be a year and a month, such as 2027-01") from None
    begin = calendar.next_end(0, (first - EPOCH - timedelta(days=2)) // MILLISECOND)
    return begin, calendar.next_end(0, begin)


def statements(
    storage: Storage, name: str, begin: int, end: int, label: str = ""
) -> list[Statement]:
    """Return the statements of a level and of all below it, from the top down.

    begin, end   of the month, ms
    label        the key by whose values sums are made
    """
    tree, by_key = storage.tree(name), dict[int, _Book]()
    for stored in tree:
        above = by_key.get(stored.level.parent or 0)
        by_key[stored.level.key] = _Book(storage, stored, above, begin, end, label)
    books = list(by_key.values())
    journals = [
        lines(storage, position, stored, book.level.seq)
        for position, (stored, book) in enumerate(zip(tree, books, strict=True))
    ]
    for turn, position, _, entry, _ in merge(*journals):
        books[position].take(entry, turn)
    for book in books:  # from the top down
        _Renewal(book, min(end - 1, storage.now())).renew()
    wanted = set(storage.names_below(name))
    return [book.statement for book in books if book.statement.name in wanted]


class _Book:
    """A level that is folded from its journal, and its statement so far."""

    def __init__(
        self,
        storage: Storage,
        stored: LevelRows,
        above: "_Book | None",
        begin: int,
        end: int,
        label: str,
    ) -> None:
        self.storage, self.above, self.label = storage, above, label
        self.begin, self.end = begin, end
        self.level: Level = level_of(storage, stored, None if above is None else above.level)
        resources = self.level.terms.resources
        self.statement = Statement(stored.level.name, resources, [Amounts()] * len(resources), {})
        self.number = 1  # of its period
        self.clock = 0  # ms: an entry by a clock that was set back counts with those before it
        self.values: dict[int, str] = {}  # of the label, by ticket
        if (seal := storage.seal(stored.level.name)) is not None:
            self._begin_at(seal)

    def _begin_at(self, seal: LedgerEntry) -> None:
        """Begin where entries are not sealed. Raise `InvalidInput` if the month began before."""
        self.level.fold(seal)
        before = seal.body["state"]["before"]
        if self.begin < before:
            day = local_day("UTC", before)
            raise InvalidInput(
                f"month: entries of {self.level.title} before {day} are sealed; must begin later"
            )
        for entry in kept_by(seal):
            self._value_of(entry)
        self.clock = self.level.head.changed
        self.statement.sums[:] = [
            Amounts(part.budget - part.spent - part.presumed) for part in self.level.balances
        ]

    def take(self, entry: LedgerEntry, turn: int) -> None:
        """Take in an entry, and count it here and above; before its turns are counted, a level
        stands alone.
        """
        books = self.chain() if turn else [self]
        before = [list(book.level.balances) for book in books]
        self.level.take(
            entry,
            books[1].level if len(books) > 1 else None,
            lambda ticket: self.storage.about(self.statement.name, ticket),
        )
        value = self._value_of(entry)
        for book, balances in zip(books, before, strict=True):
            book.count(entry, balances, value, own=book is self)

    def chain(self) -> "list[_Book]":
        """Return this book and those above it, from below."""
        return [self] if self.above is None else [self, *self.above.chain()]

    def _value_of(self, entry: LedgerEntry) -> str:
        """Return the value of the label that an entry is about; "" if there is none."""
        value = str(entry.body.get("labels", {}).get(self.label, ""))
        is_ticket = self.label and entry.ticket is not None
        return self.values.setdefault(entry.ticket or 0, value) if is_ticket else value

    def count(
        self, entry: LedgerEntry, before: Sequence[Balance], value: str, *, own: bool
    ) -> None:
        """Count what an entry has moved, by the balances before it.

        own   whether it is of this level's journal, and not of one below
        """
        renews = own and entry.kind == "renewed"
        passed = entry.body["number"] - self.number if renews else 0
        self.number += passed
        self.clock = max(self.clock, entry.body["at"] if renews else entry.at)
        if self.clock >= self.end:
            return
        sums, by_value = self.statement.sums, self.statement.by_value
        old = before or [Balance()] * len(sums)
        for resource, (was, now) in enumerate(zip(old, self.level.balances, strict=True)):
            budget = now.budget - was.budget
            paid = now.spent - was.spent + now.presumed - was.presumed
            granted = budget if own and entry.kind in _GRANTS else 0
            granted = self.level.allowance[resource] * passed if renews else granted
            charged = paid if entry.kind == "charged" else 0
            more = Amounts(0, granted, paid - charged, charged, granted - budget)
            more = Amounts(more.closing) if self.clock < self.begin else more
            sums[resource] = sums[resource].plus(more)
            if self.label and paid and self.clock >= self.begin:
                row = by_value.setdefault(value, [Amounts()] * len(sums))
                row[resource] = row[resource].plus(more._replace(granted=0, lapsed=0))


class _Renewal(Transaction):
    """The periods of a level that have begun by a time (ms), and of which no entry tells yet."""

    def __init__(self, book: _Book, at: int) -> None:
        super().__init__(book.level, at)
        self.book = book

    def add(self, kind: str, body: dict[str, Any], **_: Any) -> LedgerEntry:
        """Count an entry, which nobody writes."""
        entry = LedgerEntry.of(self.level.seq + 1, self.now, kind, body, None, None)
        self.book.take(entry, turn=0)
        return entry
