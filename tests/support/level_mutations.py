"""Deliberate faults of accounts and periods, through a monkeypatch that is undone afterwards."""

from collections.abc import Callable
from typing import Any

import pytest

from purse.campaign.api.states import RUNNING
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.period import Period
from purse.campaign.ledger.records import Head
from purse.campaign.rules import asks, operators
from purse.campaign.rules import transaction as transactions
from purse.campaign.rules.transaction import Transaction
from purse.campaign.terms.calendar import ALL
from purse.campaign.views import status
from tests.support.mutations import NEVER_OVERSPENT, take_any_number, without

Patch = pytest.MonkeyPatch
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
    patch.setattr(Level, "left", lambda level: [balance.left for balance in level.balances])


def overspend_accounts(patch: Patch) -> None:
    """What is left above does not matter, and the database does not look."""
    look_at_the_campaign_only(patch)
    without(patch, NEVER_OVERSPENT)


def lock_no_account(patch: Patch) -> None:
    """Levels are read and written, and nobody waits for them."""
    from purse.campaign.storage.postgres import _Postgres

    patch.setattr(_Postgres, "lock", "")


def lock_from_the_bottom_up(patch: Patch) -> None:
    """The campaign is locked first, and the account at the top last."""
    from purse.campaign.storage.postgres import _PostgresSession

    read = _PostgresSession.read

    def upwards(session: _PostgresSession, statements: Any) -> Any:
        locks = [each for each in statements if "FOR UPDATE" in each[0]]
        rest = [each for each in statements if "FOR UPDATE" not in each[0]]
        rows = read(session, [*locks[::-1], *rest])
        return [*rows[: len(locks)][::-1], *rows[len(locks) :]]

    patch.setattr(_PostgresSession, "read", upwards)


def ask_under_stopped_accounts(patch: Patch) -> None:
    """Accounts that are paused or have ended give out tickets."""
    patch.setattr(asks, "_refuse_stopped", lambda _: None)


def forget_top_ups(patch: Patch) -> None:
    """The request of a top-up is not looked up."""
    repeated = Transaction.repeated

    def forgetful(transaction: Transaction, request: str, kind: str, same: Any) -> Any:
        return None if kind == "topped_up" else repeated(transaction, request, kind, same)

    patch.setattr(Transaction, "repeated", forgetful)


def renew_twice(patch: Patch) -> None:
    """Each boundary is made twice."""
    add = Transaction.add

    def doubled(transaction: Transaction, kind: str, body: dict[str, Any], **named: Any) -> Any:
        if kind == "renewed":
            add(transaction, kind, body, **named)
        return add(transaction, kind, body, **named)

    patch.setattr(Transaction, "add", doubled)


def renew_twice_unseen(patch: Patch) -> None:
    """Each boundary is made twice, and the journal takes both."""
    renew_twice(patch)
    take_any_number(patch, "purse_one_answer")


def renew_once_a_transaction(patch: Patch) -> None:
    """Of the boundaries that were slept through, one is made."""
    renew = Transaction.renew

    def once(transaction: Transaction) -> None:
        now, ends = transaction.now, [each.period.ends for each in transaction.level.chain()
                                      if each.period]  # fmt: skip
        transaction.now = min([now, *ends])
        renew(transaction)
        transaction.now = now

    patch.setattr(Transaction, "renew", once)


def renew_what_is_paused(patch: Patch) -> None:
    """Boundaries are made for budgets that stand still."""
    due = Level.due

    def blind(level: Level, at: int) -> str:
        status, level.head.status = level.head.status, RUNNING
        kind = due(level, at)
        level.head.status = status
        return kind

    patch.setattr(Level, "due", blind)


def resume_by_the_clock(patch: Patch) -> None:
    """After a pause the next boundary is the first after now, even one that was made."""
    set_status = operators.set_status

    def forgetful(transaction: Transaction, kind: str, status: str) -> None:
        level = transaction.level
        if status == RUNNING and level.period is not None:
            end = transaction.end_after(level, level.period.ends, transaction.now)
            transaction.add(kind, end)
        else:
            set_status(transaction, kind, status)

    patch.setattr(operators, "set_status", forgetful)


def keep_the_refunds_of_ended_periods(patch: Patch) -> None:
    """What comes back from an ended period can be spent again."""
    after_hold = Period.after_hold
    patch.setattr(Period, "after_hold", lambda period, move, _: after_hold(period, move, ALL))


def carry_all(patch: Patch) -> None:
    """Nothing is dropped at a boundary, whatever the terms say."""
    begin = Period.next
    patch.setattr(
        Period,
        "next",
        lambda period, balances, allowance, _, *more: begin(
            period, balances, allowance, ALL, *more
        ),
    )


def wait_for_the_hour_of_a_clock_that_was_ahead(patch: Patch) -> None:
    """An event of an hour that lies before the last one is none."""
    patch.setattr(
        transactions,
        "_is_new",
        lambda level, cause: cause[1] > level.head.alerted.get(cause[0], []),
    )


def wait_for_the_period_of_a_clock_that_was_ahead(patch: Patch) -> None:
    """A period ends when it ends, whatever the clock says now."""
    due = Level.due
    patch.setattr(Level, "due", lambda level, at: due(level, at).replace("clock", ""))


def grant_again_what_a_clock_comes_back_to(patch: Patch) -> None:
    """Nobody remembers the periods that a clock has left behind, or ahead."""
    patch.setattr(Head, "ahead", property(lambda _: [], lambda *_: None), raising=False)


def tell_nobody_of_clocks(patch: Patch) -> None:
    """A clock that was ahead is counted, and no alarm says so."""
    patch.setattr(status, "_clock_alarm", lambda *_: ())
