"""Levels in a SQL database.

A storage knows nothing of the rules. `change` locks a level and those above it, reads what is
wanted, lets the caller decide, writes what was decided and commits. Everything else only reads, and
never waits for a writer.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, TypeVar

import orjson

from purse.campaign.api.journal import CONTEXT
from purse.campaign.api.states import ACCOUNT, CAMPAIGN
from purse.campaign.ledger.entry import SEAL, LedgerEntry
from purse.campaign.ledger.limits import Label, LabelBudget
from purse.campaign.storage import sql
from purse.campaign.storage.sql import (
    Checkpoint,
    Database,
    Journal,
    LevelGlance,
    LevelRows,
    LockedLevels,
    ReadRequest,
    Rows,
    Session,
    Statement,
    StoredLevel,
    Writes,
    read_entry,
    read_level,
)
from purse.errors import CampaignExists, NotFound, PurseError

T = TypeVar("T")
_Load = Callable[[int], list[LedgerEntry]]  # the entries about a ticket
_LoadReports = Callable[[int], Rows]  # number, digest and body of reports after an entry
_LoadLabel = Callable[[Label], LabelBudget | None]
_PAGE_SIZE = 5_000  # reports
_SCANNED = 100_000  # entries that are searched at once


class Storage:
    """Levels, their journals and their open tickets."""

    def __init__(self, database: Database) -> None:
        self.db = database
        self.now: Callable[[], int] = database.now  # ms since 1970
        self._lock = sql.LEVEL.format(lock=database.lock)
        self._look = sql.LEVEL.format(lock="")
        self._answers, self._about = (
            {True: query.format(among=sql.ONE), False: query.format(among=database.among)}
            for query in (sql.ANSWERS, sql.ABOUT)
        )  # whether about one value
        self._chains: dict[str, list[str]] = {}  # names from the top down, as far as they are known

    def create(
        self,
        name: str,
        kind: str,
        parent: str | None,
        n_resources: int,
        decide: Callable[[list[StoredLevel], _Load, _LoadReports, _LoadLabel], Iterable[Writes]],
    ) -> None:
        """Make a level with its first entries, all of it or nothing.

        `decide` gets the levels from the top down, and functions that find the entries about a
        ticket, reports, and the budget of a label. Raise `CampaignExists` if the name is taken,
        `NotFound` if there is no such parent.
        """
        self._refuse_known(self._read([(self._look, (name,))])[0])

        def make() -> None:
            with self.db.writing() as session:
                above = self._chained(session, parent, ACCOUNT, self._lock)[0] if parent else []
                self._chains.pop(name, None)
                add = (name, kind, above[-1].key if above else None)
                new, existing = session.read([(sql.ADD_LEVEL, add), (self._look, (name,))])
                if not new:
                    self._refuse_known(existing)
                key = new[0][0]
                for (table,) in session.read([(sql.LEFT_OVER, (key,) * 5)])[0]:
                    raise PurseError(
                        f"{kind} {name!r} would get the rows of a level that was deleted by hand: "
                        f"delete them, too, those of purse_{table} WHERE level = {key} first"
                    )
                session.read(
                    [(sql.ADD_BALANCE, [(key, resource) for resource in range(n_resources)])]
                )
                own, parts = session.read([(self._lock, (name,)), (sql.BALANCES, (name,))])

                def load(ticket: int) -> list[LedgerEntry]:
                    return _read_entries(
                        session.read([self._among(self._about, name, [ticket])])[0]
                    )

                def reports(after: int) -> Rows:
                    rows = session.read([(sql.REPORTS, (name, after, after, name, _PAGE_SIZE))])[0]
                    return [row for row in rows if row[0] > after]

                def load_label(label: Label) -> LabelBudget | None:
                    return self._labels(session, name, [label]).get(label)

                stored = [*above, read_level(own[0], parts)]
                for writes in decide(stored, load, reports, load_label):
                    session.read(writes.statements())  # so that `load` finds what it wrote
                session.write([])

        self.db.retried(make, again=False)  # a repeat could not tell its own level from another's

    def _refuse_known(self, rows: Rows) -> None:
        for _, name, kind, *_ in rows:
            what = "an account" if kind == ACCOUNT else "a campaign"
            raise CampaignExists(f"there is {what} {name!r} already")

    def change(
        self, name: str, wants: ReadRequest, decide: Callable[[LockedLevels], Writes | None]
    ) -> None:
        """Lock a level and those above it, read, decide, write and commit.

        `decide` may be called again after a lost connection, and must find out what was done.
        """
        since = wants.reports_after
        reads: list[Statement] = []
        if wants.requests:
            reads.append(self._among(self._answers, name, wants.requests))
        if wants.tickets:
            reads.append(self._among(self._about, name, wants.tickets))
        if wants.due is not None:
            reads.append((sql.DUE, (name, name, wants.due)))
        if since is not None:
            reads.append((sql.SINCE, (name, since, since, name)))
        reads += [(sql.LATEST, (name, session, session, sql.LAST)) for session in wants.sessions]

        def attempt() -> None:
            with self.db.writing() as session:
                levels, rows = self._chained(session, name, None, self._lock, reads)
                answers = _read_entries(next(rows)) if wants.requests else []
                about = _read_entries(next(rows)) if wants.tickets else []
                due = _read_entries(next(rows)) if wants.due is not None else []
                digest, reports = _up_to(since, next(rows)) if since is not None else (None, [])
                asks = [entry for _ in wants.sessions for entry in _read_entries(next(rows))]
                if repeats := [number for answer in answers for number in _ticket_range(answer)]:
                    more = session.read([self._among(self._about, name, repeats)])  # one more trip
                    about += _read_entries(more[0])
                labels: dict[Label, LabelBudget] = {}
                if levels[-1].head.limits or wants.limits:  # one more trip
                    limits = {*levels[-1].head.limits, *wants.limits}
                    asked = (e.body.get("labels", {}) for e in (*about, *due) if e.kind == "asked")
                    all_labels = {*wants.labels, *(one for each in asked for one in each.items())}
                    wanted = sorted(label for label in all_labels if label[0] in limits)
                    labels = self._labels(session, name, wanted)
                found = levels, answers, about, due, digest, reports, labels, asks
                writes = decide(LockedLevels(*found))
                if writes is not None:
                    session.write(writes.statements())

        self.db.retried(attempt)

    def rewrite(
        self,
        names: Sequence[str],
        decide: Callable[[Session, list[StoredLevel]], Iterable[Statement]],
    ) -> None:
        """Lock levels, whose names are from the top down, change their journals, and commit.

        decide   gets the levels; returns what to write
        """

        def attempt() -> None:
            with self.db.writing() as session:
                levels = []
                for name in names:
                    reads: list[Statement] = [(self._lock, (name,)), (sql.BALANCES, (name,))]
                    (row,), parts = session.read(reads)
                    levels.append(read_level(row, parts))
                session.read([(self.db.unlock, ())])
                session.read([*decide(session, levels), (self.db.relock, ())])
                session.write([])

        self.db.retried(attempt)

    def names_with(self, key: str, value: str) -> list[str]:
        """Return the names of the campaigns with a label."""
        names = self.names()
        rows = self._read([(sql.LABEL, (name, key, value)) for name in names])
        return [name for name, parts in zip(names, rows, strict=True) if parts]

    def named(
        self, session: Session, level: StoredLevel, key: str, value: str
    ) -> Iterator[LedgerEntry]:
        """Yield the entries of a level with a label, and the reports with the contexts of such."""
        text = orjson.dumps(value).decode()
        for after in range(0, level.seq, _SCANNED):
            page = level.name, after, after + _SCANNED, text
            candidates = _read_entries(session.read([(sql.MENTIONS, page)])[0])
            entries = [entry for entry in candidates if entry.has_label(key, value)]
            yield from entries
            tickets = [entry.ticket for entry in entries if CONTEXT in entry.body]
            about = [self._among(self._about, level.name, tickets)] if tickets else []
            for rows in session.read(about):
                for entry in _read_entries(rows):
                    if entry.kind == "told" and CONTEXT in entry.body:
                        yield entry

    def _labels(
        self, session: Session, name: str, labels: Sequence[Label]
    ) -> dict[Label, LabelBudget]:
        """Return the budgets of those labels that have a row."""
        rows = session.read([(sql.LABEL, (name, *label)) for label in labels]) if labels else []
        pairs = zip(labels, rows, strict=True)
        return {label: LabelBudget.of_rows(label, parts) for label, parts in pairs if parts}

    def _among(self, query: dict[bool, str], name: str, values: Sequence[Any]) -> Statement:
        if len(values) == 1:
            return query[True], (name, values[0], values[0])
        return query[False], (name, self.db.several(values))

    def _chained(
        self,
        session: Session,
        name: str,
        kind: str | None,
        level: str,
        more: Sequence[Statement] = (),
    ) -> tuple[list[StoredLevel], Iterator[Rows]]:
        """Return a level and those above it, from the top down, and the rows of more statements.

        kind    what it must be; None: anything
        level   the statement that reads a level, and locks it or not

        Which levels are above it is remembered. A file that took the place of another one may say
        otherwise; then they are read again.
        """
        for _ in range(2):
            names = self._chains.get(name)
            if names is None:
                names = [row[0] for row in session.read([(sql.CHAIN, (name,))])[0]]
            size = len(names)
            turn = [(self.db.turn, (*names[:1],))] if level is self._lock and self.db.turn else []
            rows = session.read(
                [
                    *(turn if names else ()),
                    *[(level, (level_name,)) for level_name in names],
                    *[(sql.BALANCES, (level_name,)) for level_name in names],
                    *more,
                ]
            )[len(turn) :]
            levels, key = list[StoredLevel](), None
            for head, parts in zip(rows[:size], rows[size : 2 * size], strict=True):
                if not head or head[0][3] != key:
                    break
                levels.append(read_level(head[0], parts))
                key = levels[-1].key
            else:
                if levels:
                    self._chains[name] = names
                    if kind in (None, levels[-1].kind):
                        return levels, iter(rows[2 * size :])
                break
            self._chains.pop(name, None)
        else:
            raise PurseError(f"the levels above {name!r} are missing, or lead in a circle")
        raise _missing(kind, name)

    def _reading(self, work: Callable[[Session], T]) -> T:
        """Read at one moment; retry once after a lost connection."""

        def once() -> T:
            with self.db.reading() as session:
                return work(session)

        return self.db.retried(once)

    def _read(self, statements: Sequence[Statement]) -> list[Rows]:
        return self._reading(lambda session: session.read(statements))

    def _rows(self, name: str, query: str, *values: Any) -> Rows:
        """Return the rows of a statement about one level."""
        level, rows = self._read([(self._look, (name,)), (query, (name, *values))])
        if not level:
            raise _missing(None, name)
        return rows

    def level(self, name: str) -> list[StoredLevel]:
        """Return a level and those above it, from the top down."""
        return self._reading(lambda session: self._chained(session, name, None, self._look)[0])

    def overview(self, name: str) -> LevelGlance:
        """Return a level and those above it, and what is late of its tickets."""
        late: list[Statement] = [(sql.OVERDUE, (name, self.now())), (sql.OLDEST, (name, name))]

        def glance(session: Session) -> tuple[list[StoredLevel], list[Rows]]:
            levels, rows = self._chained(session, name, None, self._look, late)
            return levels, list(rows)

        levels, (overdue, oldest) = self._reading(glance)
        return LevelGlance(
            levels, overdue[0][0], oldest[0][0] if oldest else None, self.db.danger()
        )

    def glances(self, above: str | None = None) -> list[LevelGlance]:
        """Return a glance at each level, or at each below one, by itself, parents before children;
        in two statements, whatever their number.
        """
        levels, parts = (sql.BELOW, sql.BELOW_PARTS) if above else (sql.ALL_LEVELS, sql.ALL_PARTS)
        names = (above,) if above else ()
        rows, balances = self._read([(levels, (self.now(), *names)), (parts, names)])
        of = {key: [row[1:] for row in rows] for key, rows in groupby(balances, itemgetter(0))}
        danger = self.db.danger()
        return [
            LevelGlance([read_level(row[:6], of.get(row[0], ()))], row[6], row[7], danger)
            for row in rows
        ]

    def first_bodies(self, keys: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return the first entries of levels, which hold their terms, by key."""
        query = sql.CREATED.format(among=self.db.among)
        rows = self._read([(query, (self.db.several(keys),))])[0]
        return {key: orjson.loads(body) for key, body in rows}

    def tree(self, name: str) -> list[LevelRows]:
        """Return all that is stored of a level's whole tree, from the top down, at one moment."""

        def look(session: Session) -> list[LevelRows]:
            top = self._chained(session, name, None, self._look)[0][0].name
            names = [level_name for (level_name,) in session.read([(sql.TREE, (top,))])[0]]
            return [self._stored(session, level_name) for level_name in names]

        return self._reading(look)

    def _stored(self, session: Session, name: str) -> LevelRows:
        queries = (self._look, sql.BALANCES, sql.OPEN, sql.ALL_BALANCES)
        reads: list[Statement] = [(query, (name,)) for query in queries]
        level, parts, tickets, balances, outside, checkpoints = session.read(
            [*reads, (sql.OUTSIDE, (name,) * 3), (sql.CHECKPOINT, (name, "policy"))]
        )
        stored = read_level(level[0], parts)
        return LevelRows(stored, tickets, balances, outside, next(iter(checkpoints), None))

    def created(self, name: str, kind: str) -> LedgerEntry:
        """Return the first entry of a level, which holds its terms."""
        level, rows = self._read([(self._look, (name,)), (sql.ENTRIES, (name, 0, 1))])
        if not level or level[0][2] != kind:
            raise _missing(kind, name)
        if not rows:
            raise PurseError(f"{kind} {name!r} has no entries")
        return _read_entries(rows)[0]

    def chain(self, name: str) -> list[tuple[str, str]]:
        """Return name and kind of a level and those above it, from the top down; none if there is
        no such level.
        """
        return [(level, kind) for level, kind in self._read([(sql.CHAIN, (name,))])[0]]

    def names_below(self, name: str) -> list[str]:
        """Return the names of a level and all below it; none if there is no such level."""
        return [level for (level,) in self._read([(sql.TREE, (name,))])[0]]

    def names(self, kind: str = CAMPAIGN) -> list[str]:
        """Return the names of all levels of a kind."""
        return [name for (name,) in self._read([(sql.NAMES, (kind,))])[0]]

    def tops(self) -> list[str]:
        """Return the names of all levels that are below no other."""
        return [name for (name,) in self._read([(sql.TOPS, ())])[0]]

    def journals(self, kind: str) -> list[Journal]:
        """Return the journal of each level, with a reader's checkpoint of this kind."""
        return [Journal(*row) for row in self._read([(sql.JOURNALS, (kind,))])[0]]

    def entries(self, name: str, after: int, limit: int) -> Iterator[LedgerEntry]:
        """Return the entries that follow. Each is made when its turn comes: thousands at a time
        would keep the garbage collector busy. Between the first one and those that were not sealed
        is the seal.
        """
        reads: list[Statement] = [(sql.SEAL, (name, after)), (sql.ENTRIES, (name, after, limit))]
        level, seals, rows = self._read([(self._look, (name,)), *reads])
        if not level:
            raise _missing(None, name)
        if not seals or (seal := self.seal(name)) is None:
            return map(read_entry, rows)
        return islice(chain(map(read_entry, rows[:1] if after < 1 else ()), [seal]), limit)

    def seal(self, name: str, session: Session | None = None) -> LedgerEntry | None:
        """Return the seal of a level as an entry, if it has one; in a transaction, as of then."""

        def look(session: Session) -> tuple[Rows, Rows]:
            (seals,) = session.read([(sql.SEAL, (name, 0))])
            return seals, session.read([(sql.KEPT, (name, seals[0][0]))])[0] if seals else ()

        seals, rows = self._reading(look) if session is None else look(session)
        if not seals:
            return None
        (seq, text), kept = seals[0], _read_entries(rows)
        facts = [entry.facts() for entry in kept]
        body = {**orjson.loads(bytes(text)), "digest": bytes(rows[-1][-1]).hex(), "kept": facts}
        return LedgerEntry.of(seq, kept[-1].at, SEAL, body)

    def digested(
        self, name: str, after: int, limit: int
    ) -> list[tuple[LedgerEntry, int | None, str]]:
        """Return the entries that follow, each with its turn in the tree and its digest; none if
        its row has another session than its body.
        """
        rows = self._rows(name, sql.DIGESTED, after, limit)
        return [
            (entry, row[7], bytes(row[8]).hex() if entry.body.get("session") == row[9] else "")
            for entry, row in zip(_read_entries(rows), rows, strict=True)
        ]

    def events(self, name: str, after: int, limit: int) -> list[LedgerEntry]:
        """Return the events that follow an entry."""
        return _read_entries(self._rows(name, sql.EVENTS, name, after, limit))

    def reports(self, name: str, after: int, limit: int) -> tuple[str | None, Rows]:
        """Return the digest up to an entry, and number, digest and body of the reports after it."""
        digest, rows = _up_to(after, self._rows(name, sql.REPORTS, after, after, name, limit))
        return digest, [(seq, bytes(until).hex(), body) for seq, until, body in rows]

    def about(self, name: str, ticket: int) -> list[LedgerEntry]:
        """Return the entries about a ticket."""
        return _read_entries(self._rows(name, self._about[True], ticket, ticket))

    def last_ask(self, name: str, session: str, before: int) -> LedgerEntry | None:
        """Return the last ask of a session before an entry."""
        rows = self._rows(name, sql.LATEST, session, session, before)
        return next(iter(_read_entries(rows)), None)

    def tickets(self, name: str, after: int, limit: int) -> list[LedgerEntry]:
        """Return at most `limit` of the entries about the tickets that follow ticket `after`."""
        return _read_entries(self._rows(name, sql.TICKETS, after, limit))

    def open_tickets(
        self, name: str, states: Sequence[str], after: int, limit: int
    ) -> list[LedgerEntry]:
        """Return the entries about the unfinished tickets in these states that follow one."""

        def look(session: Session) -> Rows:
            pages = session.read([(sql.OPEN_PAGE, (name, state, after, limit)) for state in states])
            numbers = list(islice(merge(*([row[0] for row in page] for page in pages)), limit))
            return session.read([self._among(self._about, name, numbers)])[0] if numbers else []

        return _read_entries(self._reading(look))

    def largest(self, keys: Iterable[tuple[str, str]], limit: int) -> list[Rows]:
        """Return, for each level and key of labels, rows of `LARGEST`: the values that have spent
        most, in no order.
        """
        return self._read([(sql.LARGEST, (*pair, limit, *pair)) for pair in keys])

    def checkpoint(self, name: str, kind: str) -> Checkpoint | None:
        """Return the last checkpoint of a kind."""
        return next((Checkpoint(*row) for row in self._rows(name, sql.CHECKPOINT, kind)), None)

    def keep(
        self, name: str, kind: str, seq: int, digest: str, body: bytes, forgotten: int | None = None
    ) -> None:
        """Store a checkpoint; not if more was forgotten than when it was made."""

        def put() -> None:
            with self.db.writing() as session:
                rows = session.read([(self._look, (name,))])[0]
                if not rows:
                    raise _missing(None, name)
                if forgotten not in (None, read_level(rows[0], ()).head.forgotten):
                    return
                session.write([(sql.PUT_CHECKPOINT, [(rows[0][0], kind, seq, digest, body)])])

        self.db.retried(put)

    def begin_checkpoints(self, kind: str, places: Sequence[tuple[str, int, bytes]]) -> None:
        """Store the first checkpoint of a reader in several levels: name, entry and body of each.
        One that is there already stays.
        """
        rows = [(kind, seq, body, name) for name, seq, body in places]
        self._put(sql.BEGIN_CHECKPOINT, rows)

    def move_checkpoint(self, name: str, kind: str, before: int, seq: int, body: bytes) -> None:
        """Move a reader's checkpoint on, unless it is no longer at the entry `before`."""
        self._put(sql.MOVE_CHECKPOINT, [(seq, body, name, kind, before)])

    def _put(self, statement: str, rows: list[Any]) -> None:
        def put() -> None:
            with self.db.writing() as session:
                session.read([])  # which begins the transaction
                session.write([(statement, rows)])

        self.db.retried(put)

    def close(self) -> None:
        """Let go of files and connections."""
        self.db.close()


def _ticket_range(answer: LedgerEntry) -> range:
    """Return the tickets that may have answered a request."""
    first = answer.ticket
    return range(0) if first is None else range(first, first + answer.body.get("n", 1))


def _read_entries(rows: Rows) -> list[LedgerEntry]:
    """Return entries from the columns of their rows."""
    return list(map(read_entry, rows))


def _up_to(seq: int, rows: Rows) -> tuple[str | None, Rows]:
    """Return the digest up to an entry, None if there is no such entry, and what follows."""
    if rows and rows[0][0] == seq:
        return bytes(rows[0][1]).hex(), rows[1:]
    return "" if seq == 0 else None, rows


def _missing(kind: str | None, name: str) -> NotFound:
    """Return the error for a name that no level of a kind has."""
    return NotFound(f"there is no {kind or 'campaign or account'} {name!r}")
