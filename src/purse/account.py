"""What a live policy has: its budget, what is left of it, and the tickets that are out."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from purse import amount, check
from purse.errors import InvalidInput, TicketError, invalid, shorten
from purse.types import Ints, Problem, Ticket


class Account:
    """A budget of which every unit is spent, held for a ticket that is out, or left."""

    def __init__(self, problem: Problem, purse: Ints) -> None:
        self.problem = problem
        self._purse = purse  # (d,) units left; the compiled steps take from it
        self._purse[:] = problem.budget
        self._bounds: list[list[tuple[int, int]]] = np.stack([problem.cost_min, problem.cost_max], axis=2).tolist()
        self._open: dict[int, tuple[Ticket, tuple[int, ...]]] = {}  # tickets that are out, each with its round's arms set aside
        self._next_id = 1
        self._lock = threading.RLock()

    @property
    def left_units(self) -> list[int]:
        """`left`, exactly, in units of 1e-9, one per resource."""
        return self._purse.tolist()

    @property
    def held_units(self) -> list[int]:
        """`held`, exactly, in units of 1e-9, one per resource."""
        with self._lock:
            return [sum(ticket.held_units[m] for ticket, _ in self._open.values()) for m in range(self.problem.n_resources)]

    @property
    def spent_units(self) -> list[int]:
        """`spent`, exactly, in units of 1e-9, one per resource."""
        with self._lock:
            parts = zip(self.problem.budget.tolist(), self.left_units, self.held_units, strict=True)
            return [budget - left - held for budget, left, held in parts]

    @property
    def left(self) -> Any:
        """What can still be held or paid: the budget less what is spent and held. A number, or one per resource."""
        return in_users_unit(self.left_units)

    @property
    def held(self) -> Any:
        """What is held for tickets that are out."""
        return in_users_unit(self.held_units)

    @property
    def spent(self) -> Any:
        """What has been paid."""
        return in_users_unit(self.spent_units)

    @property
    def tickets(self) -> list[Ticket]:
        """The tickets that are out, oldest first."""
        with self._lock:
            return [ticket for ticket, _ in self._open.values()]

    def _why_refused(self, arms: tuple[int, ...], short: int, need: int) -> str:
        who = f"arm {arms[0]}" if len(arms) == 1 else "arms " + ", ".join(map(str, arms))
        refusal = f"{who} may cost {amount.text(need)} and {amount.text(self.left_units[short])} is left"
        return refusal + (f"; tickets that are out: {len(self._open)}, holding {amount.text(self.held_units[short])}" if self._open else "")

    def _aside_of(self, ticket: Ticket) -> tuple[int, ...]:
        """The arms set aside in the round of a ticket that is out; refuses one that is not."""
        if not isinstance(ticket, Ticket) or not isinstance(ticket.id, int):
            raise TicketError(f"{shorten(repr(ticket))} is not a ticket; pass what `ask` returned")
        known, aside = self._open.get(ticket.id, (None, ()))
        if known != ticket:
            finished = known is None and 0 < ticket.id < self._next_id
            raise TicketError(f"ticket {ticket.id} is {'finished already' if finished else 'not one that this policy issued'}")
        return aside

    def _check_report(self, ticket: Ticket, reward: Any, cost: Any) -> tuple[list[float], list[list[int]]]:
        plays, resources = len(ticket.arms), self.problem.n_resources
        if type(reward) is float and type(cost) is float and plays == resources == 1:
            rewards, units = [reward], [[amount.to_units("cost", cost)]]
        else:
            rewards, costs = check.numbers("reward", reward), amount.unit_array("cost", cost)
            fits = costs.shape == (plays, resources) or (1 in (plays, resources) and costs.shape in ((plays * resources,), ()))
            if len(rewards) != plays or costs.size != plays * resources or not fits:
                raise InvalidInput(f"a report needs {plays} rewards and costs of shape ({plays}, {resources}), not {len(rewards)} and {costs.shape}")
            units = costs.reshape(plays, resources).tolist()
        for k, arm in enumerate(ticket.arms):
            if not 0 <= rewards[k] <= 1:
                raise invalid("reward", rewards[k], "must lie between 0 and 1")
            for m, unit in enumerate(units[k]):
                low, high = self._bounds[arm][m]
                if not low <= unit <= high:
                    raise invalid("cost", cost, f"must lie between {amount.text(low)} and {amount.text(high)} for arm {arm}")
        return rewards, units


def in_users_unit(units: list[int]) -> Any:
    """A number, or one per resource where there are several."""
    return units[0] / amount.UNIT if len(units) == 1 else [unit / amount.UNIT for unit in units]
