"""Seals: the entries of a tree before a day go to an archive, and what they came to stays.

What the entries before a cut came to becomes the seal of each level: see `purse.campaign.run.cut`.
An entry `sealed` of its journal holds the digests of it. Then the entries are deleted, but for the
first one, the last one and those that later ones may be about.
"""

import gzip
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import file_digest
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

import orjson

from purse._version import __version__
from purse.base.files import PRIVATE, make_folder, sync_folder, write_atomically
from purse.base.json import compact_bytes
from purse.campaign.api.defaults import SESSION_WITHIN
from purse.campaign.api.results import Audit
from purse.campaign.ledger.entry import FORGOTTEN, LedgerEntry
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.records import POLICY
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run.audit import audit, lines
from purse.campaign.run.committer import writes_of
from purse.campaign.run.cut import Cut, claim_of
from purse.campaign.storage import sql
from purse.campaign.storage.sql import (
    LevelRows,
    Session,
    Statement,
    StoredLevel,
    Writes,
    read_entry,
)
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.calendar import EPOCH, MILLISECOND
from purse.errors import InvalidInput, PurseError, invalid

_DAY = 86_400_000  # ms
_PAGE_SIZE = 5_000  # entries
_DROPPED = 100_000  # entries at a time, so that a server answers in time
_FACTS = ("id", "sealed", "forgotten")  # that are the same while a tree is audited
_OF_ITSELF = {"sealed", "renewed", "clock"}  # kinds of entries that a seal writes


class _NothingToSeal(Exception):
    pass


class Sealed(NamedTuple):
    """What was sealed of a tree."""

    name: str  # of its top level
    entries: int
    archive: Path


def seal_all(storage: Storage, day: str, folder: Path) -> Iterator[Sealed]:
    """Seal the entries of all trees before a day (UTC), such as 2027-01-01, and yield what was.

    Raise what `seal` raises, and `InvalidInput` if it is no day.
    """
    try:
        begun = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise invalid("before", day, "must be a day, such as 2027-01-01") from None
    for name in storage.tops():
        if (sealed := seal(storage, name, day, (begun - EPOCH) // MILLISECOND, folder)) is not None:
            yield sealed


def seal(storage: Storage, name: str, day: str, before: int, folder: Path) -> Sealed | None:
    """Seal the entries before a day of the whole tree that a level belongs to; None if it has none.

    before   when the day begins, ms; at least a day ago, so that no session of before goes on
    folder   of the archive, which is the file NAME-before-DAY.jsonl.gz; it must not be there yet

    All of it is done or nothing; the archive may be left. Raise `PurseError` if an audit of the
    tree finds something.
    """
    if before > storage.now() - _DAY:
        raise InvalidInput(f"before={day}: must be a day that began at least a day ago")
    names = [stored.level.name for stored in storage.tree(name)]
    path = make_folder(folder) / f"{names[0]}-before-{day}.jsonl.gz"
    cut, kinds = Cut(before, is_sealing=True), Counter[str]()

    def write(raw: BinaryIO) -> None:
        with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=6, mtime=0) as file:
            file.write(compact_bytes({"purse": __version__, "tree": names, "before": day}) + b"\n")

            def write_line(line: Sequence[Any]) -> None:
                file.write(compact_bytes(line) + b"\n")
                kinds[line[4]] += 1

            outcome = audit(storage, names[0], cuts=[cut], write=write_line)
        if outcome.findings:
            raise PurseError(f"nothing is sealed: the audit finds {outcome.findings[0]}")
        if not kinds.keys() - _OF_ITSELF:
            raise _NothingToSeal
        if path.exists():
            raise InvalidInput(f"archive={str(path)!r}: is there already; must be a new file")

    try:
        write_atomically(path, write, PRIVATE)
    except _NothingToSeal:
        return None
    sync_folder(path.parent)
    with path.open("rb") as file:
        archive = file_digest(file, "sha256").hexdigest()
    storage.rewrite(
        names, lambda session, rows: _decided(session, rows, cut, archive, storage.now())
    )
    return Sealed(names[0], kinds.total(), path)


def _decided(
    session: Session, rows: Sequence[StoredLevel], cut: Cut, archive: str, now: int
) -> Iterator[Statement]:
    """Drop the entries of all levels, and yield what is written for them."""
    stored, levels = dict[str, StoredLevel](), dict[int, Level]()
    for row in rows:
        if (replay := cut.replays.get(row.name)) is not None:
            terms, head, above = replay.level.terms, replay.level.head, levels.get(row.parent or 0)
            if any(getattr(row.head, fact) != getattr(head, fact) for fact in _FACTS):
                raise PurseError(f"{replay.level.title} was sealed or replaced meanwhile")
            stored[row.name] = row
            levels[row.key] = type(replay.level)(terms, row.seq, row.head, row.balances, above)
    for key, level in levels.items():
        name, transaction = level.terms.name, Transaction(level, now)
        state = orjson.loads(cut.states[name])
        taught = {e: text for e, text in cut.replays[name].taught.items() if int(e) > state["seq"]}
        rest = {**cut.rests[name], "taught": taught}
        parts = {"state": cut.states[name], "summary": compact_bytes(rest)}
        seq = state["seq"]
        for first in range(1, seq, _DROPPED):
            span = key, first, min(seq, first + _DROPPED + 1)
            more = key, seq, cut.before - SESSION_WITHIN, key, key
            session.read([(sql.DROP_SEALED, (*span, *more))])
        kept = list(map(read_entry, session.read([(sql.KEPT, (name, seq))])[0]))
        claim = claim_of(parts, state["level"][0]["digest"], kept)
        transaction.renew()
        transaction.add("sealed", {**claim, "archive": archive})
        chain = level.chain()[::-1]
        writes = writes_of(transaction, [stored[part.terms.name] for part in chain])
        text = b'{"state":%b,"summary":%b}' % (parts["state"], parts["summary"])
        for part in chain:
            row = stored[part.terms.name]
            now_, text_ = list(part.balances), part.head.to_json()
            stored[row.name] = row._replace(balances=now_, seq=part.seq, text=text_)
        yield from writes._replace(seals=[(key, seq, text)]).statements()


def audit_with(storage: Storage, name: str, archives: Iterable[Path]) -> Audit:
    """Audit the whole tree that a level belongs to from its first entries on, with all archives of
    it, the oldest first.

    Raise `InvalidInput` if they are not what was sealed.
    """
    with _unsealed(storage, name, archives) as (copy, befores):
        return audit(copy, name, cuts=[Cut(before) for before in sorted(befores)])


@contextmanager
def _unsealed(
    storage: Storage, name: str, archives: Iterable[Path]
) -> Iterator[tuple[Storage, set[int]]]:
    """Yield a copy of a tree with its sealed entries, and the times before which they were sealed.

    It is a file of SQLite that is gone in the end.
    """
    from purse.campaign.storage.sqlite import Sqlite

    tree, befores = storage.tree(name), set[int]()
    keys = {stored.level.name: stored.level.key for stored in tree}
    with TemporaryDirectory(prefix="purse-") as folder:
        copy = Storage(Sqlite(f"sqlite:///{folder}/copy.db"))
        with copy.db.writing() as session:
            session.read([("DROP INDEX purse_one_answer", ())])  # what was sealed may come again
            for level, unfinished, balances, _, checkpoint in tree:
                session.read([(sql.COPY_LEVEL, (*level[:5], level.text))])
                opened = [(level.key, state, ticket, due) for ticket, state, due in unfinished]
                labels = [(level.key, *row) for row in balances]
                learnt = storage.checkpoint(level.name, FORGOTTEN)
                policies = ((POLICY, checkpoint), (FORGOTTEN, learnt))
                stored = [(level.key, kind, *row) for kind, row in policies if row]
                session.read(Writes((), (), (), (), opened, labels, stored).statements())
            rows = _all_rows(storage, tree, archives)
            while page := list(islice(rows, _PAGE_SIZE)):
                befores |= {entry.body["before"] for _, entry, *_ in page if entry.kind == "sealed"}
                entries = [(keys[each], *entry.row(), *more) for each, entry, *more in page]
                session.read([(sql.ADD_ENTRY, entries)])
        try:
            yield copy, befores
        finally:
            copy.close()


def _all_rows(
    storage: Storage, tree: Sequence[LevelRows], archives: Iterable[Path]
) -> Iterator[tuple[str, LedgerEntry, bytes, int | None, str | None]]:
    """Yield all entries of a tree, level by level, each with the rest of its row."""
    seqs, digests = Counter[str](), defaultdict[str, str](str)
    names = {stored.level.name for stored in tree}
    for path in archives:
        for level, turn, entry in read_archive(path):
            if level not in names or entry.seq != seqs[level] + 1:
                raise InvalidInput(
                    f"archive={str(path)!r}: entry {entry.seq} of {level!r} does not come next; "
                    "must be all archives of the tree, the oldest first"
                )
            seqs[level], digests[level] = entry.seq, entry.chain(digests[level])
            session = entry.body.get("session")
            yield level, entry, bytes.fromhex(digests[level]), turn or None, session
    for stored in tree:
        level, seal = stored.level.name, storage.seal(stored.level.name)
        last = seqs[level], digests[level]
        if seal is not None and last != (seal.seq, seal.body["digest"]):
            raise InvalidInput(f"archive: the entries of {level!r} are not all that were sealed")
        for turn, _, _, entry, digest in lines(storage, 0, stored, last[0]):
            yield level, entry, bytes.fromhex(digest), turn or None, entry.body.get("session")


def read_archive(path: Path) -> Iterator[tuple[str, int, LedgerEntry]]:
    """Yield level, turn and entry of each line of an archive.

    Raise `InvalidInput` if it cannot be read.
    """
    try:
        with gzip.open(path) as file:
            next(file)
            for line in file:
                level, turn, *facts = orjson.loads(line)
                yield level, turn, LedgerEntry.of_facts(facts)
    except (OSError, EOFError, ValueError, TypeError, StopIteration, zlib.error) as error:
        raise InvalidInput(f"archive={str(path)!r}: cannot be read: {error}") from None
