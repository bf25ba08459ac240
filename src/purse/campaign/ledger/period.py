"""The periods of a budget: what each has, and what earlier ones have taken.

The counters of a balance are never reset. So a period records how much of them earlier periods have
taken; the rest is its own.
"""

from collections.abc import Sequence
from typing import NamedTuple

from purse.base.amounts import LARGEST
from purse.campaign.ledger.records import Balance, Move, Units
from purse.campaign.terms.calendar import ALL


class Period(NamedTuple):
    """A period; amounts in units, (d,)."""

    number: int  # from 1
    begun: int  # ms
    ends: int  # ms
    rounds: int  # asked for before it
    carried: list[int]  # what earlier periods have left to it; negative: what they owe
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
        self,
        balances: Sequence[Balance],
        allowance: Units,
        carry: str,
        span: tuple[int, int],
        rounds: int,
        passed: int = 1,
    ) -> "tuple[Period, list[Balance]]":
        """Return a period after this one, and the balances in it. What this one owes is treated as
        what it saves.

        span     when it begins and ends, ms
        passed   how many boundaries are passed: 1, but if a clock is wrong by years

        A budget, which is the sum of all that was granted, never exceeds what can be counted.
        """
        used = [balance.spent + balance.held + balance.presumed for balance in balances]
        carried = [
            min(balance.left + (passed - 1) * units, LARGEST - before) if carry == ALL else 0
            for balance, before, units in zip(balances, used, allowance, strict=True)
        ]
        renewed = [
            balance._replace(budget=min(before + carry_over + units, LARGEST))
            for balance, before, carry_over, units in zip(
                balances, used, carried, allowance, strict=True
            )
        ]
        held = [balance.held for balance in balances]
        return Period(self.number + passed, *span, rounds, carried, used, held), renewed

    def after_hold(self, move: Move, carry: str) -> "tuple[Period, list[int]]":
        """Return the period after a move of a ticket of an earlier one, and how much of the refund
        is dropped, (d,).
        """
        refund = [-(spent + held + presumed) for _, spent, held, presumed, _ in move]
        dropped = [0] * len(refund) if carry == ALL else refund
        carried = [
            had + more - gone for had, more, gone in zip(self.carried, refund, dropped, strict=True)
        ]
        before = [had - more for had, more in zip(self.before, refund, strict=True)]
        held = [had + part[2] for had, part in zip(self.held, move, strict=True)]
        return self._replace(carried=carried, before=before, held=held), dropped
