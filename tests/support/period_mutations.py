"""Deliberate faults in the rules of periods: each function breaks one thing, through a monkeypatch
that is undone afterwards.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import ANY

import pytest

from purse.campaign import operators
from purse.campaign import transaction as transactions
from purse.campaign.period import ALL, Period
from purse.campaign.states import RUNNING
from purse.campaign.transaction import Transaction
from tests.support.mutations import take_any_number

Patch = pytest.MonkeyPatch


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
    patch.setattr(transactions, "RUNNING", ANY)


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
