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


class Part(NamedTuple):
    """What is known of an open ticket before the rest is: either its rewards or its costs."""

    rewards: tuple[float, ...] | None = None  # (m,)
    units: tuple[int, ...] | None = None  # (m * d,) of each play and resource; they are spent

    @classmethod
    def read(cls, rewards: Sequence[float] | None, units: Sequence[int] | None) -> Part:
        """Return a part from the lists of a JSON file."""
        return cls(
            None if rewards is None else tuple(rewards), None if units is None else tuple(units)
        )


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
        self._parts: dict[int, Part] = {}  # by number, of open tickets that have one
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
        """What is held for open tickets, exactly: units of 1e-9, one entry per resource.

        Nothing is held for a settled ticket.
        """
        with self._lock:
            holding = self._unsettled()
            return [
                sum(ticket.held_units[m] for ticket in holding)
                for m in range(self.problem.n_resources)
            ]

    @property
    def spent_units(self) -> list[int]:
        """What told, settled and failed tickets have cost, exactly: units of 1e-9, one entry per
        resource.
        """
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
        """What told, settled and failed tickets have cost: a number, or one per resource."""
        return in_users_unit(self.spent_units)

    @property
    def tickets(self) -> list[Ticket]:
        """The open tickets, oldest first; a settled ticket is open until its reward is known."""
        with self._lock:
            return sorted(ticket for ticket, _ in self._open.values())

    def _unsettled(self) -> list[Ticket]:
        """Return the open tickets whose cost is not known yet."""
        tickets = [ticket for ticket, _ in self._open.values()]
        return [ticket for ticket in tickets if self._settled_units(ticket) is None]

    def _settled_units(self, ticket: Ticket) -> tuple[int, ...] | None:
        """Return what each play of a settled ticket cost of each resource, shape (m * d,)."""
        part = self._parts.get(ticket.id)
        return None if part is None else part.units

    def _total(self, units: Sequence[int]) -> tuple[int, ...]:
        """Return what all plays together cost of each resource, shape (d,)."""
        resources = self.problem.n_resources
        return tuple(sum(units[m::resources]) for m in range(resources))

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
        holding = len(self._unsettled())
        return refusal + (
            f"; open tickets: {holding}, holding {amounts.text(self.held_units[short])}"
            if holding
            else ""
        )

    def _why_none_fits(self) -> str:
        left = ", ".join(map(amounts.text, self.left_units))
        holding = len(self._unsettled())
        held = f"; open tickets: {holding}" if holding else ""
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

    def _read_rewards(self, ticket: Ticket, reward: Any) -> tuple[float, ...]:
        """Return the reward of each play. Raise `InvalidInput` where one is not allowed."""
        rewards, plays = validation.rewards(reward), len(ticket.arms)
        if len(rewards) != plays:
            raise invalid("reward", reward, f"must be {plays} rewards, not {len(rewards)}")
        self._check_rewards(ticket, rewards)
        return tuple(rewards)

    def _read_costs(self, ticket: Ticket, cost: Any, least: Ints | None) -> tuple[int, ...]:
        """Return the units of each resource that each play cost, shape (m * d,).

        least   (K, d) units that a pull costs; None: it may cost nothing, and 0 stands for all

        Raise `InvalidInput` where one is not allowed.
        """
        plays, resources = len(ticket.arms), self.problem.n_resources
        costs = (
            np.array(amounts.to_units("cost", cost))
            if isinstance(cost, ONE)
            else amounts.unit_array("cost", cost)
        )
        if least is None and costs.shape == () and costs == 0:
            return (0,) * (plays * resources)
        if not self._fits(costs, plays):
            raise invalid(
                "cost", cost, f"must have the shape ({plays}, {resources}), not {costs.shape}"
            )
        units = tuple(costs.ravel().tolist())
        self._check_costs(ticket, units, cost, least)
        return units

    def _check_rewards(self, ticket: Ticket, rewards: Sequence[float]) -> None:
        """Refuse rewards outside [0, 1]."""
        for k, gained in enumerate(rewards):
            if not 0 <= gained <= 1:
                raise self._out_of_bounds(ticket, rewards, None, k)

    def _check_costs(
        self, ticket: Ticket, units: Sequence[int], cost: Any, least: Ints | None
    ) -> None:
        """Refuse costs below `least`, or below 0 where it is None, or above the maximum."""
        for entry, paid in enumerate(units):
            play, resource = divmod(entry, self.problem.n_resources)
            arm = ticket.arms[play]
            low = 0 if least is None else least[arm, resource]
            if not low <= paid <= self.problem.cost_max[arm, resource]:
                raise self._bad_cost(arm, resource, cost, low)

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
        return self._bad_cost(arm, resource, cost, self.problem.cost_min[arm, resource])

    def _bad_cost(self, arm: int, resource: int, cost: Any, low: int) -> InvalidInput:
        bounds = f"{amounts.text(low)} and {amounts.text(self.problem.cost_max[arm, resource])}"
        return invalid("cost", cost, f"must lie between {bounds} for arm {arm}")
