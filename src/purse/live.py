"""`purse.Policy`: a policy in memory that is asked which arm to pull and told what came of it."""

from __future__ import annotations

import os
import threading
from collections import deque
from dataclasses import fields
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse import amount, check, snapshot
from purse.engine.cpu import desk
from purse.engine.step import steps
from purse.errors import BudgetExhausted, GameOver, HorizonReached, InvalidInput, PurseError, TicketError, invalid
from purse.simulation import make_game, make_policy
from purse.types import SKIP, STOP, Floats, Problem, Ticket

_SAVED = ("name", "seed", "stop", "t", "gain", "over", "_next_id")  # what `save` takes as it is


class Round(NamedTuple):
    """A round that is out, or that has to be asked for again."""

    t: int
    arms: tuple[int, ...]
    probabilities: tuple[float, ...]
    aside: tuple[int, ...] = ()  # rule `retry`: the arms that could not be paid in this round


class Policy:
    """A live policy. Never spends more than its budget, whatever is asked, told and voided, and in whatever order.

    `ask` returns a `Ticket`; `tell` reports what it brought and cost; `void` cancels it. Several tickets may be out at once,
    and several threads may ask and tell.
    """

    def __init__(
        self,
        policy: str | ModuleType = "exp3++.bwk",
        *,
        n_arms: int,
        budget: Any,
        cost_min: Any,
        cost_max: Any = 1,
        n_resources: int = 1,
        plays: int = 1,
        horizon: int | None = None,
        costs: Any = None,
        caps: Any = None,
        seed: int = 0,
        stop: str = "hold",
    ) -> None:
        problem = Problem.of(
            n_arms=n_arms,
            budget=budget,
            cost_min=cost_min,
            cost_max=cost_max,
            n_resources=n_resources,
            plays=plays,
            horizon=horizon,
            costs=costs,
            caps=caps,
        )
        self._begin(policy, problem, seed, stop)

    def _begin(self, policy: str | ModuleType, problem: Problem, seed: int, stop: str) -> None:
        module, self._params = make_policy(policy, problem)
        self.name = policy if isinstance(policy, str) else str(module.__file__)
        self.problem, self.seed, self.stop = problem, seed, stop
        self.t = 0  # rounds asked for so far
        self.gain = 0.0
        self.over = ""  # why the game has ended, once it has
        self._game = make_game(module, problem, stop, seed)
        self._state = module.init(self._params, problem, 1)
        self._steps = steps(module, problem, self._game.sweep_rounds)
        self._desk = desk(problem)
        self._desk.purse[:] = problem.budget
        self._hold = np.zeros(problem.n_resources, np.int64)
        self._bounds: list[list[tuple[int, int]]] = np.stack([problem.cost_min, problem.cost_max], axis=2).tolist()
        self._open: dict[int, tuple[Ticket, tuple[int, ...]]] = {}  # tickets that are out, each with its round's arms set aside
        self._again: deque[Round] = deque()  # rounds that have to be asked for again
        self._next_id = 1
        self._lock = threading.RLock()

    @property
    def left_units(self) -> list[int]:
        """`left`, exactly, in units of 1e-9, one per resource."""
        return self._desk.purse.tolist()

    @property
    def held_units(self) -> list[int]:
        """`held`, exactly, in units of 1e-9, one per resource."""
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
        return [ticket for ticket, _ in self._open.values()]

    def probabilities(self) -> Floats:
        """(K,) The probability of each arm in the next round; they sum to `plays`, and are 0 and 1 during the initial pulls."""
        with self._lock:
            out = np.zeros(self.problem.n_arms)
            if self._again or self.t < self._game.sweep_rounds:
                out[list(self._peek().arms)] = 1.0
            elif self._steps.look is None:
                raise PurseError(f"{self.name} draws its arm without computing probabilities")
            else:
                self._steps.look(self._params, self._state, self._game, self.t + 1, self._desk, out)
            return out

    def _peek(self) -> Round:
        """The round that the next ask is for, also on the desk."""
        desk = self._desk
        if self._again:
            this = self._again[0]
            desk.arms[:] = this.arms
            return this
        t = self.t + 1
        if self.problem.horizon is not None and t > self.problem.horizon:
            raise HorizonReached(f"all {self.problem.horizon} rounds of the horizon have been asked for")
        self._steps.ask(self._params, self._state, self._game, t, desk)
        return Round(t, tuple(desk.arms.tolist()), tuple(desk.probs.tolist()))

    def ask(self) -> Ticket:
        """A ticket for the next round. Raises `BudgetExhausted` when the budget cannot cover it; then nothing has changed."""
        with self._lock:
            if self.over:
                raise BudgetExhausted(self.over)
            this = self._peek()
            if this.arms[0] == STOP or (this.arms[0] == SKIP and not self._game.may_skip):
                raise GameOver(f"{self.name} has ended the game after {self.t} rounds")
            short = self._steps.hold(self._game, self._desk, self._hold)
            if short >= 0:
                need, left = int(self._hold[short]), self.left_units[short]
                out = f"; {len(self._open)} tickets are out and hold {amount.text(self.held_units[short])}" if self._open else ""
                raise BudgetExhausted(f"arm {this.arms[0]} may cost {amount.text(need)} and {amount.text(left)} is left{out}")
            ticket = Ticket(self._next_id, this.t, this.arms, this.probabilities, tuple(self._hold.tolist()))
            if self._again:
                self._again.popleft()
            else:
                self.t = this.t
            if this.arms[0] != SKIP:
                self._open[ticket.id] = ticket, this.aside
                self._next_id += 1
            return ticket

    def tell(self, ticket: Ticket, reward: Any, cost: Any) -> bool:
        """Report what a ticket brought and cost (with several plays or resources: one entry each).

        Returns True when it was paid. Under the stop rules `exit` and `retry` a cost that the rest of the budget cannot pay
        does not count and is not learnt from: `exit` ends the game there, `retry` asks for another arm.
        """
        with self._lock:
            aside = self._aside_of(ticket)
            rewards, units = self._check_report(ticket, reward, cost)
            desk = self._desk
            if len(rewards) == 1:
                desk.arms[0], desk.probs[0], desk.rewards[0] = ticket.arms[0], ticket.probabilities[0], rewards[0]
            else:
                desk.arms[:], desk.probs[:], desk.rewards[:] = ticket.arms, ticket.probabilities, rewards
            desk.units[:] = units
            self._hold[:] = ticket.held_units
            del self._open[ticket.id]
            short = self._steps.tell(self._params, self._state, self._game, ticket.t, desk, self._hold)
            if short >= 0:
                self._refuse(ticket, short, aside)
                return False
            for gained in rewards:
                self.gain += gained
            return True

    def _refuse(self, ticket: Ticket, short: int, aside: tuple[int, ...]) -> None:
        desk = self._desk
        desk.aside[:] = 0
        desk.aside[list(aside)] = 1
        need = int(desk.units[:, short].sum())
        if self.stop == "retry" and self._steps.replace(self._game, ticket.t, len(aside), short, desk):
            tried = tuple(np.flatnonzero(desk.aside).tolist())
            self._again.append(Round(ticket.t, tuple(desk.arms.tolist()), tuple(desk.probs.tolist()), tried))
        else:
            self.over = f"the game ended in round {ticket.t}: {amount.text(self.left_units[short])} is left, which cannot pay {amount.text(need)}"

    def void(self, ticket: Ticket) -> None:
        """Cancel a ticket: its hold is released and nothing is learnt. An initial pull is asked for again."""
        with self._lock:
            aside = self._aside_of(ticket)
            del self._open[ticket.id]
            self._desk.purse[:] += ticket.held_units
            if ticket.t <= self._game.sweep_rounds:
                self._again.append(Round(ticket.t, ticket.arms, ticket.probabilities, aside))

    def _aside_of(self, ticket: Ticket) -> tuple[int, ...]:
        """The arms set aside in the round of a ticket that is out; refuses one that is not."""
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
            if len(rewards) != plays or costs.size != plays * resources:
                raise InvalidInput(f"a report needs {plays} rewards and {plays} x {resources} costs, not {len(rewards)} and {costs.size}")
            units = costs.reshape(plays, resources).tolist()
        for arm, gained, spent in zip(ticket.arms, rewards, units, strict=True):
            if not 0 <= gained <= 1:
                raise invalid("reward", gained, "must lie between 0 and 1")
            for unit, (low, high) in zip(spent, self._bounds[arm], strict=True):
                if not low <= unit <= high:
                    raise invalid("cost", cost, f"must lie between {amount.text(low)} and {amount.text(high)} for arm {arm}")
        return rewards, units

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, atomically; `Policy.load` continues from it to the same bits."""
        with self._lock:
            problem = {field.name: getattr(self.problem, field.name) for field in fields(self.problem)}
            facts = {
                "problem": {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in problem.items()},
                "tickets": list(self._open.values()),
                "again": list(self._again),
                "left": self.left_units,
                **{name: getattr(self, name) for name in _SAVED},
            }
            snapshot.save(path, facts, self._state._asdict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """A policy as it was saved, with its tickets that are out."""
        facts, arrays = snapshot.load(path)
        known: dict[str, Any] = {name: np.array(value) if isinstance(value, list) else value for name, value in facts["problem"].items()}
        policy = cls.__new__(cls)
        policy._begin(facts["name"], Problem(**known), facts["seed"], facts["stop"])
        for name in _SAVED:
            setattr(policy, name, facts[name])
        if {name: array.shape for name, array in policy._state._asdict().items()} != {name: array.shape for name, array in arrays.items()}:
            raise InvalidInput(f"{str(path)!r} holds a state of {policy.name} that this version of the policy does not have")
        policy._state = type(policy._state)(**arrays)
        policy._open = {ticket[0]: (Ticket(*ticket[:2], *map(tuple, ticket[2:])), tuple(aside)) for ticket, aside in facts["tickets"]}
        policy._desk.purse[:] = facts["left"]
        policy._again = deque(Round(t, *map(tuple, rest)) for t, *rest in facts["again"])
        return policy


def in_users_unit(units: list[int]) -> Any:
    """A number, or one per resource where there are several."""
    return units[0] / amount.UNIT if len(units) == 1 else [unit / amount.UNIT for unit in units]
