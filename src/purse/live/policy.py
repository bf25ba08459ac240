"""`purse.Policy`: a policy in memory that is asked which arm to pull and told what came of it."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import fields
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse import policies
from purse.base import amounts
from purse.base.spec import absolute
from purse.compiler.jit import compile_errors
from purse.engine.job import make_game, make_policy
from purse.engine.rules import NEVER
from purse.engine.steps import DONE, NO_PULL, WRONG, CallBuffer, LiveGame, steps
from purse.errors import AskRefused, BudgetExhausted, HorizonReached, InvalidInput, PurseError
from purse.live import save_file
from purse.live.account import Account
from purse.live.save_file import layout
from purse.policies import DEFAULT
from purse.types import STOP, Floats, Problem, Ticket

_SAVED = ("name", "seed", "stop", "t", "gain", "over", "_next_id")  # what `save` takes as it is


class Round(NamedTuple):
    """A round that is out, or that has to be asked for again."""

    t: int
    arms: tuple[int, ...]
    probabilities: tuple[float, ...]
    excluded: tuple[int, ...] = ()  # rule `retry`: the arms that could not be paid in this round


class Policy(Account):
    """A live policy. Never spends more than its budget, whatever is asked, told and voided, and in
    whatever order.

    `ask` returns a `Ticket`; `tell` reports what it brought and cost; `void` cancels it. Several
    tickets may be out at once, and several threads may ask and tell.
    """

    def __init__(
        self,
        policy: str | ModuleType = DEFAULT,
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

    @classmethod
    def of(cls, problem: Problem, policy: str | ModuleType, *, seed: int, stop: str) -> Policy:
        """A live policy for a problem that is put together already."""
        made = cls.__new__(cls)
        made._begin(policy, problem, seed, stop)
        return made

    def __repr__(self) -> str:
        return (
            f"<Policy {self.name}: round {self.t}, spent {self.spent}, held {self.held}, left "
            f"{self.left}, stop={self.stop}>"
        )

    def _begin(self, policy: str | ModuleType, problem: Problem, seed: int, stop: str) -> None:
        module, self._params = make_policy(policy, problem)
        self.name = policy if isinstance(policy, str) else file_of(module) or module.NAME
        self.t = 0  # rounds asked for so far
        self.gain = 0.0
        self.over = ""  # why the game has ended, once it has
        game = make_game(module, problem, stop, seed, problem.horizon or NEVER)
        self.seed, self.stop = game.seed, stop
        self._slip = CallBuffer(problem)
        self._seat = LiveGame(
            self._params,
            module.init(self._params, problem, 1),
            game,
            self._slip.desk,
            self._slip.held,
            problem.cost_min,
        )
        with compile_errors(self.name):
            self._steps = steps(module, problem, self._seat)
        super().__init__(problem, self._seat.workspace.left_units)
        self._again: deque[Round] = deque()  # rounds that have to be asked for again

    @property
    def _state(self) -> Any:
        """What the policy has learnt, a NamedTuple of arrays."""
        return self._seat.state

    def probabilities(self) -> Floats:
        """(K,) The probability of each arm in the next round; they sum to `plays`, and are 0 and 1
        during the initial pulls.
        """
        with self._lock:
            out = np.zeros(self.problem.n_arms)
            if self._again or self.t < self._seat.game.initial_rounds:
                out[list(self._peek().arms)] = 1.0
            elif self._steps.look is None:
                raise PurseError(f"{self.name} draws its arm without computing probabilities")
            else:
                self._steps.look(self._seat, self.t + 1, out)
            return out

    def _peek(self) -> Round:
        """The round that the next ask is for."""
        if self._again:
            return self._again[0]
        t, left = self._next_round(), self._purse.copy()
        self._steps.ask(self._seat, t)
        self._purse[:] = left
        return self._on_desk(t)

    def _on_desk(self, t: int, aside: tuple[int, ...] = ()) -> Round:
        desk = self._seat.workspace
        return Round(t, tuple(desk.arms.tolist()), tuple(desk.probs.tolist()), aside)

    def _next_round(self) -> int:
        if self.t == self._seat.game.last_round:
            raise HorizonReached(f"all {self.t} rounds of the horizon have been asked for")
        return self.t + 1

    def _check_skip(self, ticket: Ticket) -> None:
        """Let a round pass that the policy skips where it may; refuse all else that is no arm."""
        if ticket.arm == STOP or (ticket.skipped and not self._seat.game.may_skip):
            raise AskRefused(f"{self.name} has ended the game after {self.t} rounds")
        if not ticket.skipped:
            raise PurseError(
                f"{self.name} chose no arm, or one that does not exist, in round {ticket.t}"
            )

    def ask(self) -> Ticket:
        """A ticket for the next round. Raises `BudgetExhausted` when the budget cannot cover it;
        then nothing has changed.
        """
        self._lock.acquire()  # by hand, here and in `tell`: `with` takes twice the time
        try:
            if self.over:
                raise BudgetExhausted(self.over)
            seat = self._seat
            desk = seat.workspace
            aside: tuple[int, ...] = ()
            if self._again:
                t, desk.arms[:], desk.probs[:], aside = self._again[0]
                outcome = self._steps.hold(seat.game, desk, seat.held)
            else:
                t = self._next_round()
                outcome = self._steps.ask(seat, t)
            ticket = Ticket(
                self._next_id,
                t,
                tuple(desk.arms.tolist()),
                tuple(desk.probs.tolist()),
                tuple(seat.held.tolist()),
            )
            if outcome == DONE:
                self._open[ticket.id] = ticket, aside
            elif outcome == NO_PULL:
                self._check_skip(ticket)
            else:
                raise BudgetExhausted(self._why_refused(ticket, outcome))
            if self._again:
                self._again.popleft()
            else:
                self.t = t
            self._next_id += 1
            return ticket
        finally:
            self._lock.release()

    def tell(self, ticket: Ticket, reward: Any, cost: Any) -> bool:
        """Report what a ticket brought and cost (with several plays or resources: one entry each).

        Returns True when it was paid. Under the stop rules `exit` and `retry` a cost that the rest
        of the budget cannot pay does not count and is not learnt from: `exit` ends the game there,
        `retry` asks for another arm.
        """
        self._lock.acquire()
        try:
            ticket, aside = self._find(ticket)
            rewards, units = self._read_report(reward, cost)
            slip = self._slip
            slip.form.pack_into(
                slip.words,
                0,
                *ticket.arms,
                *ticket.probabilities,
                *ticket.held_units,
                *rewards,
                *units,
            )
            # first: whatever interrupts what follows, no ticket pays twice
            del self._open[ticket.id]
            outcome = self._steps.tell(self._seat, ticket.t)
            if outcome == DONE:
                for gained in rewards:
                    self.gain += gained
                return True
            if outcome <= WRONG:
                self._open[ticket.id] = ticket, aside
                raise self._out_of_bounds(ticket, rewards, cost, WRONG - outcome)
            self._refuse(ticket, outcome, aside)
            return False
        finally:
            self._lock.release()

    def _refuse(self, ticket: Ticket, short: int, aside: tuple[int, ...]) -> None:
        desk = self._seat.workspace
        desk.excluded[:] = 0
        desk.excluded[list(aside)] = 1
        need = int(desk.units[:, short].sum())
        if self.stop == "retry" and self._steps.replace(
            self._seat.game, ticket.t, len(aside), short, desk
        ):
            tried = tuple(np.flatnonzero(desk.excluded).tolist())
            self._again.append(self._on_desk(ticket.t, tried))
        else:
            self.over = (
                f"the game ended in round {ticket.t}: {amounts.text(self.left_units[short])} "
                f"is left, which cannot pay {amounts.text(need)}"
            )

    def void(self, ticket: Ticket) -> None:
        """Cancel a ticket: its hold is released and nothing is learnt. An initial pull is asked for
        again.
        """
        with self._lock:
            ticket, aside = self._find(ticket)
            del self._open[ticket.id]
            self._purse[:] += ticket.held_units
            if ticket.t <= self._seat.game.initial_rounds:
                self._again.append(Round(ticket.t, ticket.arms, ticket.probabilities, aside))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file, atomically; `Policy.load` continues from it to the same
        bits.
        """
        with self._lock:
            problem = {
                field.name: getattr(self.problem, field.name) for field in fields(self.problem)
            }
            facts = {
                "problem": {
                    name: value.tolist() if isinstance(value, np.ndarray) else value
                    for name, value in problem.items()
                },
                "tickets": list(self._open.values()),
                "again": list(self._again),
                "left": self.left_units,
                **{name: getattr(self, name) for name in _SAVED},
                "name": absolute(self.name),
            }
            save_file.save(path, facts, self._state._asdict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """A policy as it was saved, with its tickets that are out."""
        facts, arrays = save_file.load(path)
        try:
            return cls._restored(facts, arrays)
        except (KeyError, TypeError, ValueError) as error:
            detail = str(error) if isinstance(error, InvalidInput) else "it is not a saved policy"
            raise InvalidInput(f"cannot load {str(path)!r}: {detail}") from error

    @classmethod
    def _restored(cls, facts: dict[str, Any], arrays: dict[str, Any]) -> Policy:
        known: dict[str, Any] = {
            name: np.array(value) if isinstance(value, list) else value
            for name, value in facts["problem"].items()
        }
        policy = cls.of(Problem(**known), facts["name"], seed=facts["seed"], stop=facts["stop"])
        for name in _SAVED:
            setattr(policy, name, facts[name])
        if layout(policy._state._asdict()) != layout(arrays):
            raise InvalidInput(
                f"it holds a state of {policy.name} that this version of the policy does not have"
            )
        policy._seat = policy._seat._replace(state=type(policy._state)(**arrays))
        policy._open = {
            ticket[0]: (Ticket(*ticket[:2], *map(tuple, ticket[2:])), tuple(aside))
            for ticket, aside in facts["tickets"]
        }
        if not all(policy._can_be_out(ticket) for ticket in policy.tickets):
            raise InvalidInput("it holds a ticket that does not fit its problem")
        policy._purse[:] = facts["left"]
        policy._again = deque(Round(t, *map(tuple, rest)) for t, *rest in facts["again"])
        return policy


def file_of(module: ModuleType) -> str | None:
    """The file of a policy that is not one of ours."""
    return (
        None
        if module.__name__.startswith(f"{policies.__name__}.")
        else getattr(module, "__file__", None)
    )
