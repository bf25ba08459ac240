"""What a thread wants done with an account."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from purse.campaign.account.above import account_write, check_same_account, transaction
from purse.campaign.account.rules import AccountTransaction
from purse.campaign.account.terms import AccountTerms
from purse.campaign.storage.base import AccountWrite, LockedAccount, Storage


class AccountOperation(NamedTuple):
    """Something that a thread wants done, and what it has to know."""

    decide: Callable[[AccountTransaction], None]
    requests: tuple[str, ...] = ()


def top_up(units: Sequence[int], request: str) -> AccountOperation:
    """More budget."""
    return AccountOperation(lambda transaction: transaction.top_up(units, request), (request,))


def set_status(kind: str, status: str) -> AccountOperation:
    """Pause, resume or close."""
    return AccountOperation(lambda transaction: transaction.set_status(kind, status))


def set_alerts(alerts: Sequence[str]) -> AccountOperation:
    """Other rules of alerts."""
    return AccountOperation(lambda transaction: transaction.set_alerts(alerts))


class AccountCommitter:
    """Does operations on one account, each in a transaction of its own."""

    def __init__(self, terms: AccountTerms, storage: Storage) -> None:
        self.terms = terms
        self.storage = storage

    def do(self, operation: AccountOperation) -> None:
        """Have the operation done; it is durable when this returns, or raises its error."""

        def decide(found: LockedAccount) -> AccountWrite | None:
            check_same_account(self.terms, found.head)
            made = transaction(self.terms, found, self.storage.now())
            made.renew()
            operation.decide(made)
            return account_write(made) if made.entries else None

        self.storage.change_account(self.terms.name, operation.requests, decide)
