"""Deliberate faults: each function breaks one thing that a promise rests on, through a
monkeypatch that is undone afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import pytest

from purse.campaign import report_rules as rules
from purse.campaign.checkpoint import Checkpoint
from purse.campaign.group_commit import GroupCommitter
from purse.campaign.journal import Entry
from purse.campaign.learner import Learner
from purse.campaign.ledger import Ledger
from purse.campaign.records import TicketRecord
from purse.campaign.rules import Transaction
from purse.campaign.states import HELD, TOLD, VOID
from purse.campaign.storage import postgres, postgres_levels, schema
from purse.campaign.storage.file_lock import FileLock
from purse.campaign.storage.postgres import Postgres
from purse.campaign.storage.sqlite import Sqlite
from purse.errors import StorageUnavailable

Patch = pytest.MonkeyPatch
NEVER_OVERSPENT = "CONSTRAINT never_overspent CHECK (spent + held + presumed <= budget),"
ONE_REPORT = (
    "CREATE UNIQUE INDEX purse_one_report ON purse_journal (campaign, ticket) WHERE kind = 'told';"
)
ONE_ANSWER = (
    "CREATE UNIQUE INDEX purse_one_answer ON purse_journal (campaign, request) WHERE request "
    "IS NOT NULL;"
)


def without(patch: Patch, *parts: str) -> None:
    """New files and databases lack a part of the schema."""
    for dialect in ("SQLITE", "POSTGRES"):
        script: str = getattr(schema, dialect)
        for part in parts:
            assert part in script, f"the schema has no {part!r}"
            script = script.replace(part, "")
        patch.setattr(schema, dialect, script)


def drop_the_guard(patch: Patch) -> None:
    """Whatever is asked for is held."""
    patch.setattr(Transaction, "amount_to_hold", lambda _book, draft, arms: draft.need(arms))
    patch.setattr(Transaction, "fitting", lambda _book, _draft, places: places)


def drop_the_guard_and_the_check(patch: Patch) -> None:
    """Whatever is asked for is held, and the database does not look."""
    drop_the_guard(patch)
    without(patch, NEVER_OVERSPENT)


def forget_reports(patch: Patch) -> None:
    """A ticket that was told looks as if it were still out."""
    find = Transaction.find

    def forgetful(book: Transaction, ticket: int) -> TicketRecord:
        slot = find(book, ticket)
        if slot.state == TOLD:
            slot = book.ledger.tickets[ticket] = slot._replace(state=HELD)
        return slot

    patch.setattr(Transaction, "find", forgetful)


def take_reports_twice(patch: Patch) -> None:
    """A ticket that was told looks as if it were out, and the journal takes a second report."""
    forget_reports(patch)
    without(patch, ONE_REPORT, "CHECK (held >= 0)")


def void_after_tell(patch: Patch) -> None:
    """A report can be taken back."""
    void = Transaction.void

    def lenient(book: Transaction, ticket: int) -> Any:
        slot = book.find(ticket)
        if slot.state == TOLD:
            book.ledger.tickets[ticket] = slot._replace(state=HELD)
        return void(book, ticket)

    patch.setattr(Transaction, "void", lenient)
    without(patch, "CHECK (held >= 0)")


def forget_requests(patch: Patch) -> None:
    """A request is not looked up."""
    patch.setattr(Transaction, "repeated", lambda *_, **__: None)


def hold_twice(patch: Patch) -> None:
    """A request is not looked up, and the journal takes a second answer."""
    forget_requests(patch)
    without(patch, ONE_ANSWER)


def acknowledge_before_commit(patch: Patch) -> None:
    """A transaction is committed when the next one begins."""

    @contextmanager
    def locked(storage: Sqlite) -> Iterator[Any]:
        with storage._write_lock, storage._translated:
            db = storage._writer = storage._writer or storage._opened()
            if db.in_transaction:
                db.execute("COMMIT")
            db.execute("BEGIN IMMEDIATE")
            yield db

    create = Sqlite.create

    def created(storage: Sqlite, *arguments: Any) -> None:
        create(storage, *arguments)
        storage._writer.execute("COMMIT")

    patch.setattr(Sqlite, "create", created)
    patch.setattr(Sqlite, "_locked", locked)
    delay_commits(patch)


def delay_commits(patch: Patch) -> None:
    """In PostgreSQL, too."""
    change = Postgres._change

    class Lazy:
        """A connection that keeps a commit for later."""

        def __init__(self, db: Any) -> None:
            self.db = db

        def execute(self, query: str, *arguments: Any) -> Any:
            return (
                self.db.execute("SELECT 1")
                if query == "COMMIT"
                else self.db.execute(query, *arguments)
            )

        def __getattr__(self, name: str) -> Any:
            return getattr(self.db, name)

    def late(storage: Postgres, db: Any, *arguments: Any) -> None:
        db.execute("COMMIT")
        change(storage, Lazy(db), *arguments)

    patch.setattr(Postgres, "_change", late)


def sync_less(patch: Patch) -> None:
    """The log is synced when it is moved into the file, not at every commit."""
    opened = Sqlite._opened

    def hasty(storage: Sqlite) -> Any:
        db = opened(storage)
        db.execute("PRAGMA synchronous = NORMAL")
        return db

    patch.setattr(Sqlite, "_opened", hasty)


def release_on_expiry(patch: Patch) -> None:
    """What outlives its deadline is given out again."""

    def lenient(ledger: Ledger, entry: Entry) -> None:
        record = ledger.tickets[entry.ticket or 0]
        ledger.move(record.body["held"], held=-1)
        ledger.put(record._replace(state=VOID), HELD)

    patch.setattr(Ledger, "expired", lenient)


def cache_the_counters(patch: Patch) -> None:
    """Each campaign object reads the purses once and counts for itself from then on."""
    known: dict[GroupCommitter, Any] = {}
    decide = GroupCommitter._decide

    def cached(clerk: GroupCommitter, operations: Any, mind: Any, found: Any, now: int) -> Any:
        change = decide(
            clerk, operations, mind, found._replace(balances=known.get(clerk, found.balances)), now
        )
        known[clerk] = change.balances if change else known.get(clerk, found.balances)
        return change

    patch.setattr(GroupCommitter, "_decide", cached)


def swallow_overruns(patch: Patch) -> None:
    """No call costs more than was held for it."""
    patch.setattr(
        rules,
        "settle",
        lambda held, cost: ([min(pair) for pair in zip(held, cost, strict=True)], [0] * len(cost)),
    )


def use_the_probability_of_now(patch: Patch) -> None:
    """A report is weighed by the probability of now, not by its ticket's."""
    learn = Learner.learn

    def confused(mind: Learner, told: Any, seq: int, digest: str) -> None:
        for number, body in told:
            arms = mind.terms.n_arms
            now = mind.probabilities(body["t"], list(mind.terms.budget), [0] * arms, [], None)
            wrong = {**body, "probabilities": [now[arm] for arm in body["arms"]]}
            learn(mind, [(number, wrong)], number, "")
        learn(mind, [], seq, digest)

    patch.setattr(Learner, "learn", confused)


def trust_checkpoints(patch: Patch) -> None:
    """A checkpoint is taken as it is."""
    patch.setattr(Checkpoint, "is_whole", True)


def write_over_the_journal(patch: Patch) -> None:
    """No trigger keeps the journal as it is."""
    for dialect in ("SQLITE", "POSTGRES"):
        script, guards = getattr(schema, dialect), getattr(schema, f"{dialect}_GUARDS")
        assert guards in script
        patch.setattr(schema, dialect, script.replace(guards, ""))


def lock_nothing(patch: Patch) -> None:
    """Nobody waits for the lock, and nothing is locked before it is written."""
    patch.setattr(FileLock, "acquire", lambda *_: None)
    patch.setattr(apsw, "Connection", Deferred)
    for module in (postgres, postgres_levels):
        patch.setattr(module, "LOCK", postgres_levels.LOCK.removesuffix(" FOR UPDATE"))


class Deferred(apsw.Connection):
    """A connection that begins every transaction as a reader."""

    def execute(self, statements: str, *arguments: Any, **named: Any) -> Any:
        return super().execute(statements.replace("BEGIN IMMEDIATE", "BEGIN"), *arguments, **named)


def pay_what_was_settled_again(patch: Patch) -> None:
    """The money of a settled ticket moves once more when its reward comes."""
    told = Ledger.told

    def greedy(book: Ledger, entry: Any) -> None:
        told(book, entry._replace(body={**entry.body, "settled": False}))

    patch.setattr(Ledger, "told", greedy)


def keep_the_hold_of_what_failed(patch: Patch) -> None:
    """A call that failed costs all that was held for it."""
    fail = Transaction.fail
    patch.setattr(
        Transaction,
        "fail",
        lambda book, ticket, costs, reason: fail(
            book, ticket, list(book.find(ticket).body["held"]), reason
        ),
    )


def learn_from_what_was_void(patch: Patch) -> None:
    """A report teaches whatever its ticket was."""
    patch.setattr("purse.campaign.learner.OPEN", ("held", "presumed", "void"))


def forget_conflicts(patch: Patch) -> None:
    """What was said too late is not kept."""
    add = Transaction.add
    patch.setattr(
        Transaction,
        "add",
        lambda book, kind, *arguments, **named: (
            None if kind == "conflict" else add(book, kind, *arguments, **named)
        ),
    )


def fail_open(patch: Patch) -> None:
    """Where the storage does not answer, an ask is admitted."""
    do = GroupCommitter.do

    def generous(clerk: GroupCommitter, operation: Any) -> Any:
        try:
            return do(clerk, operation)
        except StorageUnavailable:
            body = {
                "t": 1,
                "arms": [0],
                "probabilities": [1.0],
                "held": list(clerk.terms.cost_max[0]),
                "request": None,
            }
            return [TicketRecord(1, HELD, 0, None, body)]

    patch.setattr(GroupCommitter, "do", generous)
