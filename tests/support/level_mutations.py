"""Deliberate faults of accounts, periods and of what is forgotten, through a monkeypatch that is
undone afterwards.
"""

from collections.abc import Callable
from typing import Any

from purse.campaign.api.states import RUNNING
from purse.campaign.ledger import entry as entries
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.period import Period
from purse.campaign.ledger.records import Head
from purse.campaign.rules import asks, operators
from purse.campaign.rules import transaction as transactions
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run.committer import Committer
from purse.campaign.storage import sql
from purse.campaign.storage.sqlite import Sqlite
from purse.campaign.storage.storage import Storage
from purse.campaign.terms.calendar import ALL
from purse.campaign.views import status
from tests.support.mutations import NEVER_OVERSPENT, Patch, instead_of, take_any_number, without

Reach = Callable[[Level, Any], int]  # how many levels above a level book a move


def book_on(patch: Patch, reach: Reach) -> None:
    """A move is booked on its level and on so many above it."""
    book = Level.book

    def near(level: Level, move: Any, *more: Any, **holds: bool) -> None:
        last = [*level.chain()][: 1 + reach(level, move)][-1]
        above, last.above = last.above, None
        book(level, move, *more, **holds)
        last.above = above

    patch.setattr(Level, "book", near)


def book_nothing_above(patch: Patch) -> None:
    """What a campaign takes is not booked on its accounts."""
    book_on(patch, lambda *_: 0)


def book_on_the_nearest_account_alone(patch: Patch) -> None:
    """What a campaign takes is not booked on the account above its account."""
    book_on(patch, lambda *_: 1)


def forget_refunds_above(patch: Patch) -> None:
    """Only what is taken is booked on accounts, and not what comes back."""
    book_on(patch, lambda _, move: 0 if sum(held for _, _, held, _, _ in move) < 0 else 9)


def look_at_the_campaign_only(patch: Patch) -> None:
    """What is left above does not matter to an ask."""
    patch.setattr(Level, "left", lambda level, *_: [part.left for part in level.balances])


def overspend_accounts(patch: Patch) -> None:
    """What is left above does not matter, and the database does not look."""
    look_at_the_campaign_only(patch)
    without(patch, NEVER_OVERSPENT)


def lock_no_account(patch: Patch) -> None:
    """Levels are read and written, and nobody waits for them."""
    from purse.campaign.storage.postgres import Postgres

    for part in ("lock", "turn"):
        patch.setattr(Postgres, part, "")


def lock_from_the_bottom_up(patch: Patch) -> None:
    """The campaign is locked first, and the account at the top last."""
    from purse.campaign.storage.postgres import _PostgresSession

    read = _PostgresSession.read

    def upwards(session: _PostgresSession, statements: Any) -> Any:
        places = [place for place, each in enumerate(statements) if "FOR UPDATE" in each[0]]
        order = list(range(len(statements)))
        for place, other in zip(places, places[::-1], strict=True):
            order[place] = other
        rows = read(session, [statements[place] for place in order])
        return [rows[order.index(place)] for place in range(len(rows))]

    patch.setattr(_PostgresSession, "read", upwards)


def ask_under_stopped_accounts(patch: Patch) -> None:
    """Accounts that are paused or have ended give out tickets."""
    patch.setattr(asks, "_refuse_stopped", lambda _: None)


@instead_of(Transaction, "repeated")
def forget_top_ups(repeated: Any, at: Transaction, request: str, kind: str, same: Any) -> Any:
    """The request of a top-up is not looked up."""
    return None if kind == "topped_up" else repeated(at, request, kind, same)


@instead_of(Transaction, "add")
def renew_twice(add: Any, transaction: Transaction, kind: str, body: Any, **named: Any) -> Any:
    """Each boundary is made twice."""
    if kind == "renewed":
        add(transaction, kind, body, **named)
    return add(transaction, kind, body, **named)


def renew_twice_unseen(patch: Patch) -> None:
    """Each boundary is made twice, and the journal takes both."""
    renew_twice(patch)
    take_any_number(patch, "purse_one_answer")


@instead_of(Transaction, "renew")
def renew_once_a_transaction(renew: Any, transaction: Transaction) -> None:
    """Of the boundaries that were slept through, one is made."""
    now = transaction.now
    ends = [each.period.ends for each in transaction.level.chain() if each.period]
    transaction.now = min([now, *ends])
    renew(transaction)
    transaction.now = now


@instead_of(Level, "due")
def renew_what_is_paused(due: Any, level: Level, at: int) -> Any:
    """Boundaries are made for budgets that stand still."""
    status, level.head.status = level.head.status, RUNNING
    kind = due(level, at)
    level.head.status = status
    return kind


@instead_of(operators, "set_status")
def resume_by_the_clock(set_status: Any, transaction: Transaction, kind: str, status: str) -> None:
    """After a pause the next boundary is the first after now, even one that was made."""
    level = transaction.level
    if status == RUNNING and level.period is not None:
        end = transaction.end_after(level, level.period.ends, transaction.now)
        transaction.add(kind, end)
    else:
        set_status(transaction, kind, status)


@instead_of(Period, "after_hold")
def keep_the_refunds_of_ended_periods(after_hold: Any, period: Period, move: Any, _: Any) -> Any:
    """What comes back from an ended period can be spent again."""
    return after_hold(period, move, ALL)


@instead_of(Period, "next")
def carry_all(begin: Any, period: Period, balances: Any, more: Any, _: Any, *rest: Any) -> Any:
    """Nothing is dropped at a boundary, whatever the terms say."""
    return begin(period, balances, more, ALL, *rest)


@instead_of(transactions, "_is_new")
def wait_for_the_hour_of_a_clock_that_was_ahead(_: Any, level: Level, cause: Any) -> bool:
    """An event of an hour that lies before the last one is none."""
    return bool(cause[1] > level.head.alerted.get(cause[0], []))


@instead_of(Level, "due")
def wait_for_the_period_of_a_clock_that_was_ahead(due: Any, level: Level, at: int) -> Any:
    """A period ends when it ends, whatever the clock says now."""
    return due(level, at).replace("clock", "")


def grant_again_what_a_clock_comes_back_to(patch: Patch) -> None:
    """Nobody remembers the periods that a clock has left behind, or ahead."""
    patch.setattr(Head, "ahead", property(lambda _: [], lambda *_: None), raising=False)


def tell_nobody_of_clocks(patch: Patch) -> None:
    """A clock that was ahead is counted, and no alarm says so."""
    patch.setattr(status, "_clock_alarm", lambda *_: ())


@instead_of(Period, "next")
def grant_once_what_a_clock_jumps_over(following: Any, period: Period, *given: Any) -> Any:
    """Of the periods that one entry stands for, one is granted."""
    after, balances = following(period, *given[:5])
    return after._replace(number=period.number + given[5]), balances


def keep_salts(patch: Patch) -> None:
    """The salt of what is forgotten stays, so that who knows it can try names."""
    patch.setattr(sql, "FORGET_ENTRY", sql.FORGET_ENTRY.replace(", salt = NULL", ""))


def salt_all_alike(patch: Patch) -> None:
    """Each salt is the same."""
    patch.setattr(entries, "urandom", bytes)


def leave_the_journal_open(patch: Patch) -> None:
    """What was forgotten is the last that was changed, or not."""
    patch.setattr(Sqlite, "relock", "SELECT 1")


@instead_of(Storage, "keep")
def keep_what_was_found_before(keep: Any, storage: Storage, *facts: Any) -> None:
    """An audit stores what it found before something was forgotten."""
    keep(storage, *facts[:5])


@instead_of(Committer, "_decide")
def learn_on(decide: Any, committer: Committer, operations: Any, policy: Any, at: Any) -> Any:
    """A policy learns on from what was forgotten meanwhile."""
    if policy is not None:
        policy.forgotten = at.levels[-1].head.forgotten
    return decide(committer, operations, policy, at)
