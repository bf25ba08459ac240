"""`purse.Policy`: a policy in memory that is asked which arm to pull and told what came of it."""

from __future__ import annotations

import os
from collections import deque
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse import amount, check
from purse.engine.cpu import desk
from purse.engine.referee import sweep_rounds
from purse.engine.step import steps
from purse.errors import BudgetExhausted, GameOver, HorizonReached, InvalidInput, PurseError, TicketError, invalid
from purse.simulation import SEEDS, make_policy
from purse.types import SKIP, STOP, STOP_RULES, Floats, Problem, Ticket


class Round(NamedTuple):
    """A round that is out, or that has to be asked for again."""

    t: int
    arms: tuple[int, ...]
    probabilities: tuple[float, ...]
    aside: tuple[int, ...] = ()  # rule `retry`: the arms that could not be paid in this round


class Policy:
    """A live policy. Never spends more than its budget, whatever is asked, told and voided, and in whatever order.

    `ask` returns a `Ticket`; `tell` reports what it brought and cost; `void` cancels it. Several tickets may be out at once.
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
        self.problem = problem
        self.seed = check.integer("seed", seed, low=0, high=SEEDS)
        self.stop = check.choice("stop", stop, STOP_RULES)
        self.t = 0  # rounds asked for so far
        self.gain = 0.0
        self.over = ""  # why the game has ended, once it has
        self._state = module.init(self._params, problem, 1)
        self._sweep_rounds = sweep_rounds(module, problem.n_arms, problem.plays)
        self._steps = steps(module, self._sweep_rounds)
        self._desk = desk(problem)
        self._budget: list[int] = problem.budget.tolist()
        self._spent = [0] * problem.n_resources
        self._held = [0] * problem.n_resources
        self._low: list[list[int]] = problem.cost_min.tolist()
        self._high: list[list[int]] = problem.cost_max.tolist()
        self._share: list[float] = problem.share.tolist()
        self._open: dict[int, tuple[Ticket, tuple[int, ...]]] = {}  # tickets that are out, each with its round's arms set aside
        self._again: deque[Round] = deque()
        self._next_id = 1

    @property
    def spent(self) -> Any:
        """What has been paid: a number, or one per resource."""
        return self._amounts(self._spent)

    @property
    def held(self) -> Any:
        """What is held for tickets that are out."""
        return self._amounts(self._held)

    @property
    def left(self) -> Any:
        """What can still be held or paid: the budget less what is spent and held."""
        return self._amounts(self.left_units)

    @property
    def left_units(self) -> list[int]:
        """`left`, exactly, in units of 1e-9, one per resource."""
        return [budget - spent - held for budget, spent, held in zip(self._budget, self._spent, self._held, strict=True)]

    @property
    def spent_units(self) -> list[int]:
        """`spent`, exactly, in units of 1e-9, one per resource."""
        return list(self._spent)

    @property
    def tickets(self) -> list[Ticket]:
        """The tickets that are out, oldest first."""
        return [ticket for ticket, _ in self._open.values()]

    def _amounts(self, units: list[int]) -> Any:
        return units[0] / amount.UNIT if len(units) == 1 else [unit / amount.UNIT for unit in units]

    def probabilities(self) -> Floats:
        """(K,) The probability of each arm in the next round; they sum to `plays`, and are 0 and 1 during the initial pulls."""
        out = np.zeros(self.problem.n_arms)
        if self._again or self.t < self._sweep_rounds:
            out[list(self._next_round().arms)] = 1.0
        elif self._steps.look is None:
            raise PurseError(f"{self.name} draws its arm without computing probabilities")
        else:
            self._show_left()
            self._steps.look(self._params, self._state, self.t + 1, self._desk.left, out)
        return out

    def ask(self) -> Ticket:
        """A ticket for the next round. Raises `BudgetExhausted` when the budget cannot cover it; then nothing has changed."""
        if self.over:
            raise BudgetExhausted(self.over)
        this = self._next_round()
        holds = self._holds(this.arms)
        ticket = Ticket(self._next_id, this.t, this.arms, this.probabilities, holds)
        self._held = [held + hold for held, hold in zip(self._held, holds, strict=True)]
        if self._again:
            self._again.popleft()
        else:
            self.t = this.t
        if this.arms[0] != SKIP:
            self._open[self._next_id] = ticket, this.aside
            self._next_id += 1
        return ticket

    def _next_round(self) -> Round:
        if self._again:
            return self._again[0]
        t = self.t + 1
        if self.problem.horizon is not None and t > self.problem.horizon:
            raise HorizonReached(f"all {self.problem.horizon} rounds of the horizon have been asked for")
        self._show_left()
        desk = self._desk
        self._steps.ask(self._params, self._state, self.seed, t, self._sweep_rounds, desk.left, desk.arms, desk.probs, desk.aside)
        if desk.arms[0] == STOP:
            raise GameOver(f"{self.name} has ended the game after {self.t} rounds")
        return Round(t, tuple(desk.arms.tolist()), tuple(desk.probs.tolist()))

    def _show_left(self) -> None:
        for m, units in enumerate(self.left_units):
            self._desk.left[m] = units * self._share[m]

    def _holds(self, arms: tuple[int, ...]) -> tuple[int, ...]:
        """What to hold for these arms: under rule `hold` the most they may cost, else nothing."""
        if self.stop != "hold" or arms[0] == SKIP:
            return (0,) * len(self._held)
        holds = tuple(sum(self._high[arm][m] for arm in arms) for m in range(len(self._held)))
        for hold, left in zip(holds, self.left_units, strict=True):
            if hold > left:
                out = f"; {len(self._open)} tickets that are out hold {amount.text(sum(self._held))}" if self._open else ""
                raise BudgetExhausted(f"arm {arms[0]} may cost {amount.text(hold)} and {amount.text(left)} is left{out}")
        return holds

    def tell(self, ticket: Ticket, reward: Any, cost: Any) -> bool:
        """Report what a ticket brought and cost (with several plays or resources: one entry each).

        Returns True when it was paid. Under the stop rules `exit` and `retry` a cost that the rest of the budget cannot pay
        does not count and is not learnt from: `exit` ends the game there, `retry` asks for another arm.
        """
        aside = self._aside_of(ticket)
        rewards, units = self._check_report(ticket, reward, cost)
        needs = [sum(play[m] for play in units) for m in range(len(self._spent))]
        left = self.left_units
        short = [m for m, need in enumerate(needs) if need > left[m] + ticket.held_units[m]]
        self._close(ticket)
        if short:
            self._refuse(ticket, units, short[0], aside)
            return False
        desk = self._desk
        for m, need in enumerate(needs):
            self._spent[m] += need
        for k, arm in enumerate(ticket.arms):
            self.gain += rewards[k]
            desk.arms[k], desk.probs[k], desk.rewards[k] = arm, ticket.probabilities[k], rewards[k]
            for m, share in enumerate(self._share):
                desk.costs[k, m] = units[k][m] * share
        self._steps.tell(self._params, self._state, self.seed, ticket.t, desk.arms, desk.probs, desk.rewards, desk.costs)
        return True

    def void(self, ticket: Ticket) -> None:
        """Cancel a ticket: its hold is released and nothing is learnt. An initial pull is asked for again."""
        aside = self._aside_of(ticket)
        self._close(ticket)
        if ticket.t <= self._sweep_rounds:
            self._again.append(Round(ticket.t, ticket.arms, ticket.probabilities, aside))

    def _aside_of(self, ticket: Ticket) -> tuple[int, ...]:
        known, aside = self._open.get(ticket.id, (None, ()))
        if known != ticket:
            issued = 0 < ticket.id < self._next_id and known is None
            raise TicketError(f"ticket {ticket.id} is {'finished already' if issued else 'not one that this policy issued'}")
        return aside

    def _close(self, ticket: Ticket) -> None:
        del self._open[ticket.id]
        for m, hold in enumerate(ticket.held_units):
            self._held[m] -= hold

    def _refuse(self, ticket: Ticket, units: list[list[int]], short: int, aside: tuple[int, ...]) -> None:
        desk = self._desk
        desk.arms[:], desk.probs[:], desk.units[:], desk.aside[:] = ticket.arms, ticket.probabilities, units, 0
        desk.aside[list(aside)] = 1
        if self.stop == "retry" and self._steps.replace(self.seed, ticket.t, len(aside), short, desk.units, desk.arms, desk.probs, desk.aside):
            tried = tuple(np.flatnonzero(desk.aside).tolist())
            self._again.append(Round(ticket.t, tuple(desk.arms.tolist()), tuple(desk.probs.tolist()), tried))
        else:
            need = sum(play[short] for play in units)
            self.over = f"the game ended in round {ticket.t}: {amount.text(self.left_units[short])} is left, which cannot pay {amount.text(need)}"

    def _check_report(self, ticket: Ticket, reward: Any, cost: Any) -> tuple[list[float], list[list[int]]]:
        plays, resources = len(ticket.arms), len(self._spent)
        if plays == resources == 1 and isinstance(reward, (int, float)) and isinstance(cost, (int, float, str)):
            rewards, units = [float(reward)], [[amount.to_units("cost", cost)]]
        else:
            reward_array, cost_array = np.asarray(reward, np.float64), amount.unit_array("cost", cost)
            if reward_array.size != plays or cost_array.size != plays * resources:
                raise InvalidInput(f"a report needs {plays} rewards and {plays} x {resources} costs, not {reward_array.size} and {cost_array.size}")
            rewards, units = reward_array.ravel().tolist(), cost_array.reshape(plays, resources).tolist()
        for k, arm in enumerate(ticket.arms):
            if not 0 <= rewards[k] <= 1:
                raise invalid("reward", rewards[k], "must lie between 0 and 1")
            for unit, low, high in zip(units[k], self._low[arm], self._high[arm], strict=True):
                if not low <= unit <= high:
                    raise invalid("cost", cost, f"must lie between {amount.text(low)} and {amount.text(high)} for arm {arm}")
        return rewards, units

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, atomically; `Policy.load` continues from it to the same bits."""
        from purse import snapshot

        snapshot.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """A policy as it was saved, with its tickets that are out."""
        from purse import snapshot

        return snapshot.load(path)
