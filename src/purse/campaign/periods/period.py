"""The period that a budget is in, and what its tickets and those of earlier periods have taken.

The counters of a balance are never reset. So the record says how much of them earlier periods have
taken; the rest is this period's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from purse.campaign.records import Balance

PERIOD = "period"  # the number of the period that a ticket was issued in
ABOVE = "above"  # the same of the accounts above it, by their ids
DROPPED = "dropped"  # (d,) units of an entry that leave the budget
ALL, NONE = CARRIES = ("all", "none")


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
            purse.spent + purse.presumed - (before - held)
            for purse, before, held in zip(balances, self.before, self.held, strict=True)
        ]

    def budget(self, balances: Sequence[Balance]) -> list[int]:
        """(d,) What this period has or had: its allowance, what was carried over, top-ups."""
        return [purse.budget - before for purse, before in zip(balances, self.before, strict=True)]

    def after_hold(
        self, refund: Sequence[int], held: Sequence[int], dropped: Sequence[int]
    ) -> Period:
        """The period once a hold of an earlier one has changed.

        refund    what comes back of it
        held      what is held no more; what was presumed spent already is not
        dropped   what of the refund is not carried over
        """
        return self._replace(
            carried=[
                had + more - gone
                for had, more, gone in zip(self.carried, refund, dropped, strict=True)
            ],
            before=[had - more for had, more in zip(self.before, refund, strict=True)],
            held=[had - part for had, part in zip(self.held, held, strict=True)],
        )


def first_period(begun: int, ends: int, n_resources: int) -> Period:
    """The period that a budget begins with."""
    nothing = [0] * n_resources
    return Period(1, begun, ends, 0, nothing, nothing, nothing)


def begin_next(
    body: dict[str, Any], balances: Sequence[Balance], rounds: int = 0
) -> tuple[Period, list[Balance]]:
    """The period that an entry begins, and the balances in it, from those before.

    rounds   asked for so far
    """
    changes = list(zip(balances, body["allowance"], body[DROPPED], strict=True))
    period = Period(
        body["number"],
        body["at"],
        body["next"],
        rounds,
        [purse.left - gone for purse, _, gone in changes],
        [purse.spent + purse.held + purse.presumed for purse in balances],
        [purse.held for purse in balances],
    )
    return period, [
        purse._replace(budget=purse.budget - gone + more) for purse, more, gone in changes
    ]


def not_carried(carry: str, units: Sequence[int]) -> list[int]:
    """(d,) What of the money left is not carried over.

    >>> not_carried("all", [7]), not_carried("none", [7])
    ([0], [7])
    """
    return [0] * len(units) if carry == ALL else list(units)
