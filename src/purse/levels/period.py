"""The period that a budget is in, and what tickets of earlier periods have taken.

The counters of a balance are never reset. So a period records how much of them earlier periods have
taken; the rest is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from purse.base.amounts import LARGEST
from purse.levels.records import Balance, Units

ALL, NONE = "all", "none"
Carry = str | tuple[int, ...]  # one of these, or (d,) units at most


class Period(NamedTuple):
    """A period; amounts in units, (d,)."""

    number: int  # from 1
    begun: int  # ms
    ends: int  # ms
    rounds: int  # asked for before it
    carried: list[int]  # what earlier periods have left to it
    before: list[int]  # spent, held or presumed spent by tickets of earlier periods
    held: list[int]  # the part of it that is still held

    def spent(self, balances: Sequence[Balance]) -> list[int]:
        """(d,) What tickets of this period have spent, or are presumed to have."""
        return [
            balance.spent + balance.presumed - (before - held)
            for balance, before, held in zip(balances, self.before, self.held, strict=True)
        ]

    def budget(self, balances: Sequence[Balance]) -> list[int]:
        """(d,) What this period has or had: its allowance, what was carried over, top-ups."""
        return [
            balance.budget - before for balance, before in zip(balances, self.before, strict=True)
        ]

    def next(
        self, balances: Sequence[Balance], allowance: Units, carry: Carry, ends: int, rounds: int
    ) -> tuple[Period, list[Balance]]:
        """Return the period after this one, and the balances in it. All that was granted so far
        stays within what can be counted.
        """
        left = [balance.left for balance in balances]
        dropped = too_much(carry, [0] * len(left), left)
        budgets = [
            min(units + balance.budget - gone, LARGEST)
            for units, balance, gone in zip(allowance, balances, dropped, strict=True)
        ]
        period = Period(
            self.number + 1,
            self.ends,
            ends,
            rounds,
            [part - gone for part, gone in zip(left, dropped, strict=True)],
            [balance.spent + balance.held + balance.presumed for balance in balances],
            [balance.held for balance in balances],
        )
        renewed = [
            balance._replace(budget=budget)
            for balance, budget in zip(balances, budgets, strict=True)
        ]
        return period, renewed

    def after_hold(self, move: Sequence[Balance], carry: Carry) -> tuple[Period, list[int]]:
        """Return the period after a move of a ticket of an earlier one, and what of its refund is
        dropped.
        """
        refund = [-(part.spent + part.held + part.presumed) for part in move]
        dropped = too_much(carry, self.carried, refund)
        carried = [
            had + more - gone for had, more, gone in zip(self.carried, refund, dropped, strict=True)
        ]
        before = [had - more for had, more in zip(self.before, refund, strict=True)]
        held = [had + part.held for had, part in zip(self.held, move, strict=True)]
        return self._replace(carried=carried, before=before, held=held), dropped


def too_much(carry: Carry, carried: Units, more: Units) -> list[int]:
    """(d,) What of `more` is not carried over, beside what is already.

    >>> too_much("all", [0], [7]), too_much("none", [0], [7]), too_much((5,), [2], [7])
    ([0], [7], [4])
    """
    if carry == ALL:
        return [0] * len(more)
    most = [0] * len(more) if isinstance(carry, str) else carry
    return [
        max(0, part - max(0, cap - had)) for part, cap, had in zip(more, most, carried, strict=True)
    ]
