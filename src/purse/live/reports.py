"""Reports on the tickets of a live policy, and voids."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from purse.base import amounts
from purse.engine.steps import DONE, WRONG, CallBuffer, LiveGame, Steps
from purse.live.account import Account, Round, read_choice
from purse.types import Ticket


class Reports(Account):
    """An account whose tickets are reported, and a policy that learns from the reports."""

    gain: float
    over: str
    stop: str
    _game: LiveGame
    _buffer: CallBuffer
    _steps: Steps
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
        Raise `TicketError` when the ticket is not open.
        """
        self._lock.acquire()
        try:
            ticket, issued = self._find(ticket)
            rewards, units = self._read_report(len(ticket.arms), reward, cost)
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

    def void(self, ticket: Ticket) -> None:
        """Cancel a ticket: release its hold and learn nothing.

        The next ask repeats an initial pull that was cancelled.

        Raise `TicketError` when the ticket is not open.
        """
        with self._lock:
            ticket, issued = self._find(ticket)
            del self._open[ticket.id]
            self._contexts.pop(ticket.id, None)
            if self._counts_pending:
                self._count_pending(ticket.arms, -1)
            self._left_units[:] += ticket.held_units
            if ticket.t in self._initial:
                self._again.append(issued or Round(*ticket[1:4]))

    def _count_pending(self, arms: tuple[int, ...], change: int) -> None:
        pending = self._game.workspace.pending
        for arm in arms:
            pending[arm] += change

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
