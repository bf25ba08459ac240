"""Deliberate faults: each function breaks one thing that a promise rests on, through a
monkeypatch that is undone afterwards.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import pytest

from purse.campaign.api.states import HELD, TOLD
from purse.campaign.ledger import campaign_level
from purse.campaign.ledger import ticket as tickets
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.limits import LabelBudget
from purse.campaign.ledger.records import _SEAL
from purse.campaign.ledger.ticket import TicketRecord
from purse.campaign.rules import allowed_arms, asks, reports
from purse.campaign.rules import transaction as transaction_rules
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run import learner, replay_journal
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
Fault = Callable[[Patch], None]
NEVER_OVERSPENT = """CONSTRAINT never_overspent CHECK (
    (key <> '' AND period IS NULL) OR spent + held + presumed <= budget + overdraft),"""
HELD_IS_NEVER_NEGATIVE = " AND held >= 0"


def instead_of(owner: Any, name: str) -> Callable[[Callable[..., Any]], Fault]:
    """Make a fault of a function: it is called in the place of the owner's, which it gets first."""

    def fault_of(function: Callable[..., Any]) -> Fault:
        def fault(patch: Patch) -> None:
            right = getattr(owner, name)
            patch.setattr(owner, name, lambda *given, **named: function(right, *given, **named))

        fault.__name__, fault.__doc__ = function.__name__, function.__doc__
        return fault

    return fault_of


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


@instead_of(Transaction, "add")
def hold_another_amount(add: Any, at: Transaction, kind: str, body: Any, **more: Any) -> Any:
    """An entry holds another amount than the rule says."""
    if kind == "asked":
        body = {**body, "held": [max(0, units - 1) for units in body["held"]]}
    return add(at, kind, body, **more)


@instead_of(Level, "book")
def book_another_amount(book: Any, level: Level, move: Any, *more: Any, **holds: bool) -> None:
    """The fold books one unit less than an entry says was spent."""
    less = [(budget, max(0, spent - 1), *rest) for budget, spent, *rest in move]
    book(level, less, *more, **holds)


@instead_of(reports, "_pulled_ticket")
def forget_reports(pulled: Any, transaction: Transaction, number: int, *more: str) -> TicketRecord:
    """A ticket that was told looks as if it were still out."""
    ticket: TicketRecord = pulled(transaction, number, *more)
    return out_again(transaction, ticket) if ticket.state == TOLD else ticket


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


@instead_of(Transaction, "add")
def forget_conflicts(add: Any, at: Transaction, kind: str, *body: Any, **more: Any) -> Any:
    """What was said too late is not kept."""
    return None if kind == "conflict" else add(at, kind, *body, **more)


def forget_requests(patch: Patch) -> None:
    """A request is not looked up."""
    patch.setattr(Transaction, "repeated", lambda *_, **__: None)


def hold_twice(patch: Patch) -> None:
    """A request is not looked up, and the journal takes a second answer."""
    forget_requests(patch)
    take_any_number(patch, "purse_one_answer")


@instead_of(reports, "expire")
def release_on_expiry(_: Any, transaction: Transaction, due: Sequence[TicketRecord]) -> int:
    """What outlives its deadline is given out again."""
    for ticket in due:
        transaction.add("voided", {}, ticket=ticket.id)
    return len(due)


def swallow_overruns(patch: Patch) -> None:
    """No call costs more than was held for it."""
    patch.setattr(tickets, "_exceeding", lambda costs, _: [0] * len(costs))


@instead_of(campaign_level, "moved_between")
def spend_up_to_the_hold(moved: Any, before: TicketRecord, after: TicketRecord) -> Any:
    """What a call cost above its hold does not count, as by the first rules."""
    rows = moved(before, after)
    return [(more, paid - over, *rest, over) for more, paid, *rest, over in rows]


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


@instead_of(Level, "left")
def look_past_limits(left: Any, level: Level, *_: Any) -> Any:
    """What a label has left does not matter to an ask."""
    return left(level)


def look_past_limits_unchecked(patch: Patch) -> None:
    """The same, and the database does not look."""
    look_past_limits(patch)
    without(patch, NEVER_OVERSPENT)


@instead_of(LabelBudget, "after")
def book_as_reports(after: Any, *given: Any, holds: bool, **named: Any) -> Any:
    """The overdraft of a label covers what is held."""
    return after(*given, holds=False, **named)


def let_labels_overdraw(patch: Patch) -> None:
    """What a label has left does not matter, and its overdraft covers it: no constraint says so."""
    look_past_limits(patch)
    book_as_reports(patch)


@instead_of(LabelBudget, "after")
def give_refunds_of_ended_periods_to_labels(after: Any, *given: Any, **named: Any) -> Any:
    """What comes back for an earlier period may be held again."""
    return after(*given, **named | {"is_old": False})


@instead_of(LabelBudget, "as_of")
def forget_own_limits(as_of: Any, budget: LabelBudget, *now: Any) -> Any:
    """A value has the limit of its key, whatever was set for it."""
    return as_of(budget._replace(own=None), *now)


def ask_without_labels(patch: Patch) -> None:
    """Who leaves a label out has no limit."""
    patch.setattr(asks, "_refuse_unlabelled", lambda *_: None)


@instead_of(asks, "_look")
def show_the_policy_the_rest_of_a_user(look: Any, at: Transaction, *given: Any) -> Any:
    """A policy plans with what a label has left."""
    need, view, explored = look(at, *given)
    return need, view._replace(left=at.level.left(*given[2:])), explored


@instead_of(transaction_rules, "_causes")
def alert_on_what_was_held(causes: Any, level: Level, *more: Any) -> Any:
    """Percentages do not count what was billed above holds."""
    whole = level.balances
    level.balances = [part._replace(spent=part.spent - part.overrun) for part in whole]
    try:
        return list(causes(level, *more))
    finally:
        level.balances = whole


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


@instead_of(Sqlite, "_opened")
def sync_less(opened: Any, database: Sqlite) -> Any:
    """The log is synced when it is moved into the file, not at every commit."""
    db = opened(database)
    db.execute("PRAGMA synchronous = NORMAL")
    return db


@instead_of(Learner, "learn")
def use_the_probability_of_now(
    learn: Any, policy: Learner, told: Any, seq: int, digest: str
) -> None:
    """A report is weighed by the probability of now, not by its ticket's."""
    for number, body in told:
        budget, n_arms = list(policy.terms.budget), policy.terms.n_arms
        seen = PolicyView(body["t"], budget, [0] * n_arms, [], None, None)
        now = policy.probabilities(seen)
        learn(policy, [(number, {**body, "p": now[body["arm"]]})], number, "")
    learn(policy, [], seq, digest)


def forget_who_takes_over(patch: Patch) -> None:
    """The fold of a hand-over leaves the policy of the terms in charge."""
    first = property(lambda level: [level.terms.policy, level.terms.policy_version])
    patch.setattr(CampaignLevel, "policy", first)


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
    from purse.campaign.storage.postgres import Postgres

    patch.setattr(FileLock, "acquire", lambda *_: None)
    patch.setattr(apsw, "Connection", Deferred)
    for part in ("lock", "turn"):
        patch.setattr(Postgres, part, "")


class Deferred(apsw.Connection):
    """A connection that begins every transaction as a reader."""

    def execute(self, statements: str, *arguments: Any, **named: Any) -> Any:
        return super().execute(statements.replace("BEGIN IMMEDIATE", "BEGIN"), *arguments, **named)


@instead_of(CampaignLevel, "reported")
def pay_what_was_settled_again(
    reported: Any, level: CampaignLevel, entry: Any, before: TicketRecord
) -> None:
    """The money of a settled ticket moves once more when its reward comes."""
    reported(level, entry, before._replace(costs=None) if entry.kind == TOLD else before)


@instead_of(reports, "fail")
def keep_the_hold_of_what_failed(
    fail: Any, transaction: Transaction, number: int, _: Any, *more: Any
) -> Any:
    """A call that failed costs all that was held for it."""
    return fail(transaction, number, transaction.find(number).held, *more)


def learn_from_what_was_void(patch: Patch) -> None:
    """A report teaches whatever its ticket was."""
    patch.setattr("purse.campaign.run.learner.OPEN", ("held", "presumed", "void"))


@instead_of(Committer, "do")
def fail_open(do: Any, committer: Committer, decide: Any, **wants: Any) -> Any:
    """If the storage does not answer, an ask is admitted."""
    try:
        return do(committer, decide, **wants)
    except StorageUnavailable:
        held = list(committer.terms.cost_max[0])
        ticket = TicketRecord(1, HELD, 0, None, 1, 0, 1.0, held, None, {})
        return [ticket], committer.terms.first_arms


def believe_a_journal(patch: Patch) -> None:
    """A restore takes values that no method takes."""
    patch.setattr(replay_journal, "_check_values", lambda *_: None)
