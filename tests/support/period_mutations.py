"""Deliberate faults in the rules of periods: each function breaks one thing, through a monkeypatch
that is undone afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from purse.campaign.periods.rules import PeriodRules
from purse.campaign.rules import Transaction

from purse.campaign.periods import rules
from purse.campaign.period import Period
from purse.campaign.storage import schema

Patch = pytest.MonkeyPatch


def renew_twice(patch: Patch) -> None:
    """Each boundary is made twice."""
    add = Transaction.add

    def doubled(book: Transaction, kind: str, body: dict[str, Any], **named: Any) -> Any:
        if kind == "renewed":
            add(book, kind, body, **named)
        return add(book, kind, body, **named)

    patch.setattr(Transaction, "add", doubled)


def renew_twice_unseen(patch: Patch) -> None:
    """Each boundary is made twice, and the journal takes both."""
    renew_twice(patch)
    for dialect in ("SQLITE", "POSTGRES"):
        script: str = getattr(schema, dialect)
        first = script.index("CREATE UNIQUE INDEX purse_one_renewal")
        last = script.index(";", first) + 1
        patch.setattr(schema, dialect, script[:first] + script[last:])


def renew_once_a_transaction(patch: Patch) -> None:
    """Of the boundaries that were slept through, one is made."""
    ended = Transaction.ended

    def once(book: Transaction) -> Period | None:
        made = any(entry.kind == "renewed" for entry in book.entries)
        return None if made else ended(book)

    patch.setattr(Transaction, "ended", once)


def renew_what_is_paused(patch: Patch) -> None:
    """Boundaries are made for budgets that stand still."""

    def blind(book: PeriodRules) -> Period | None:
        period = book.ledger.period
        return None if period is None or book.now < period.ends else period

    patch.setattr(PeriodRules, "ended", blind)


def resume_by_the_clock(patch: Patch) -> None:
    """After a pause the next boundary is the first after now, even one that was made."""

    def forgetful(book: PeriodRules) -> dict[str, Any]:
        period = book.ledger.period
        return {} if period is None else book.end_after(period.ends, book.now)

    patch.setattr(PeriodRules, "resumption", forgetful)


def keep_the_refunds_of_ended_periods(patch: Patch) -> None:
    """What comes back from an ended period can be spent again."""
    patch.setattr(PeriodRules, "refund", lambda *_: {})


def carry_all(patch: Patch) -> None:
    """Nothing is dropped at a boundary, whatever the terms say."""

    def lenient(_carry: str, units: Sequence[int]) -> list[int]:
        return [0] * len(units)

    patch.setattr(rules, "not_carried", lenient)
