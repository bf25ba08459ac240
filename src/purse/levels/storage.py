"""Levels in a SQL database.

A storage knows nothing of the rules. It locks a level and those above it, reads what is wanted,
lets the caller decide, writes what was decided and commits: all of that in `change`. Everything
else only reads, and never waits for a writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from purse.errors import CampaignExists, NoSuchCampaign
from purse.levels import sql
from purse.levels.entry import Entry
from purse.levels.ledger import ACCOUNT, CAMPAIGN
from purse.levels.sql import Database, Rows, Session, Statement
from purse.levels.storage_records import Found, Locked, Overview, Stored, Wants, Writes, found


class Storage:
    """Levels, their journals and their open tickets."""

    def __init__(self, database: Database) -> None:
        self.db = database
        self.now = database.now  # ms since 1970
        self._chains: dict[str, list[int]] = {}  # keys from the top down; they never change

    def chain(self, session: Session, name: str, kind: str | None = None) -> list[int]:
        """Return the keys of a level and of those above it, from the top down."""
        if name not in self._chains:
            rows = session.read([(f"{sql.LEVEL} WHERE name = ?", (name,))])[0]
            if not rows or kind not in (None, rows[0][2]):
                raise NoSuchCampaign(f"there is no {kind or CAMPAIGN} {name!r}")
            keys = [rows[0][0]]
            while rows[0][3] is not None:
                keys.insert(0, rows[0][3])
                rows = session.read([(f"{sql.LEVEL} WHERE id = ?", (rows[0][3],))])[0]
            self._chains[name] = keys
        return self._chains[name]

    def create(
        self,
        name: str,
        kind: str,
        parent: str | None,
        n_resources: int,
        decide: Callable[[list[Found], Callable[[int], list[Entry]]], Iterable[Writes]],
    ) -> None:
        """Make a level with its first entries, all of it or nothing. `decide` gets the levels, and
        a function that finds the entries about a ticket.
        """
        with self.db.writing() as session:
            if known := session.read([(f"{sql.LEVEL} WHERE name = ?", (name,))])[0]:
                what = "an account" if known[0][2] == ACCOUNT else "a campaign"
                raise CampaignExists(f"there is {what} {name!r} already")
            above = self.chain(session, parent, "account") if parent else []
            session.read([(sql.ADD_LEVEL, (name, kind, above[-1] if above else None))])
            key = session.read([("SELECT id FROM levels WHERE name = ?", (name,))])[0][0][0]
            for resource in range(n_resources):
                session.read([(sql.ADD_BALANCE, (key, resource))])
            levels = self._levels(session.read(self._locking([*above, key])))
            ready: list[Statement] = []

            def load(ticket: int) -> list[Entry]:
                rows = session.read([self._among(sql.ABOUT, key, [ticket])])[0]
                return [Entry.read(*row) for row in rows]

            for writes in decide(levels, load):
                session.read(ready)
                ready = writes.statements()
            session.write(ready)

    def change(self, name: str, wants: Wants, decide: Callable[[Locked], Writes | None]) -> None:
        """Lock a level and those above it, read, decide, write and commit.

        `decide` may be called again after a lost connection, and must find out what was done.
        """
        self.db.retried(lambda: self._change(name, wants, decide))

    def _change(self, name: str, wants: Wants, decide: Callable[[Locked], Writes | None]) -> None:
        with self.db.writing() as session:
            chain = self.chain(session, name)
            key, since, size = chain[-1], wants.told_after, 2 * len(chain)
            reads: list[Statement] = self._locking(chain)
            reads += [self._among(sql.ANSWERS, key, wants.requests)] if wants.requests else []
            reads += [self._among(sql.ABOUT, key, wants.tickets)] if wants.tickets else []
            reads += [(sql.DUE, (key, key, wants.due))] if wants.due is not None else []
            reads += [(sql.SINCE, (key, since, since))] if since is not None else []
            rows = iter(session.read(reads))
            levels = self._levels([next(rows) for _ in range(size)])
            answers = [Entry.read(*row) for row in next(rows)] if wants.requests else []
            about = [Entry.read(*row) for row in next(rows)] if wants.tickets else []
            due = [Entry.read(*row) for row in next(rows)] if wants.due is not None else []
            told = list(next(rows)) if since is not None else []
            if repeats := [number for answer in answers for number in issued(answer)]:
                more = session.read([self._among(sql.ABOUT, key, repeats)])[0]  # one more trip
                about += [Entry.read(*row) for row in more]
            digest = "" if since == 0 else None
            if told and told[0][0] == since:
                digest = bytes(told.pop(0)[1]).hex()
            told = [(seq, body) for seq, _, body in told]
            writes = decide(Locked(levels, answers, about, due, digest, told))
            if writes is not None:
                session.write(writes.statements())

    def _among(self, query: str, key: int, values: Sequence[Any]) -> Statement:
        return query.format(among=self.db.among), (key, self.db.several(values))

    def _locking(self, chain: Sequence[int]) -> list[Statement]:
        """Return the statements that lock levels from the top down, and read them."""
        locks = [(f"{sql.LEVEL} WHERE id = ?{self.db.lock}", (key,)) for key in chain]
        return [*locks, *[(sql.BALANCES, (key,)) for key in chain]]

    def _levels(self, rows: list[Rows]) -> list[Found]:
        half = len(rows) // 2
        return [
            found(level[0], parts) for level, parts in zip(rows[:half], rows[half:], strict=True)
        ]

    def level(self, name: str) -> list[Found]:
        """Return a level and those above it, from the top down."""
        with self.db.reading() as session:
            chain = self.chain(session, name)
            reads: list[Statement] = [(f"{sql.LEVEL} WHERE id = ?", (key,)) for key in chain]
            return self._levels(session.read(reads + [(sql.BALANCES, (key,)) for key in chain]))

    def overview(self, name: str) -> Overview:
        """Return a level and those above it, and what is late of its tickets."""
        with self.db.reading() as session:
            chain = self.chain(session, name)
            key = chain[-1]
            reads: list[Statement] = [(f"{sql.LEVEL} WHERE id = ?", (each,)) for each in chain]
            reads += [(sql.BALANCES, (each,)) for each in chain]
            late, oldest = (sql.OVERDUE, (key, self.now())), (sql.OLDEST, (key, key))
            *rows, overdue, first = session.read([*reads, late, oldest])
        at = first[0][0] if first else None
        return Overview(self._levels(rows), overdue[0][0], at, self.db.danger())

    def below(self, name: str) -> list[Found]:
        """Return the levels right below a level, by name."""
        with self.db.reading() as session:
            key = self.chain(session, name)[-1]
            rows = session.read([(f"{sql.LEVEL} WHERE parent = ? ORDER BY name", (key,))])[0]
            parts = session.read([(sql.BALANCES, (row[0],)) for row in rows])
            return [found(row, part) for row, part in zip(rows, parts, strict=True)]

    def tree(self, name: str) -> list[Stored]:
        """Return the whole tree that a level belongs to, from the top down, at one moment."""
        with self.db.reading() as session:
            wanted, made = [self.chain(session, name)[0]], list[Stored]()
            for key in wanted:  # which grows
                rows = session.read(
                    [
                        (f"{sql.LEVEL} WHERE id = ?", (key,)),
                        (sql.BALANCES, (key,)),
                        (sql.OPEN, (key,)),
                        (sql.LABELS, (key,)),
                        (sql.CHECKPOINT, (key, "policy")),
                        ("SELECT id FROM levels WHERE parent = ? ORDER BY id", (key,)),
                    ]
                )
                level = found(rows[0][0], rows[1])
                made.append(Stored(level, rows[2], rows[3], next(iter(rows[4]), None)))
                wanted += [each for (each,) in rows[5]]
            return made

    def names(self, kind: str = CAMPAIGN) -> list[str]:
        """Return the names of all levels of a kind."""
        with self.db.reading() as session:
            query = "SELECT name FROM levels WHERE kind = ? ORDER BY name"
            return [name for (name,) in session.read([(query, (kind,))])[0]]

    def _rows(self, name: str, query: str, *values: Any) -> Rows:
        with self.db.reading() as session:
            return session.read([(query, (self.chain(session, name)[-1], *values))])[0]

    def entries(self, name: str, after: int, limit: int) -> list[tuple[Entry, int | None, str]]:
        """Return the entries that follow, each with its turn in the tree and its digest."""
        query = sql.ENTRY.replace("body FROM", "body, turn, digest FROM")
        rows = self._rows(name, f"{query} AND seq > ? ORDER BY seq LIMIT ?", after, limit)
        return [(Entry.read(*row[:6]), row[6], bytes(row[7]).hex()) for row in rows]

    def told(self, name: str, after: int, limit: int) -> tuple[str | None, Rows]:
        """Return the digest up to an entry, and number, digest and body of the reports after it."""
        rows = self._rows(name, f"{sql.SINCE} LIMIT ?", after, after, limit)
        digest = "" if after == 0 else None
        if rows and rows[0][0] == after:
            digest, rows = bytes(rows[0][1]).hex(), rows[1:]
        return digest, [(seq, bytes(up_to).hex(), body) for seq, up_to, body in rows]

    def about(self, name: str, ticket: int) -> list[Entry]:
        """Return the entries about a ticket."""
        with self.db.reading() as session:
            key = self.chain(session, name)[-1]
            rows = session.read([self._among(sql.ABOUT, key, [ticket])])[0]
            return [Entry.read(*row) for row in rows]

    def tickets(self, name: str, after: int, limit: int) -> list[Entry]:
        """Return at most `limit` of the entries about the tickets that follow ticket `after`."""
        return [Entry.read(*row) for row in self._rows(name, sql.TICKETS, after, limit)]

    def open_tickets(self, name: str, states: Sequence[str], after: int, limit: int) -> list[Entry]:
        """Return the entries about the unfinished tickets in these states that follow one."""
        query, wanted = sql.UNFINISHED.format(among=self.db.among), self.db.several(states)
        with self.db.reading() as session:
            key = self.chain(session, name)[-1]
            rows = session.read([(query, (key, key, after, wanted, limit))])[0]
            return [Entry.read(*row) for row in rows]

    def labels(self, name: str) -> Rows:
        """Return label, resource, tickets and the sums of each label."""
        return self._rows(name, sql.LABELS)

    def checkpoint(self, name: str, kind: str) -> Sequence[Any] | None:
        """Return seq, digest and body of the last checkpoint of a kind."""
        return next(iter(self._rows(name, sql.CHECKPOINT, kind)), None)

    def close(self) -> None:
        """Let go of files and connections."""
        self.db.close()

    def keep(self, name: str, kind: str, seq: int, digest: str, body: bytes) -> None:
        """Store a checkpoint."""
        with self.db.writing() as session:
            key = self.chain(session, name)[-1]
            session.write([(sql.PUT_CHECKPOINT, [(key, kind, seq, digest, body)])])


def issued(answer: Entry) -> range:
    """Return the tickets that may have answered a request."""
    first = answer.ticket
    return range(0) if first is None else range(first, first + answer.body.get("n", 1))
