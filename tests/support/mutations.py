"""Deliberate faults: each function breaks one thing that a promise rests on, through a
monkeypatch that is undone afterwards.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import pytest

from purse.campaign.api.states import HELD, TOLD
from purse.campaign.ledger import campaign_level
from purse.campaign.ledger import ticket as tickets
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.records import _SEAL
from purse.campaign.ledger.ticket import TicketRecord
from purse.campaign.rules import allowed_arms, asks, reports
from purse.campaign.rules import transaction as transaction_rules
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run import learner
from purse.campaign.run.committer import Committer
from purse.campaign.run.learner import Learner
from purse.campaign.storage import schema
from purse.campaign.storage.file_lock import FileLock
from purse.campaign.storage.sql import LockedLevels
from purse.campaign.storage.sqlite import Sqlite, _SqliteSession
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.arms import PolicyView
from purse.errors import StorageUnavailable

Patch = pytest.MonkeyPatch
NEVER_OVERSPENT = (
    "CONSTRAINT never_overspent CHECK (key <> '' OR spent + held + presumed <= budget + overdraft),"
)
HELD_IS_NEVER_NEGATIVE = " AND held >= 0"


def without(patch: Patch, *parts: str) -> None:
    """New files and databases lack a part of the schema."""
    for dialect in ("SQLITE", "POSTGRES"):
        script: str = getattr(schema, dialect)
        for part in parts:
            assert part in script, f"the schema has no {part!r}"
            script = script.replace(part, "")
        patch.setattr(schema, dialect, script)


def take_any_number(patch: Patch, index: str) -> None:
    """New files and databases take entries that a unique index would refuse."""
    for dialect in ("SQLITE", "POSTGRES"):
        script: str = getattr(schema, dialect)
        assert f"UNIQUE INDEX {index} " in script
        lenient = script.replace(f"UNIQUE INDEX {index} ", f"INDEX {index} ")
        patch.setattr(schema, dialect, lenient)


def drop_the_guard(patch: Patch) -> None:
    """Whatever is asked for is held."""
    for module in (allowed_arms, asks):
        patch.setattr(module, "fits", lambda *_: True)


def drop_the_guard_and_the_check(patch: Patch) -> None:
    """Whatever is asked for is held, and the database does not look."""
    drop_the_guard(patch)
    without(patch, NEVER_OVERSPENT)


def hold_another_amount(patch: Patch) -> None:
    """An entry holds another amount than the rule says."""
    add = Transaction.add

    def generous(transaction: Transaction, kind: str, body: dict[str, Any], **more: Any) -> Any:
        if kind == "asked":
            body = {**body, "held": [max(0, units - 1) for units in body["held"]]}
        return add(transaction, kind, body, **more)

    patch.setattr(Transaction, "add", generous)


def book_another_amount(patch: Patch) -> None:
    """The fold books one unit less than an entry says was spent."""
    book = Level.book

    def careless(level: Level, move: Any, *more: Any, **holds: bool) -> None:
        less = [(budget, max(0, spent - 1), *rest) for budget, spent, *rest in move]
        book(level, less, *more, **holds)

    patch.setattr(Level, "book", careless)


def forget_reports(patch: Patch) -> None:
    """A ticket that was told looks as if it were still out."""
    pulled = reports._pulled_ticket

    def forgetful(transaction: Transaction, number: int, *more: str) -> TicketRecord:
        ticket = pulled(transaction, number, *more)
        return out_again(transaction, ticket) if ticket.state == TOLD else ticket

    patch.setattr(reports, "_pulled_ticket", forgetful)


def out_again(transaction: Transaction, ticket: TicketRecord) -> TicketRecord:
    """Return a ticket as if nothing had been reported."""
    fresh = ticket._replace(state=HELD, costs=None, reward=None, source="")
    transaction.campaign.tickets[ticket.id] = fresh
    return fresh


def take_reports_twice(patch: Patch) -> None:
    """A ticket that was told looks as if it were out, and the journal takes a second report."""
    forget_reports(patch)
    take_any_number(patch, "purse_one_of_each")
    without(patch, HELD_IS_NEVER_NEGATIVE)


def void_after_tell(patch: Patch) -> None:
    """A report can be taken back."""
    void = reports.void

    def lenient(transaction: Transaction, number: int) -> Any:
        ticket = transaction.find(number)
        if ticket.state == TOLD:
            out_again(transaction, ticket)
        return void(transaction, number)

    patch.setattr(reports, "void", lenient)
    without(patch, HELD_IS_NEVER_NEGATIVE)


def forget_conflicts(patch: Patch) -> None:
    """What was said too late is not kept."""
    add = Transaction.add
    patch.setattr(
        Transaction,
        "add",
        lambda transaction, kind, *arguments, **named: (
            None if kind == "conflict" else add(transaction, kind, *arguments, **named)
        ),
    )


def forget_requests(patch: Patch) -> None:
    """A request is not looked up."""
    patch.setattr(Transaction, "repeated", lambda *_, **__: None)


def hold_twice(patch: Patch) -> None:
    """A request is not looked up, and the journal takes a second answer."""
    forget_requests(patch)
    take_any_number(patch, "purse_one_answer")


def release_on_expiry(patch: Patch) -> None:
    """What outlives its deadline is given out again."""

    def released(transaction: Transaction, due: Sequence[TicketRecord]) -> int:
        for ticket in due:
            transaction.add("voided", {}, ticket=ticket.id)
        return len(due)

    patch.setattr(reports, "expire", released)


def swallow_overruns(patch: Patch) -> None:
    """No call costs more than was held for it."""
    patch.setattr(TicketRecord, "overrun", property(lambda ticket: [0] * len(ticket.held)))


def spend_up_to_the_hold(patch: Patch) -> None:
    """What a call cost above its hold does not count, as by the first rules."""
    moved = tickets.moved_between

    def within(before: TicketRecord, after: TicketRecord) -> Any:
        rows = moved(before, after)
        return [(more, paid - over, *rest, over) for more, paid, *rest, over in rows]

    patch.setattr(campaign_level, "moved_between", within)


def expect_what_was_declared(patch: Patch) -> None:
    """An arm that has cost more than declared is held for as before."""
    patch.setattr(CampaignLevel, "raise_arm", lambda *_: None)


def let_asks_overdraw(patch: Patch) -> None:
    """Whatever is asked for is held, and the overdraft covers it: the constraint says nothing."""
    drop_the_guard(patch)
    book = Level.book

    def covered(level: Level, move: Any, *more: Any, **_: bool) -> None:
        book(level, move, *more)

    patch.setattr(Level, "book", covered)


def alert_on_what_was_held(patch: Patch) -> None:
    """Percentages do not count what was billed above holds."""
    causes = transaction_rules._causes

    def within(level: Level, *more: Any) -> Any:
        whole = level.balances
        level.balances = [part._replace(spent=part.spent - part.overrun) for part in whole]
        try:
            return list(causes(level, *more))
        finally:
            level.balances = whole

    patch.setattr(transaction_rules, "_causes", within)


def cache_the_counters(patch: Patch) -> None:
    """Each campaign object reads the balances once and counts for itself from then on."""
    known: dict[Committer, Any] = {}
    decide, level = Committer._decide, Committer.level

    def cached(committer: Committer, operations: Any, policy: Any, locked: LockedLevels) -> Any:
        *above, own = locked.levels
        own = own._replace(balances=known.get(committer, own.balances))
        return decide(committer, operations, policy, locked._replace(levels=[*above, own]))

    def noted(committer: Committer, levels: Any) -> Level:
        made = level(committer, levels)
        known[committer] = made.balances
        return made

    def moved(made: Level, move: Any, *more: Any, **holds: bool) -> None:
        before = made.balances
        book(made, move, *more, **holds)
        for committer, balances in known.items():
            if balances is before:
                known[committer] = made.balances

    book = Level.book
    patch.setattr(Committer, "_decide", cached)
    patch.setattr(Committer, "level", noted)
    patch.setattr(Level, "book", moved)


def acknowledge_before_commit(patch: Patch) -> None:
    """A transaction is committed when the next one begins; in PostgreSQL, never."""

    @contextmanager
    def writing(database: Sqlite) -> Iterator[_SqliteSession]:
        with database._write_lock, database._translated:
            db = database._writer = database._writer or database._opened()
            if db.in_transaction:
                db.execute("COMMIT")
            db.execute("BEGIN IMMEDIATE")
            yield _SqliteSession(db)

    create = Storage.create

    def created(storage: Storage, *arguments: Any) -> None:
        create(storage, *arguments)
        if isinstance(storage.db, Sqlite) and storage.db._writer is not None:
            storage.db._writer.execute("COMMIT")

    patch.setattr(Storage, "create", created)
    patch.setattr(Sqlite, "writing", writing)
    from purse.campaign.storage.postgres import _PostgresSession

    write = _PostgresSession.write

    def lost(session: _PostgresSession, statements: Any) -> None:
        if not statements:  # of a level that is created
            write(session, statements)

    patch.setattr(_PostgresSession, "write", lost)


def sync_less(patch: Patch) -> None:
    """The log is synced when it is moved into the file, not at every commit."""
    opened = Sqlite._opened

    def hasty(database: Sqlite) -> Any:
        db = opened(database)
        db.execute("PRAGMA synchronous = NORMAL")
        return db

    patch.setattr(Sqlite, "_opened", hasty)


def use_the_probability_of_now(patch: Patch) -> None:
    """A report is weighed by the probability of now, not by its ticket's."""
    learn = Learner.learn

    def confused(policy: Learner, told: Any, seq: int, digest: str) -> None:
        for number, body in told:
            budget, n_arms = list(policy.terms.budget), policy.terms.n_arms
            seen = PolicyView(body["t"], budget, [0] * n_arms, [], None, None)
            now = policy.probabilities(seen)
            learn(policy, [(number, {**body, "p": now[body["arm"]]})], number, "")
        learn(policy, [], seq, digest)

    patch.setattr(Learner, "learn", confused)


def trust_checkpoints(patch: Patch) -> None:
    """A checkpoint is taken as it is."""
    patch.setattr(learner, "unseal", lambda body: bytes(body)[_SEAL:])


def write_over_the_journal(patch: Patch) -> None:
    """No trigger keeps the journal as it is."""
    for dialect, end in (("SQLITE", "END;"), ("POSTGRES", r"purse_refuse\(\);")):
        script: str = getattr(schema, dialect)
        bare = re.sub(rf"CREATE TRIGGER purse_no_.*?{end}", "", script, flags=re.DOTALL)
        assert bare != script
        patch.setattr(schema, dialect, bare)


def lock_nothing(patch: Patch) -> None:
    """Nobody waits for the lock, and nothing is locked before it is written."""
    from purse.campaign.storage.postgres import _Postgres

    patch.setattr(FileLock, "acquire", lambda *_: None)
    patch.setattr(apsw, "Connection", Deferred)
    patch.setattr(_Postgres, "lock", "")


class Deferred(apsw.Connection):
    """A connection that begins every transaction as a reader."""

    def execute(self, statements: str, *arguments: Any, **named: Any) -> Any:
        return super().execute(statements.replace("BEGIN IMMEDIATE", "BEGIN"), *arguments, **named)


def pay_what_was_settled_again(patch: Patch) -> None:
    """The money of a settled ticket moves once more when its reward comes."""
    reported = CampaignLevel.reported

    def greedy(level: CampaignLevel, entry: Any, before: TicketRecord) -> None:
        reported(level, entry, before._replace(costs=None) if entry.kind == TOLD else before)

    patch.setattr(CampaignLevel, "reported", greedy)


def keep_the_hold_of_what_failed(patch: Patch) -> None:
    """A call that failed costs all that was held for it."""
    fail = reports.fail
    patch.setattr(
        reports,
        "fail",
        lambda transaction, number, costs, reason: fail(
            transaction, number, transaction.find(number).held, reason
        ),
    )


def learn_from_what_was_void(patch: Patch) -> None:
    """A report teaches whatever its ticket was."""
    patch.setattr("purse.campaign.run.learner.OPEN", ("held", "presumed", "void"))


def fail_open(patch: Patch) -> None:
    """If the storage does not answer, an ask is admitted."""
    do = Committer.do

    def generous(committer: Committer, decide: Any, **wants: Any) -> Any:
        try:
            return do(committer, decide, **wants)
        except StorageUnavailable:
            held = list(committer.terms.cost_max[0])
            ticket = TicketRecord(1, HELD, 0, None, 1, 0, 1.0, held, None, {})
            return [ticket], committer.terms.first_arms

    patch.setattr(Committer, "do", generous)
