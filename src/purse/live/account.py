"""The budget of a live policy: what is spent, held and left, and the open tickets."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from purse.base import amounts, validation
from purse.base.amounts import in_users_unit
from purse.engine.workspace import Workspace
from purse.errors import InvalidInput, TicketError, invalid, shorten
from purse.types import SKIP, Ints, Problem, Ticket

ONE = (float, int, str, Decimal, np.number)  # what stands for one number


class Round(NamedTuple):
    """A round with an open ticket, or one that has to be asked for again."""

    t: int
    arms: tuple[int, ...]
    probabilities: tuple[float, ...]
    excluded: tuple[int, ...] = ()  # rule `retry`: arms that cannot replace one that is not paid
    attempt: int = 0  # rule `retry`: how many arms were replaced in this round
    initial: bool = False

    @classmethod
    def read(cls, values: Sequence[Any]) -> Round:
        """Return a round from the lists of a JSON file."""
        t, arms, probabilities, excluded, attempt, initial = values
        return cls(t, tuple(arms), tuple(probabilities), tuple(excluded), attempt, initial)


def read_choice(space: Workspace) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the arms in the workspace and their probabilities, without skipped plays."""
    arms, probs = tuple(space.arms.tolist()), tuple(space.probs.tolist())
    if arms[-1] == SKIP and arms[0] >= 0:  # plays that are skipped come last
        arms = tuple(arm for arm in arms if arm >= 0)
    return arms, probs[: len(arms)]


class Account:
    """A budget of which every unit is spent, held for an open ticket, or left."""

    def __init__(self, problem: Problem, left_units: Ints) -> None:
        self.problem = problem
        self._left_units = left_units  # (d,) the compiled steps take from it
        self._left_units[:] = problem.budget
        self._single = problem.plays == problem.n_resources == 1
        # by number; the round only where it is not plain from the ticket
        self._open: dict[int, tuple[Ticket, Round | None]] = {}
        self._contexts: dict[int, tuple[float, ...]] = {}  # by number, where the policy sees them
        self._next_id = 1
        self._lock = threading.RLock()

    @property
    def left_units(self) -> list[int]:
        """What can still be held or paid, exactly: units of 1e-9, one entry per resource."""
        with self._lock:
            return self._left_units.tolist()

    @property
    def held_units(self) -> list[int]:
        """What is held for open tickets, exactly: units of 1e-9, one entry per resource."""
        with self._lock:
            return [
                sum(ticket.held_units[m] for ticket, _ in self._open.values())
                for m in range(self.problem.n_resources)
            ]

    @property
    def spent_units(self) -> list[int]:
        """What told tickets have cost, exactly: units of 1e-9, one entry per resource."""
        with self._lock:
            parts = zip(self.problem.budget.tolist(), self.left_units, self.held_units, strict=True)
            return [budget - left - held for budget, left, held in parts]

    @property
    def left(self) -> Any:
        """What can still be held or paid: a number, or one per resource.

        It is the budget less what is spent and held.
        """
        return in_users_unit(self.left_units)

    @property
    def held(self) -> Any:
        """What is held for open tickets: a number, or one per resource."""
        return in_users_unit(self.held_units)

    @property
    def spent(self) -> Any:
        """What told tickets have cost: a number, or one per resource."""
        return in_users_unit(self.spent_units)

    @property
    def tickets(self) -> list[Ticket]:
        """The open tickets, oldest first."""
        with self._lock:
            return sorted(ticket for ticket, _ in self._open.values())

    def _why_refused(self, ticket: Ticket, short: int) -> str:
        who = (
            f"arm {ticket.arm}"
            if len(ticket.arms) == 1
            else "arms " + ", ".join(map(str, ticket.arms))
        )
        refusal = (
            f"{who} may cost {amounts.text(ticket.held_units[short])} and "
            f"{amounts.text(self.left_units[short])} is left"
        )
        return refusal + (
            f"; open tickets: {len(self._open)}, holding {amounts.text(self.held_units[short])}"
            if self._open
            else ""
        )

    def _why_none_fits(self) -> str:
        left = ", ".join(map(amounts.text, self.left_units))
        held = f"; open tickets: {len(self._open)}" if self._open else ""
        return f"no allowed arm fits: {left} is left{held}"

    def _find(self, ticket: Ticket) -> tuple[Ticket, Round | None]:
        """Return an open ticket and its round; refuse one that is not open."""
        if not isinstance(ticket, Ticket) or not isinstance(ticket.id, int):
            raise TicketError(f"{shorten(repr(ticket))} is not a ticket; pass what `ask` returned")
        known = self._open.get(ticket.id)
        if known is None or known[0] != ticket:
            finished = known is None and 0 < ticket.id < self._next_id
            raise TicketError(
                f"ticket {ticket.id} is "
                f"{'finished already' if finished else 'not one that this policy issued'}"
            )
        return known

    def _can_be_open(self, ticket: Ticket) -> bool:
        """Return whether the compiled steps, which trust arms and sizes, can take a ticket."""
        sizes = {len(ticket.arms), len(ticket.probabilities)}
        return (
            len(sizes) == 1
            and 1 <= len(ticket.arms) <= self.problem.plays
            and len(ticket.held_units) == self.problem.n_resources
            and all(arm in range(self.problem.n_arms) for arm in ticket.arms)
        )

    def _read_report(
        self, plays: int, reward: Any, cost: Any
    ) -> tuple[Sequence[float], Sequence[int]]:
        """Return the reward of each play, and the units of each resource that each play cost.

        The step that learns from them holds them to their bounds.
        """
        if self._single and isinstance(reward, ONE) and isinstance(cost, ONE):
            return (reward if type(reward) is float else validation.rewards(reward)[0],), (
                amounts.to_units("cost", cost),
            )
        resources = self.problem.n_resources
        rewards, costs = validation.rewards(reward), amounts.unit_array("cost", cost)
        if len(rewards) != plays or not self._fits(costs, plays):
            raise InvalidInput(
                f"a report needs {plays} rewards and costs of shape ({plays}, "
                f"{resources}), not {len(rewards)} and {costs.shape}"
            )
        return rewards, costs.ravel().tolist()

    def _fits(self, costs: Ints, plays: int) -> bool:
        """Return whether costs have the shape (m, d), or one that can only mean the same."""
        resources = self.problem.n_resources
        return costs.size == plays * resources and (
            costs.shape == (plays, resources)
            or (1 in (plays, resources) and costs.shape in ((plays * resources,), ()))
        )

    def _out_of_bounds(
        self, ticket: Ticket, rewards: Sequence[float], cost: Any, entry: int
    ) -> InvalidInput:
        """Return the error for one entry of a report.

        Entries are counted as `engine.steps.tell` does: the rewards, then the costs of each play.
        """
        plays = self.problem.plays
        if entry < plays:
            return invalid("reward", rewards[entry], "must lie between 0 and 1")
        play, resource = divmod(entry - plays, self.problem.n_resources)
        arm = ticket.arms[play]
        low, high = self.problem.cost_min[arm, resource], self.problem.cost_max[arm, resource]
        bounds = f"{amounts.text(low)} and {amounts.text(high)}"
        return invalid("cost", cost, f"must lie between {bounds} for arm {arm}")
