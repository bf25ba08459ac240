"""What names a person is forgotten: a value of a label, and the contexts and notes beside it.

The value becomes a pseudonym wherever it stands, so that sums and limits stay those of one value.
Money, arms, rewards and times stay, and so does what a policy has learnt. No report can teach again
what it learnt of contexts that are gone: so that is stored beside the journal.

A seal has values in its sums: it is written anew, and another entry `sealed` has its digests.
"""

import gzip
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, NamedTuple

from purse.base.files import PRIVATE, write_atomically
from purse.base.json import compact_bytes
from purse.campaign.ledger.ask_inputs import CONTEXT, read_labels
from purse.campaign.ledger.entry import FORGOTTEN, LedgerEntry, kept_by
from purse.campaign.ledger.records import AUDIT, POLICY
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run.committer import level_chain, writes_of
from purse.campaign.run.cut import claim_of
from purse.campaign.run.learner import parsed, recovered
from purse.campaign.run.seal import read_archive
from purse.campaign.storage import sql
from purse.campaign.storage.sql import Session, Statement, StoredLevel
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.budget_terms import AccountTerms
from purse.campaign.terms.terms import Terms
from purse.errors import NotFound


class Forgotten(NamedTuple):
    """What was forgotten."""

    pseudonym: str  # that stands for the value now
    entries: dict[str, int]  # by campaign and by archive, the entries that had it
    rest: list[str]  # where some of it may still be, in sentences


def forget(
    storage: Storage,
    key: str,
    value: str,
    archives: Sequence[Path] = (),
    pseudonym: str | None = None,
) -> Forgotten:
    """Forget a value of a label, in one transaction for each campaign that has it.

    archives    of seals, which are written anew
    pseudonym   that stands for the value already, if an earlier call did not get all archives

    Raise `InvalidInput` if it can be none or an archive cannot be read, `NotFound` if nothing has
    it.
    """
    for each in (value, pseudonym or value):
        read_labels({key: each})
    label, names = (key, value), storage.names_with(key, value)
    files = [_Archive(path, label) for path in archives]
    if not names and not any(file.n_entries for file in files):
        raise NotFound(f"no campaign has a label {key}={value!r}")
    campaigns = [_Campaign(storage, name) for name in names]  # before anything is written
    done = Forgotten(pseudonym or f"{FORGOTTEN}-{token_hex(8)}", {}, [])
    for one in campaigns:
        chained = [name for name, _ in storage.chain(one.name)]
        storage.rewrite(chained, partial(one.decide, label, done.pseudonym))
        done.entries[one.name] = one.n_entries
        end = 0
        for first, last in sorted([*(f.held(one.name) for f in files), (one.sealed + 1, 0)]):
            if first > end + 1:
                missing = f"{end + 1} to {first - 1}: they were not given"
                done.rest.append(f"archives of {one.name!r} with entries {missing}")
            end = max(end, last)
    for file in files:
        if file.n_entries:
            file.rewrite(done.pseudonym)
            done.entries[str(file.path)] = file.n_entries
    if names and (rest := storage.db.shrink()):
        done.rest.append(rest)
    return done


class _Campaign:
    """A campaign in which a value is forgotten."""

    def __init__(self, storage: Storage, name: str) -> None:
        self.storage, self.name = storage, name
        *above, own = [storage.created(*pair).body for pair in storage.chain(name)]
        terms = Terms.from_dict(own)
        self.terms = [*map(AccountTerms.from_dict, above), terms]  # from the top down
        learner = recovered(terms, storage) if terms.features else None
        self.learner = learner if learner is not None and learner.sees_contexts else None
        self.n_entries = 0  # that had the value; a seal is one
        self.sealed = 0  # the last entry of a seal that had it

    def decide(
        self, label: tuple[str, str], pseudonym: str, session: Session, levels: list[StoredLevel]
    ) -> list[Statement]:
        """Return the writes, with the levels locked, from the top down."""
        stored, level = levels[-1], level_chain(self.terms, levels)
        assert level is not None
        entries = list(self.storage.named(session, stored, *label))
        seal = self.storage.seal(self.name, session)
        content = None if seal is None else _renamed(seal, label, pseudonym)
        self.n_entries = len(entries) + bool(content)
        new = sum(FORGOTTEN not in entry.body for entry in entries)
        level.head.forgotten += new + bool(content)
        changed = [entry.forgotten(*label, pseudonym) for entry in entries]
        rows = [(entry.text, stored.key, entry.seq) for entry in changed]
        statements: list[Statement] = [
            *([(sql.FORGET_ENTRY, rows)] if rows else []),  # all may be sealed
            (sql.FORGET_LABEL, (pseudonym, stored.key, *label)),
            (sql.DROP_CHECKPOINT, (stored.key, AUDIT)),
        ]
        checkpoints, transaction = list[Any](), Transaction(level, self.storage.now())
        if (learner := self.learner) is not None:
            since = (self.name, learner.seq, learner.seq, self.name)
            reports = session.read([(sql.SINCE, since)])[0]
            learner.learn(parsed(reports), level.seq, level.head.digest)
            _, *learnt = learner.stored()
            checkpoints += [(stored.key, kind, *learnt) for kind in (POLICY, FORGOTTEN)]
        seals = list[tuple[Any, ...]]()
        if seal is not None and content is not None:
            self.sealed = seal.seq
            transaction.renew()
            transaction.add("sealed", claim_of(content, seal.body["digest"], kept_by(seal)))
            seals.append((stored.key, seal.seq, compact_bytes(content)))
        writes = writes_of(transaction, levels, checkpoints)
        return [*statements, *writes._replace(seals=seals, labels=()).statements()]


def _renamed(seal: LedgerEntry, label: tuple[str, str], pseudonym: str) -> dict[str, Any] | None:
    """Return the parts of a seal with a pseudonym for a value; None if it has not the value."""
    state, summary, is_named = seal.body["state"], seal.body["summary"], False
    _, _, sums, limited = state["level"]
    for rows in (sums, limited, *(rows for _, rows in state["days"])):
        for row in rows:
            if (row[0], row[1]) == label:
                row[1], is_named = pseudonym, True
        rows.sort(key=lambda row: row[:2])
    return {"state": state, "summary": summary} if is_named else None


class _Archive:
    """An archive of a seal, read once to see what is in it."""

    def __init__(self, path: Path, label: tuple[str, str]) -> None:
        self.path, self.label, self.n_entries = path, label, 0
        self._held: dict[str, tuple[int, int]] = {}
        for name, _, entry, is_named in self._lines():
            self._held[name] = self.held(name)[0] or entry.seq, entry.seq
            self.n_entries += is_named

    def held(self, name: str) -> tuple[int, int]:
        """Return the first and the last entry of a level that it has; 0 without any."""
        return self._held.get(name, (0, 0))

    def _lines(self) -> Iterator[tuple[str, int, LedgerEntry, bool]]:
        """Yield its lines, and whether each names the value, or has a context of one that does."""
        tickets = set[tuple[str, int | None]]()
        for name, turn, entry in read_archive(self.path):
            is_named = entry.has_label(*self.label)
            if is_named and CONTEXT in entry.body:
                tickets.add((name, entry.ticket))
            is_report = entry.kind == "told" and CONTEXT in entry.body
            yield name, turn, entry, is_named or (is_report and (name, entry.ticket) in tickets)

    def rewrite(self, pseudonym: str) -> None:
        """Write it anew, whole or not at all."""
        with gzip.open(self.path) as file:
            header = next(file)

        def write(raw: BinaryIO) -> None:
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=6, mtime=0) as file:
                file.write(header)
                for name, turn, entry, is_named in self._lines():
                    after = entry.forgotten(*self.label, pseudonym) if is_named else entry
                    file.write(compact_bytes([name, turn, *after.facts()]) + b"\n")

        write_atomically(self.path, write, PRIVATE)
