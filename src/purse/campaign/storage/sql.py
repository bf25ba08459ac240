"""Every statement, once, and what a dialect of SQL has to offer.

Words in braces are the dialect's: `{among}` and `{lock}`, see `Database`; for one value `{among}`
is `ONE`, which SQLite answers in half the time. Statements that read name a level by its name,
because a replaced file may give its key to another level. `ORDER BY` the columns of an index makes
both planners take it; without it, SQLite would read a whole journal for one ticket.
A partial index is taken only if its condition stands in the statement; `state || ''` keeps a
planner from an index.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, TypeVar

import orjson

from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.limits import Label, LabelBudget
from purse.campaign.ledger.records import Balance, Head

T = TypeVar("T")
LAST = 2**62  # above the number of any entry
MOST_DUE = 1_000  # tickets that expire in one transaction
Statement = tuple[str, Any]  # with its values; or with a list of them, to be done for each
Rows = Sequence[Sequence[Any]]

ONE = "BETWEEN ? AND ?"  # with `=`, SQLite leaves the index alone

# levels
THIS = "(SELECT id FROM purse_levels WHERE name = ?)"
_LEVEL = "SELECT id, name, kind, parent, seq, head FROM purse_levels"
LEVEL = f"{_LEVEL} WHERE name = ?{{lock}}"
NAMES = "SELECT name FROM purse_levels WHERE kind = ? ORDER BY name"
TOPS = "SELECT name FROM purse_levels WHERE parent IS NULL ORDER BY name"
# kind, name, last entry, a checkpoint of one kind, and whether an event follows it
JOURNALS = """SELECT this.kind, this.name, this.seq, told.seq, told.body, told.seq IS NOT NULL AND
  EXISTS (SELECT 1 FROM purse_journal entry
    WHERE entry.level = this.id AND entry.kind = 'event' AND entry.seq > told.seq)
FROM purse_levels this LEFT JOIN purse_checkpoints told ON told.level = this.id AND told.kind = ?
ORDER BY this.name"""
# a level is younger than those above it; so no circle of parents is followed for ever
CHAIN = """WITH RECURSIVE up (id, name, kind, parent, height) AS (
  SELECT id, name, kind, parent, 0 FROM purse_levels WHERE name = ?
  UNION ALL
  SELECT above.id, above.name, above.kind, above.parent, up.height + 1
  FROM up JOIN purse_levels above ON above.id = up.parent AND above.id < up.id
) SELECT name, kind FROM up ORDER BY height DESC"""
_DOWN = """WITH RECURSIVE down (id, name, depth) AS (
  SELECT id, name, 0 FROM purse_levels WHERE name = ?
  UNION ALL
  SELECT below.id, below.name, down.depth + 1
  FROM down JOIN purse_levels below ON below.parent = down.id AND below.id > down.id
) SELECT"""
TREE = f"{_DOWN} name FROM down ORDER BY depth, id"
LEFT_OVER = " UNION ALL ".join(
    f"SELECT '{table}' FROM purse_{table} WHERE level = ?"
    for table in ("balances", "journal", "open_tickets", "checkpoints", "seals")
)
ADD_LEVEL = """INSERT INTO purse_levels (name, kind, parent, seq, head) VALUES (?, ?, ?, 0, '')
ON CONFLICT (name) DO NOTHING RETURNING id"""
COPY_LEVEL = "INSERT INTO purse_levels VALUES (?, ?, ?, ?, ?, ?)"
PUT_HEAD = "UPDATE purse_levels SET seq = ?, head = ? WHERE id = ?"

# balances
BALANCES = f"""SELECT budget, spent, held, presumed, overrun, overdraft FROM purse_balances
WHERE level = {THIS} AND key = '' AND value = '' ORDER BY resource"""
ADD_BALANCE = """INSERT INTO purse_balances
VALUES (?, '', '', ?, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL)"""
MOVE = """UPDATE purse_balances SET budget = budget + ?, spent = spent + ?, held = held + ?,
  presumed = presumed + ?, overrun = overrun + ?, overdraft = overdraft + ?
WHERE level = ? AND key = '' AND value = '' AND resource = ?"""

ALL_BALANCES = f"""SELECT key, value, resource, tickets, budget, spent, held, presumed, overrun,
  overdraft, before, own, period FROM purse_balances WHERE level = {THIS}"""

# labels
_BUDGET = "tickets, budget, spent, held, presumed, overrun, overdraft, before, own, period"
LABEL = f"""SELECT {_BUDGET} FROM purse_balances
WHERE level = {THIS} AND key = ? AND value = ? ORDER BY resource"""
# CROSS JOIN, or SQLite looks at every value for each of the largest
LARGEST = f"""SELECT sums.key, sums.value, sums.resource, {_BUDGET} FROM (
  SELECT value FROM purse_balances WHERE level = {THIS} AND key = ? AND key <> '' AND resource = 0
  ORDER BY spent DESC, tickets DESC, value LIMIT ?
) top CROSS JOIN purse_balances sums
WHERE sums.value = top.value AND sums.level = {THIS} AND sums.key = ?"""
# a row with a limit is written whole; without one, what is added to it
_PUT = "INSERT INTO purse_balances VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
PUT_LABEL = f"""{_PUT} ON CONFLICT (level, key, value, resource) DO UPDATE
SET {", ".join(f"{x} = excluded.{x}" for x in _BUDGET.split(", "))}"""
ADD_LABEL = f"""{_PUT}
ON CONFLICT (level, key, value, resource) DO UPDATE
SET tickets = purse_balances.tickets + excluded.tickets,
  spent = purse_balances.spent + excluded.spent, held = purse_balances.held + excluded.held,
  presumed = purse_balances.presumed + excluded.presumed,
  overrun = purse_balances.overrun + excluded.overrun"""
FORGET_LABEL = "UPDATE purse_balances SET value = ? WHERE level = ? AND key = ? AND value = ?"

# the journal
_ENTRY = "SELECT seq, at, kind, request, ticket, body, salt"
_OF = f"FROM purse_journal WHERE level = {THIS}"
TICKETS = f"{_ENTRY} {_OF} AND kind <> 'conflict' AND ticket > ? ORDER BY ticket LIMIT ?"
ENTRIES = f"{_ENTRY} {_OF} AND seq > ? ORDER BY seq LIMIT ?"
OUTSIDE = f"""SELECT seq {_OF} AND seq < 1
UNION ALL SELECT seq {_OF} AND seq > (SELECT seq FROM purse_levels WHERE name = ?)"""
DIGESTED = f"{_ENTRY}, turn, digest, session {_OF} AND seq > ? ORDER BY seq LIMIT ?"
EVENTS = f"""{_ENTRY} {_OF} AND seq IN (
  SELECT seq {_OF} AND kind = 'event' AND seq > ? ORDER BY seq LIMIT ?
) ORDER BY seq"""
ANSWERS = f"{_ENTRY} {_OF} AND request {{among}} ORDER BY request"
ABOUT = f"{_ENTRY} {_OF} AND kind <> 'conflict' AND ticket {{among}} ORDER BY ticket"
DUE = f"""{_ENTRY} {_OF} AND kind <> 'conflict' AND ticket IN (
  SELECT ticket FROM purse_open_tickets WHERE level = {THIS} AND deadline <= ?
  ORDER BY deadline LIMIT {MOST_DUE}
) ORDER BY ticket"""
SINCE = f"""SELECT seq, digest, body {_OF}
AND seq >= ? AND (kind IN ('told', 'renewed') OR seq = ?)
AND seq >= coalesce((SELECT seq FROM purse_seals WHERE level = {THIS}), 0) ORDER BY seq"""
REPORTS = f"{SINCE} LIMIT ?"
MENTIONS = f"""{_ENTRY} {_OF} AND seq > ? AND seq <= ?
AND kind IN ('asked', 'charged', 'limited') AND replace(body, ?, '') <> body ORDER BY seq"""
FORGET_ENTRY = "UPDATE purse_journal SET body = ?, salt = NULL WHERE level = ? AND seq = ?"
ADD_ENTRY = """INSERT INTO purse_journal
  (level, seq, at, kind, request, ticket, body, salt, digest, turn, session)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
LATEST = f"""{_ENTRY} {_OF} AND session IS NOT NULL AND session {ONE} AND seq < ?
ORDER BY session DESC, seq DESC LIMIT 1"""

# tickets that are unfinished
OPEN = f"""SELECT ticket, state, deadline FROM purse_open_tickets
WHERE level = {THIS} ORDER BY ticket"""
OPEN_PAGE = f"""SELECT ticket FROM purse_open_tickets
WHERE level = {THIS} AND state = ? AND ticket > ? ORDER BY ticket LIMIT ?"""
_OVERDUE = """SELECT count(*) FROM purse_open_tickets
WHERE level = {level} AND deadline <= ? AND state || '' = 'held'"""
_OLDEST = """SELECT at FROM purse_journal
WHERE level = {level} AND kind <> 'conflict' AND kind = 'asked' AND ticket = (
  SELECT min(ticket) FROM purse_open_tickets WHERE level = {level} AND state = 'held'
) ORDER BY ticket"""
OVERDUE, OLDEST = _OVERDUE.format(level=THIS), _OLDEST.format(level=THIS)
ADD_OPEN = "INSERT INTO purse_open_tickets VALUES (?, ?, ?, ?)"
DROP_OPEN = """DELETE FROM purse_open_tickets
WHERE level = ? AND state IN ('held', 'presumed', 'settled') AND ticket = ?"""

# all levels, or all below one: rows, what is late, and balances; then the first entries of some
_BELOW = f"this.id IN ({_DOWN} id FROM down WHERE depth > 0)"
_ROWS = f"""SELECT id, name, kind, parent, seq, head,
  ({_OVERDUE.format(level="this.id")}), ({_OLDEST.format(level="this.id")})
FROM purse_levels this WHERE {{which}} ORDER BY id"""
_PARTS = """SELECT this.id, budget, spent, held, presumed, overrun, overdraft
FROM purse_levels this CROSS JOIN purse_balances
WHERE {which} AND level = this.id AND key = '' AND value = '' ORDER BY this.id, resource"""
ALL_LEVELS, ALL_PARTS = _ROWS.format(which="0 = 0"), _PARTS.format(which="0 = 0")
BELOW, BELOW_PARTS = _ROWS.format(which=_BELOW), _PARTS.format(which=_BELOW)
CREATED = "SELECT level, body FROM purse_journal WHERE level {among} AND seq = 1"

# checkpoints
CHECKPOINT = f"SELECT seq, digest, body FROM purse_checkpoints WHERE level = {THIS} AND kind = ?"
PUT_CHECKPOINT = """INSERT INTO purse_checkpoints VALUES (?, ?, ?, ?, ?) ON CONFLICT (level, kind)
DO UPDATE SET seq = excluded.seq, digest = excluded.digest, body = excluded.body"""
BEGIN_CHECKPOINT = """INSERT INTO purse_checkpoints SELECT id, ?, ?, '', ? FROM purse_levels
WHERE name = ? ON CONFLICT (level, kind) DO NOTHING"""
DROP_CHECKPOINT = "DELETE FROM purse_checkpoints WHERE level = ? AND kind = ?"
MOVE_CHECKPOINT = f"""UPDATE purse_checkpoints SET seq = ?, body = ?
WHERE level = {THIS} AND kind = ? AND seq = ?"""

# seals: what a journal comes to at one of its entries, instead of those before it
SEAL = f"SELECT seq, body FROM purse_seals WHERE level = {THIS} AND seq > ?"
PUT_SEAL = """INSERT INTO purse_seals VALUES (?, ?, ?)
ON CONFLICT (level) DO UPDATE SET seq = excluded.seq, body = excluded.body"""
KEPT = f"{_ENTRY}, digest {_OF} AND seq <= ? ORDER BY seq"
# But for the first and the last one, those about tickets that are open, that later ones are about
# or whose session may go on, and events that a receiver was not told of.
DROP_SEALED = """DELETE FROM purse_journal WHERE level = ? AND seq > ? AND seq < ?
AND (ticket IS NULL OR ticket NOT IN (
  SELECT ticket FROM purse_journal
  WHERE level = ? AND ticket IS NOT NULL AND (seq >= ? OR session IS NOT NULL AND at >= ?)
  UNION SELECT ticket FROM purse_open_tickets WHERE level = ?))
AND (kind <> 'event' OR seq <= coalesce((SELECT min(seq) FROM purse_checkpoints
  WHERE level = ? AND substr(kind, 1, 8) = 'webhook '), seq))"""


class Session(Protocol):
    """A transaction. What is not written is undone at its end."""

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        """Return the rows of each, in one trip to the database."""

    def write(self, statements: Sequence[Statement]) -> None:
        """Do these and commit, in one trip; when it returns, they are durable."""


class Database(Protocol):
    """The interface of a dialect.

    Errors come out as `StorageUnavailable`, or as `PurseError` if a constraint is violated. It is
    safe to use from several threads and after a fork.
    """

    lock: str  # what makes a SELECT lock its rows
    turn: str  # a statement that waits for the turn at a tree of levels; "" without one
    among: str  # a condition: a column is one of the values that `several` gives
    unlock: str  # what lets a transaction change the journal
    relock: str  # what ends that

    def now(self) -> int:
        """Return ms since 1970."""

    def several(self, values: Sequence[Any]) -> Any:
        """Return values as one parameter."""

    def writing(self) -> AbstractContextManager[Session]:
        """Return a transaction that writes."""

    def reading(self) -> AbstractContextManager[Session]:
        """Return the database as it is at one moment."""

    def retried(self, work: Callable[[], T], *, again: bool = True) -> T:
        """Do something, with `again` once more if the connection was lost; here none can be."""
        return work()

    def danger(self) -> str | None:
        """Say what is wrong with the place itself, for people; None: nothing."""
        return None

    def shrink(self) -> str | None:
        """Take what was deleted out of the files, too; say why some stays; None: nothing does."""
        return None

    def close(self) -> None:
        """Let go of files and connections."""


class ReadRequest(NamedTuple):
    """The rows that a change needs besides the levels."""

    tickets: Sequence[int] = ()
    requests: Sequence[str] = ()
    reports_after: int | None = None  # the reports after this entry
    due: int | None = None  # tickets whose deadline is not after this time, ms
    labels: Sequence[Label] = ()  # besides those of the tickets; if their keys have a limit
    limits: Sequence[str] = ()  # keys that may get one
    sessions: Sequence[str] = ()  # whose last asks are wanted


class StoredLevel(NamedTuple):
    """A level as it is stored."""

    key: int
    name: str
    kind: str
    parent: int | None
    seq: int
    head: Head
    text: str  # of the head, as it is stored
    balances: list[Balance]


class LockedLevels(NamedTuple):
    """A level at the moment it is locked."""

    levels: list[StoredLevel]  # from the top down; the last one is it
    answers: list[LedgerEntry]  # of the wanted requests
    about: list[LedgerEntry]  # all entries of the wanted tickets, and of those of the requests
    due: list[LedgerEntry]  # all entries of the tickets that are due
    digest: str | None  # of the journal up to `reports_after`; None: it has no such entry
    reports: Rows  # number, digest and body of each report, and begin of a period, after it
    labels: dict[Label, LabelBudget]
    sessions: list[LedgerEntry]  # the last ask of each that is wanted


class Checkpoint(NamedTuple):
    """A checkpoint: what a reader has made of a journal up to one of its entries."""

    seq: int
    digest: str  # of the journal up to that entry
    body: bytes


class Journal(NamedTuple):
    """A journal, and how far a reader of events has come in it."""

    kind: str  # of the level
    name: str
    seq: int  # of its last entry
    read: int | None  # the entry that the reader has come to; None: it has not begun
    body: bytes | None  # of the reader's checkpoint
    has_more: bool  # whether an event follows


class LevelGlance(NamedTuple):
    """A glance at a level, of one moment."""

    levels: list[StoredLevel]  # from the top down, as far as they were read; the last one is it
    overdue: int  # tickets that are held and past their deadline
    oldest: int | None  # when the oldest ticket that is held was asked for, ms
    danger: str | None  # what is wrong with the storage, for people

    @property
    def head(self) -> Head:
        """The head of the level itself."""
        return self.levels[-1].head


class LevelRows(NamedTuple):
    """All that is stored of a level beside its journal, at one moment."""

    level: StoredLevel
    open: Rows  # ticket, state and deadline
    balances: Rows  # its own and those of labels: key, value, resource, tickets, counters
    outside: Rows  # numbers of entries that the level does not count
    checkpoint: Sequence[Any] | None  # of the policy


class Writes(NamedTuple):
    """The rows that a change writes."""

    levels: Sequence[tuple[int, str, int]]  # seq, head and key of each that changed
    moves: Sequence[tuple[int, int, Sequence[int]]]  # key, resource and what is added
    entries: Sequence[tuple[Any, ...]]  # whole rows
    dropped: Sequence[tuple[int, int]]  # key and ticket of those that have changed or are finished
    open: Sequence[tuple[int, str, int, int | None]]  # key, state, ticket and deadline
    labels: Sequence[tuple[Any, ...]] = ()
    checkpoints: Sequence[tuple[Any, ...]] = ()
    seals: Sequence[tuple[Any, ...]] = ()

    def statements(self) -> list[Statement]:
        """Return the statements, without those that have nothing to do."""
        moves = [(*parts, key, resource) for key, resource, parts in self.moves]
        statements = [
            (ADD_ENTRY, self.entries),
            (MOVE, moves),
            (DROP_OPEN, self.dropped),
            (ADD_OPEN, self.open),
            (PUT_LABEL, [row for row in self.labels if row[-1] is not None]),
            (ADD_LABEL, [row for row in self.labels if row[-1] is None]),
            (PUT_CHECKPOINT, self.checkpoints),
            (PUT_SEAL, self.seals),
            (PUT_HEAD, self.levels),
        ]
        return [(text, list(rows)) for text, rows in statements if rows]


def read_level(row: Sequence[Any], balances: Rows) -> StoredLevel:
    """Return a level from its rows."""
    key, name, kind, parent, seq, head = row
    facts = Head.from_json(head) if head else Head()
    purses = [Balance(*counters) for counters in balances]
    return StoredLevel(key, name, kind, parent, seq, facts, head, purses)


def read_entry(row: Sequence[Any]) -> LedgerEntry:
    """Return an entry from the columns of its row."""
    salt = row[6] and bytes(row[6])
    return LedgerEntry(row[0], row[1], row[2], row[3], row[4], orjson.loads(row[5]), row[5], salt)
