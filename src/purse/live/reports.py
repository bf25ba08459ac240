"""What is reported of the tickets of a live policy: rewards, costs, failures and voids.

A report may come in two parts, the cost and the reward. A settled ticket stays open for its reward:
its hold is then exactly its cost, and counts as spent. So the compiled step `tell`, which gives
back a hold, pays and learns, takes it like any other ticket.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from purse.base import amounts
from purse.engine.steps import DONE, WRONG, CallBuffer, CompiledSteps, LiveGame
from purse.errors import Conflict
from purse.live.account import Account, Part, Round, read_choice
from purse.types import Ticket


class Reports(Account):
    """An account whose tickets are reported, and a policy that learns from the reports."""

    gain: float
    over: str
    stop: str
    _game: LiveGame
    _buffer: CallBuffer
    _steps: CompiledSteps
    _counts_pending: bool
    _sees: bool  # whether there are contexts and the policy looks at them
    _initial: set[int]
    _again: deque[Round]

    def tell(self, ticket: Ticket, reward: Any, cost: Any) -> bool:
        """Report the reward and the cost of a ticket, and return whether the pull was paid.

        reward   from 0 to 1; with several plays one for each, shape (m,)
        cost     between `cost_min` and `cost_max`; with several plays or resources shape (m, d)

        Under the stop rules `exit` and `retry` the rest of the budget may be too small for a cost.
        Such a pull does not count and is not learnt from: `exit` ends the game, `retry` asks for
        another arm.

        Raise `InvalidInput` when a number is out of range; then the ticket stays open.
        Raise `Conflict` when the cost or the reward was reported before and was another one; the
        first report stands, and the ticket stays open.
        Raise `TicketError` when the ticket is not open.
        """
        self._lock.acquire()
        try:
            ticket, issued = self._find(ticket)
            rewards, units = self._read_report(len(ticket.arms), reward, cost)
            if self._parts and ticket.id in self._parts:
                ticket = self._join(ticket, issued, rewards, units, cost)
            buffer = self._buffer
            _, t, arms, probs, held = ticket
            if len(arms) == buffer.plays:
                buffer.form.pack_into(buffer.words, 0, *arms, *probs, *held, *rewards, *units)
            else:
                buffer.pack_fewer(arms, probs, held, rewards, units)
            # first: whatever interrupts what follows, no ticket pays twice
            del self._open[ticket.id]
            if self._sees:
                self._see(self._contexts[ticket.id])
            outcome = self._steps.tell(t)
            if outcome <= WRONG:
                self._open[ticket.id] = ticket, issued
                raise self._out_of_bounds(ticket, rewards, cost, WRONG - outcome)
            if self._sees:
                del self._contexts[ticket.id]
            if self._counts_pending:
                self._count_pending(arms, -1)
            if outcome == DONE:
                for gained in rewards:
                    self.gain += gained
                return True
            self._refuse(issued or Round(*ticket[1:4]), outcome)
            return False
        finally:
            self._lock.release()

    @abstractmethod
    def _see(self, numbers: Sequence[float]) -> None:
        """Write the numbers of a context where the policy looks at them."""

    def settle(self, ticket: Ticket, cost: Any) -> bool:
        """Report the cost of a ticket whose reward is not known yet; return whether it was paid.

        cost   as for `tell`

        The cost is spent and the rest of the hold is released at once. The ticket stays open for
        `reward`, and the policy learns when both are known. A repeat changes nothing.

        Under the stop rules `exit` and `retry` a cost may not fit; then this does what `tell` does.

        Raise `InvalidInput` when an amount is out of range; then nothing has changed.
        Raise `Conflict` when another cost was reported before; the first report stands.
        Raise `TicketError` when the ticket is not open.
        """
        with self._lock:
            ticket, issued = self._find(ticket)
            units = self._read_costs(ticket, cost, self.problem.cost_min)
            part = self._parts.get(ticket.id)
            if part is None:
                return self._settle(ticket, issued, units)
            if part.rewards is not None:
                return self._tell_both(ticket, part.rewards, units)
            if part.units != units:
                raise self._conflict(ticket, self._said(None, units))
            return True

    def reward(self, ticket: Ticket, reward: Any) -> None:
        """Report the reward of a ticket, before or after its cost.

        reward   as for `tell`

        The policy learns when the cost is known, too, with the round and the probability of the
        ticket. It learns nothing from a ticket that is voided or fails. A repeat changes nothing.

        Raise `InvalidInput` when a number is out of range; then nothing has changed.
        Raise `Conflict` when another reward was reported before; the first report stands.
        Raise `TicketError` when the ticket is not open.
        """
        with self._lock:
            ticket, _ = self._find(ticket)
            rewards = self._read_rewards(ticket, reward)
            part = self._parts.get(ticket.id)
            if part is None:
                self._parts[ticket.id] = Part(rewards=rewards)
            elif part.units is not None:
                self._tell_both(ticket, rewards, part.units)
            elif part.rewards != rewards:
                raise self._conflict(ticket, self._said(rewards, None))

    def fail(self, ticket: Ticket, cost: Any = 0) -> bool:
        """Report that the call of a ticket did not work; return whether its cost was paid.

        cost   what it cost all the same: from 0 to `cost_max`, also below `cost_min`; shapes as for
               `tell`, and 0 stands for all plays and resources

        The cost is spent, the rest of the hold is released, and nothing is learnt. The next ask
        repeats an initial pull that failed.

        Under the stop rules `exit` and `retry` a cost may not fit; then this does what `tell` does.

        Raise `InvalidInput` when an amount is out of range; then nothing has changed.
        Raise `Conflict` when the ticket was settled before.
        Raise `TicketError` when the ticket is not open.
        """
        with self._lock:
            ticket, issued = self._find(ticket)
            units = self._read_costs(ticket, cost, None)
            if self._settled_units(ticket) is not None:
                raise self._conflict(ticket, f"failed, {self._said(None, units)}")
            return self._drop(ticket, issued, units)

    def void(self, ticket: Ticket) -> None:
        """Cancel a ticket: release its hold and learn nothing.

        The next ask repeats an initial pull that was cancelled.

        Raise `Conflict` when the ticket was settled before.
        Raise `TicketError` when the ticket is not open.
        """
        with self._lock:
            ticket, issued = self._find(ticket)
            if self._settled_units(ticket) is not None:
                raise self._conflict(ticket, "void")
            self._drop(ticket, issued, (0,) * self.problem.n_resources)

    def _settle(self, ticket: Ticket, issued: Round | None, units: tuple[int, ...]) -> bool:
        """Pay a cost and keep the ticket open; close it where a resource is short."""
        short = self._short_of(ticket, units)
        if short is not None:
            self._close(ticket)
            self._refuse_cost(ticket, issued, units, short)
            return False
        # in this order: whatever interrupts it, no unit is free twice
        self._left_units[:] -= self._total(units)
        self._parts[ticket.id] = Part(units=units)
        self._left_units[:] += ticket.held_units
        return True

    def _drop(self, ticket: Ticket, issued: Round | None, units: tuple[int, ...]) -> bool:
        """Close a ticket that nothing is learnt from, and pay what it cost unless it is short."""
        short = self._short_of(ticket, units)
        self._close(ticket)
        if short is not None:
            self._refuse_cost(ticket, issued, units, short)
            return False
        self._left_units[:] += np.subtract(ticket.held_units, self._total(units))
        if ticket.t in self._initial:
            self._again.append(issued or Round(*ticket[1:4]))
        return True

    def _close(self, ticket: Ticket) -> None:
        del self._open[ticket.id]
        self._parts.pop(ticket.id, None)
        self._contexts.pop(ticket.id, None)
        if self._counts_pending:
            self._count_pending(ticket.arms, -1)

    def _count_pending(self, arms: tuple[int, ...], change: int) -> None:
        pending = self._game.workspace.pending
        for arm in arms:
            pending[arm] += change

    def _short_of(self, ticket: Ticket, units: Sequence[int]) -> int | None:
        """Return the first resource of which hold and rest together cannot pay a cost."""
        parts = zip(self._total(units), ticket.held_units, self.left_units, strict=True)
        return next((m for m, (paid, held, left) in enumerate(parts) if paid > held + left), None)

    def _refuse_cost(
        self, ticket: Ticket, issued: Round | None, units: Sequence[int], short: int
    ) -> None:
        """Do what `tell` does with a cost that does not fit."""
        _, _, arms, probs, held = ticket
        self._buffer.pack_fewer(arms, probs, held, [0.0] * len(arms), units)
        self._refuse(issued or Round(*ticket[1:4]), short)

    def _refuse(self, issued: Round, short: int) -> None:
        space = self._game.workspace
        space.excluded[:] = 0
        space.excluded[list(issued.excluded)] = 1
        need = int(space.units[:, short].sum())
        if self.stop == "retry" and self._steps.replace(
            self._game.game, issued.t, issued.attempt, short, space
        ):
            tried = tuple(np.flatnonzero(space.excluded).tolist())
            self._again.append(Round(issued.t, *read_choice(space), tried, issued.attempt + 1))
        else:
            self.over = (
                f"the game ended in round {issued.t}: {amounts.text(self.left_units[short])} "
                f"is left, which cannot pay {amounts.text(need)}"
            )

    def _tell_both(
        self, ticket: Ticket, rewards: tuple[float, ...], units: tuple[int, ...]
    ) -> bool:
        """Tell a report whose two parts are known by now."""
        costs = np.reshape([amounts.text(paid) for paid in units], (len(ticket.arms), -1))
        return self.tell(ticket, rewards, costs)

    def _join(
        self,
        ticket: Ticket,
        issued: Round | None,
        rewards: Sequence[float],
        units: Sequence[int],
        cost: Any,
    ) -> Ticket:
        """Return a ticket of which a part is known, with what it holds now.

        Refuse a whole report that is out of bounds or says something else.
        """
        self._check_rewards(ticket, rewards)
        self._check_costs(ticket, units, cost, self.problem.cost_min)
        part, report = self._parts[ticket.id], Part(tuple(rewards), tuple(units))
        if part.rewards not in (None, report.rewards) or part.units not in (None, report.units):
            raise self._conflict(ticket, self._said(*report))
        if part.units is not None:
            ticket = ticket._replace(held_units=self._total(part.units))
            self._open[ticket.id] = ticket, issued
        del self._parts[ticket.id]
        return ticket

    def _conflict(self, ticket: Ticket, said: str) -> Conflict:
        part = self._parts[ticket.id]
        return Conflict(
            f"ticket {ticket.id} was {'settled' if part.rewards is None else 'rewarded'} before: "
            f"{self._said(*part)}; the first report stands, and this one is refused: {said}"
        )

    def _said(self, rewards: Sequence[float] | None, units: Sequence[int] | None) -> str:
        """Return a report, or a part of one, for people."""
        parts = []
        if rewards is not None:
            parts.append("reward " + ", ".join(map(str, rewards)))
        if units is not None:
            parts.append("cost " + ", ".join(map(amounts.text, units)))
        return ", ".join(parts)
