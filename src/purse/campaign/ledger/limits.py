"""Limits of labels: the most that one value of a key may take, in each period if there are any.

A value with a limit has a budget beside its sums, and P1 holds for it as for a level. Its counters
are never reset either: what they had before the period began, or before the key got a limit, is
`before`. A budget is brought up to date when something moves on it next, so that a new period or a
new limit costs nothing, however many values there are. A value without asks has no row at all.
"""

from collections.abc import Sequence
from operator import add
from typing import Any, NamedTuple, TypeAlias

from purse.base.amounts import LARGEST
from purse.campaign.ledger.records import Balance, Move, Units, apply_move, drawn

Label: TypeAlias = tuple[str, str]  # key and value


class LabelBudget(NamedTuple):
    """What one value has taken, and what it may; amounts in units, (d,)."""

    key: str
    value: str
    tickets: int
    balances: Sequence[Balance]
    before: Units = ()
    own: Units | None = None  # its own limit; None: that of its key
    period: int | None = None  # that it is up to date for, 0 without periods; None: no limit yet

    @property
    def title(self) -> str:
        """The label, for people."""
        return f"{self.key} {self.value!r}"

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the columns of its rows, one of each resource."""
        own: Sequence[int | None] = self.own or [None] * len(self.before)
        return [
            (*self[:2], resource, self.tickets, *balance, *more, self.period)
            for resource, (balance, *more) in enumerate(
                zip(self.balances, self.before, own, strict=True)
            )
        ]

    @classmethod
    def of_rows(cls, label: Label, rows: Sequence[Sequence[Any]]) -> "LabelBudget":
        """Return the budget in rows: tickets, balance, what was before, own limit and period."""
        tickets, *_, own, period = rows[0]
        balances = [Balance(*row[1:-3]) for row in rows]
        limit = None if own is None else [row[-2] for row in rows]
        return cls(*label, tickets, balances, [row[-3] for row in rows], limit, period)

    def as_of(self, limit: Units, period: int) -> "LabelBudget":
        """Return the budget in a period, with the limit that its key has by now."""
        before, balances = self.before, self.balances
        if self.period != period:
            before = [part.spent + part.held + part.presumed for part in balances]
        budgets = [min(units, LARGEST) for units in map(add, before, self.own or limit)]
        if self.period == period and budgets == [part.budget for part in balances]:
            return self
        after = [part._replace(budget=units) for part, units in zip(balances, budgets, strict=True)]
        return self._replace(balances=drawn(balances, after), before=before, period=period)

    def after(self, move: Move, tickets: int = 0, *, holds: bool, is_old: bool) -> "LabelBudget":
        """Return the budget after a move, with more tickets.

        holds    whether it is an ask, which an overdraft never covers
        is_old   whether its ticket is of an earlier period: what comes back then is dropped, and so
                 is what it owes
        """
        before, after = self.before, apply_move(self.balances, move)
        if is_old:
            more = [spent + held + presumed for _, spent, held, presumed, _ in move]
            before = list(map(add, before, more))
            after = apply_move(after, [(units, 0, 0, 0, 0) for units in more])
        balances = after if holds else drawn(self.balances, after)
        return self._replace(tickets=self.tickets + tickets, balances=balances, before=before)
