"""What a thread wants done with an account: verbs and their arguments, which can be sent to another
process as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from purse.campaign.account.above import account_write, check_same_account, transaction
from purse.campaign.account.rules import AccountTransaction
from purse.campaign.account.terms import AccountTerms
from purse.campaign.storage.base import AccountWrite, LockedAccount, Storage


class AccountOperation(NamedTuple):
    """Something that a thread wants done, and what it has to know."""

    verb: str
    arguments: tuple[Any, ...]
    decide: Callable[[AccountTransaction], None]
    requests: tuple[str, ...] = ()


def top_up_account(units: Sequence[int], request: str) -> AccountOperation:
    """More budget."""
    return AccountOperation(
        "top_up_account",
        (units, request),
        lambda transaction: transaction.top_up(units, request),
        (request,),
    )


def set_account_status(kind: str, status: str) -> AccountOperation:
    """Pause, resume or close."""
    return AccountOperation(
        "set_account_status",
        (kind, status),
        lambda transaction: transaction.set_status(kind, status),
    )


def set_account_alerts(alerts: Sequence[str]) -> AccountOperation:
    """Other rules of alerts."""
    return AccountOperation(
        "set_account_alerts", (alerts,), lambda transaction: transaction.set_alerts(alerts)
    )


VERBS = (top_up_account, set_account_status, set_account_alerts)
ACCOUNT_OPERATIONS: dict[str, Callable[..., AccountOperation]] = {
    made.__name__: made for made in VERBS
}


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
