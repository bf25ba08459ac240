"""Every statement, once, and what a dialect of SQL has to offer.

Words in braces are the dialect's: `{among}` and `{lock}`, see `Database`; for one value `{among}`
is `ONE`, which SQLite answers in half the time. Statements that read name a level by its name, so
that nobody remembers a key that a replaced file gives to another level. `ORDER BY` the columns of
an index makes both planners take it; without it, SQLite would read a whole journal for one ticket.
A partial index is taken only if its condition stands in the statement; `state || ''` keeps a
planner from an index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
MOST_DUE = 1_000  # tickets that expire in one transaction
Statement = tuple[str, Any]  # with its values; or with a list of them, to be done for each
Rows = Sequence[Sequence[Any]]

ONE = "BETWEEN ? AND ?"  # with `=`, SQLite leaves the index alone

# levels
THIS = "(SELECT id FROM purse_levels WHERE name = ?)"
_LEVEL = "SELECT id, name, kind, parent, seq, head FROM purse_levels"
LEVEL = f"{_LEVEL} WHERE name = ?{{lock}}"
BELOW = f"{_LEVEL} WHERE parent = {THIS} ORDER BY name"
NAMES = "SELECT name FROM purse_levels WHERE kind = ? ORDER BY name"
JOURNALS = "SELECT kind, name, seq FROM purse_levels ORDER BY name"
CHAIN = """WITH RECURSIVE up (name, parent, height) AS (
  SELECT name, parent, 0 FROM purse_levels WHERE name = ?
  UNION ALL
  SELECT above.name, above.parent, up.height + 1
  FROM up JOIN purse_levels above ON above.id = up.parent
) SELECT name FROM up ORDER BY height DESC"""
TREE = """WITH RECURSIVE down (id, name, depth) AS (
  SELECT id, name, 0 FROM purse_levels WHERE name = ?
  UNION ALL
  SELECT below.id, below.name, down.depth + 1
  FROM down JOIN purse_levels below ON below.parent = down.id
) SELECT name FROM down ORDER BY depth, id"""
ADD_LEVEL = """INSERT INTO purse_levels (name, kind, parent, seq, head) VALUES (?, ?, ?, 0, '')
ON CONFLICT (name) DO NOTHING RETURNING id"""
PUT_HEAD = "UPDATE purse_levels SET seq = ?, head = ? WHERE id = ?"

# balances
BALANCES = f"""SELECT budget, spent, held, presumed, overrun FROM purse_balances
WHERE level = {THIS} AND key = '' AND value = '' ORDER BY resource"""
ADD_BALANCE = "INSERT INTO purse_balances VALUES (?, '', '', ?, 0, 0, 0, 0, 0, 0)"
MOVE = """UPDATE purse_balances SET budget = budget + ?, spent = spent + ?, held = held + ?,
  presumed = presumed + ?, overrun = overrun + ?
WHERE level = ? AND key = '' AND value = '' AND resource = ?"""

# labels
_SUMS = "sums.key, sums.value, sums.resource, sums.tickets, sums.spent, sums.held, sums.presumed"
_LABEL = f"SELECT {_SUMS}, sums.overrun FROM purse_balances sums"
LABELS = f"""{_LABEL} WHERE sums.level = {THIS} AND sums.key <> ''
ORDER BY sums.key, sums.value, sums.resource"""
LABEL_PAGE = f"""{_LABEL} WHERE sums.level = {THIS} AND (sums.key, sums.value) > (?, ?)
ORDER BY sums.key, sums.value, sums.resource
LIMIT ? * (SELECT count(*) FROM purse_balances WHERE level = {THIS} AND key = '' AND value = '')"""
LARGEST = f"""{_LABEL} JOIN (
  SELECT value FROM purse_balances WHERE level = {THIS} AND key = ? AND key <> '' AND resource = ?
  ORDER BY spent + overrun DESC, tickets DESC, value LIMIT ?
) top ON sums.value = top.value WHERE sums.level = {THIS} AND sums.key = ?"""
ADD_LABEL = """INSERT INTO purse_balances VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?)
ON CONFLICT (level, key, value, resource) DO UPDATE
SET tickets = purse_balances.tickets + excluded.tickets,
  spent = purse_balances.spent + excluded.spent, held = purse_balances.held + excluded.held,
  presumed = purse_balances.presumed + excluded.presumed,
  overrun = purse_balances.overrun + excluded.overrun"""

# the journal
_ENTRY = "SELECT seq, at, kind, request, ticket, body"
_OF = f"FROM purse_journal WHERE level = {THIS}"
TICKETS = f"{_ENTRY} {_OF} AND kind <> 'conflict' AND ticket > ? ORDER BY ticket LIMIT ?"
ENTRIES = f"{_ENTRY} {_OF} AND seq > ? ORDER BY seq LIMIT ?"
DIGESTED = f"{_ENTRY}, turn, digest {_OF} AND seq > ? ORDER BY seq LIMIT ?"
EVENTS = f"""{_ENTRY} {_OF} AND seq IN (
  SELECT seq {_OF} AND kind = 'event' AND seq > ? ORDER BY seq LIMIT ?
) ORDER BY seq"""
ANSWERS = f"{_ENTRY} {_OF} AND request {{among}} ORDER BY request"
ABOUT = f"{_ENTRY} {_OF} AND kind <> 'conflict' AND ticket {{among}} ORDER BY ticket"
DUE = f"""{_ENTRY} {_OF} AND kind <> 'conflict' AND ticket IN (
  SELECT ticket FROM purse_open_tickets WHERE level = {THIS} AND deadline <= ?
  ORDER BY deadline LIMIT {MOST_DUE}
) ORDER BY ticket"""
SINCE = f"SELECT seq, digest, body {_OF} AND seq >= ? AND (kind = 'told' OR seq = ?) ORDER BY seq"
REPORTS = f"{SINCE} LIMIT ?"
ADD_ENTRY = "INSERT INTO purse_journal VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"

# tickets that are unfinished
OPEN = f"""SELECT ticket, state, deadline FROM purse_open_tickets
WHERE level = {THIS} ORDER BY ticket"""
OPEN_PAGE = f"""SELECT ticket FROM purse_open_tickets
WHERE level = {THIS} AND state = ? AND ticket > ? ORDER BY ticket LIMIT ?"""
OVERDUE = f"""SELECT count(*) FROM purse_open_tickets
WHERE level = {THIS} AND deadline <= ? AND state || '' = 'held'"""
OLDEST = f"""SELECT at {_OF} AND kind <> 'conflict' AND kind = 'asked' AND ticket = (
  SELECT min(ticket) FROM purse_open_tickets WHERE level = {THIS} AND state = 'held'
) ORDER BY ticket"""
ADD_OPEN = "INSERT INTO purse_open_tickets VALUES (?, ?, ?, ?)"
DROP_OPEN = """DELETE FROM purse_open_tickets
WHERE level = ? AND state IN ('held', 'presumed', 'settled') AND ticket = ?"""

# checkpoints
CHECKPOINT = f"SELECT seq, digest, body FROM purse_checkpoints WHERE level = {THIS} AND kind = ?"
PUT_CHECKPOINT = """INSERT INTO purse_checkpoints VALUES (?, ?, ?, ?, ?) ON CONFLICT (level, kind)
DO UPDATE SET seq = excluded.seq, digest = excluded.digest, body = excluded.body"""


class Session(Protocol):
    """A transaction. What is not written is undone at its end."""

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        """Return the rows of each, in one trip to the database."""

    def write(self, statements: Sequence[Statement]) -> None:
        """Do these and commit, in one trip; when it returns, they are durable."""


class Database(Protocol):
    """What a dialect offers.

    Errors come out as `StorageUnavailable`, or as `PurseError` if a constraint is violated. It is
    safe to use from several threads and after a fork.
    """

    now: Callable[[], int]  # ms since 1970
    lock: str  # what makes a SELECT lock its rows
    among: str  # a condition: a column is one of the values that `several` gives

    def several(self, values: Sequence[Any]) -> Any:
        """Return values as one parameter."""

    def writing(self) -> AbstractContextManager[Session]:
        """Return a transaction that writes."""

    def reading(self) -> AbstractContextManager[Session]:
        """Return the database as it is at one moment."""

    def retried(self, work: Callable[[], T], *, again: bool = True) -> T:
        """Do something, with `again` once more if the connection was lost meanwhile."""

    def danger(self) -> str | None:
        """Say what is wrong with the place itself, for people; None: nothing."""

    def close(self) -> None:
        """Let go of files and connections."""
