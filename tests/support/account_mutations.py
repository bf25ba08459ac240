"""Deliberate faults in accounts: each function breaks one thing, through a monkeypatch that is
undone afterwards.
"""

from __future__ import annotations

from typing import Any

import pytest
from purse.campaign.account.rules import AccountTransaction
from purse.campaign.rules import Transaction

from purse.campaign.storage import postgres, postgres_levels
from tests.support.mutations import NEVER_OVERSPENT, without

Patch = pytest.MonkeyPatch


def book_nothing_above(patch: Patch) -> None:
    """What a campaign takes is not booked on its accounts."""
    patch.setattr(Transaction, "book", lambda *_: None)


def book_on_the_nearest_account_alone(patch: Patch) -> None:
    """What a campaign takes is not booked on the account above its account."""
    book = Transaction.book

    def near(transaction: Transaction, *arguments: Any) -> None:
        accounts, transaction.accounts = transaction.accounts, transaction.accounts[-1:]
        book(transaction, *arguments)
        transaction.accounts = accounts

    patch.setattr(Transaction, "book", near)


def forget_refunds_above(patch: Patch) -> None:
    """Only what is taken is booked on accounts, and not what comes back."""
    book = AccountTransaction.book

    def greedy(
        account: AccountTransaction, campaign: str, entry: int, before: Any, after: Any, *rest: Any
    ) -> None:
        if sum(purse.held for purse in after) >= sum(purse.held for purse in before):
            book(account, campaign, entry, before, after, *rest)

    patch.setattr(AccountTransaction, "book", greedy)


def look_at_the_campaign_only(patch: Patch) -> None:
    """What is left above does not matter to an ask."""
    patch.setattr(Transaction, "left", lambda book: [each.left for each in book.ledger.balances])
    patch.setattr(Transaction, "levels", lambda book: [("", book.ledger.balances)])


def overspend_accounts(patch: Patch) -> None:
    """What is left above does not matter, and the database does not look."""
    look_at_the_campaign_only(patch)
    without(patch, NEVER_OVERSPENT)


def lock_no_account(patch: Patch) -> None:
    """Accounts are read and written, and nobody waits for them."""
    patch.setattr(postgres_levels, "LOCK", postgres_levels.LOCK.removesuffix(" FOR UPDATE"))


def lock_from_the_bottom_up(patch: Patch) -> None:
    """The nearest account is locked first."""
    lock = postgres_levels.lock_accounts
    patch.setattr(postgres, "lock_accounts", lambda db, above: lock(db, [*above][::-1])[::-1])


def ask_under_stopped_accounts(patch: Patch) -> None:
    """Accounts that are paused or closed give out tickets."""
    patch.setattr(AccountTransaction, "refuse_stopped", lambda _: None)


def forget_top_ups(patch: Patch) -> None:
    """The request of a top-up of an account is not looked up."""
    top_up = AccountTransaction.top_up

    def forgetful(account: AccountTransaction, units: Any, request: str) -> None:
        account.ledger.requests = {}
        top_up(account, units, request)

    patch.setattr(AccountTransaction, "top_up", forgetful)
