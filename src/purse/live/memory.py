"""The memory of a live policy: its game, its open tickets and its money."""

import threading
from collections import deque
from types import ModuleType
from typing import Any

from purse import policies
from purse.base.amounts import in_users_unit
from purse.engine.job import make_game, make_policy, sees_contexts, wants_masks
from purse.engine.rules import NEVER
from purse.engine.steps import CallBuffer, make_steps, new_game
from purse.features import Feature, Features
from purse.live.report import Round
from purse.types import Problem, Ticket


class PolicyMemory:
    """All that a live policy holds: what `purse.Policy` asks and tells, and what its file has."""

    def _begin(
        self,
        policy: str | ModuleType,
        problem: Problem,
        seed: int,
        features: Features | None = None,
    ) -> None:
        self.features = features or _unnamed(problem)
        module, params = make_policy(policy, problem)
        self._module = module
        self.name = policy if isinstance(policy, str) else _file_of(module) or module.NAME
        self.t = 0  # rounds asked for so far
        self.gain = 0.0
        self.over = ""  # why the game has ended, once it has
        game = make_game(module, problem, seed, problem.horizon or NEVER)
        self.seed, self.stop = game.seed, problem.stop
        self._buffer = CallBuffer(problem)
        state = module.init(params, problem)
        self._game = new_game(module, params, state, game, self._buffer, problem)
        self._steps = make_steps(module, self._game)
        self.problem = problem
        self._left_units = self._game.workspace.left_units  # (d,) the steps take from it
        self._left_units[:] = problem.budget
        self._horizon = self._game.horizon
        self._forecast = problem.forecast
        # by number; the round only if it is not plain from the ticket
        self._open: dict[int, tuple[Ticket, Round | None]] = {}
        self._contexts: dict[int, tuple[float, ...]] = {}  # by number, if the policy sees them
        self._next_id = 1
        self._lock = threading.RLock()
        self._counts_pending = bool(getattr(module, "PENDING", False))
        self._counts_masks = wants_masks(module)
        self._asked = bytearray()  # the last mask as it was asked for
        self._allowed = self._buffer.workspace.allowed.data.cast("B")
        self._sees = bool(self.features) and sees_contexts(module)
        self._initial: set[int] = set()  # rounds that were initial pulls
        self._again: deque[Round] = deque()  # rounds that have to be asked for again

    @property
    def state(self) -> Any:
        """What the policy has learnt: a NamedTuple of arrays, to read and not to write."""
        return self._game.state

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

    def _count_pending(self, arms: tuple[int, ...], change: int) -> None:
        pending = self._game.workspace.pending
        for arm in arms:
            pending[arm] += change


def _unnamed(problem: Problem) -> Features:
    """Return features without names or ranges, as many as a problem has."""
    features = tuple(Feature(f"x{k}") for k in range(problem.n_features))
    return Features(features, problem.per_arm, problem.n_arms)


def _file_of(module: ModuleType) -> str | None:
    """Return the file of a policy that is not one of ours."""
    return (
        None
        if module.__name__.startswith(f"{policies.__name__}.")
        else getattr(module, "__file__", None)
    )
