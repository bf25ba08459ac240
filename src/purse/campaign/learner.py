"""What the policy of a campaign has learnt: the fold of the journal's reports, in their order
(P5).
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purse.base import amounts
from purse.campaign.checkpoint import POLICY, Checkpoint, checkpoint
from purse.campaign.states import OPEN
from purse.campaign.terms import Terms
from purse.compiler.fingerprint import fingerprint
from purse.compiler.jit import compile_errors
from purse.engine.job import make_game, make_policy
from purse.engine.rules import NEVER
from purse.engine.steps import DONE, CallBuffer, compile_steps, new_game, tell
from purse.errors import PurseError
from purse.live.save_file import layout
from purse.types import Floats

WORD = 8  # bytes


class Learner:
    """A policy that chooses for a campaign and learns from its journal."""

    def __init__(self, terms: Terms) -> None:
        problem = terms.problem
        self.module, params = make_policy(terms.policy, problem)
        game = make_game(self.module, problem, terms.seed, problem.horizon or NEVER)
        self.terms = terms
        self.seq = 0  # of the last entry that it has seen
        self.digest = ""  # of the journal up to that entry
        self._low = [list(row) for row in terms.cost_min]
        self._high = [list(row) for row in terms.cost_max]
        self._buffer = CallBuffer(problem)
        self._zeros = (0,) * problem.n_resources
        state, self._whole = in_one(self.module.init(params, problem))
        self._game = new_game(self.module, params, state, game, self._buffer, problem)
        self.code = sha256(
            f"{fingerprint((tell, self.module.update, params))} {layout(self.state)}".encode()
            + self._whole.tobytes()
        ).hexdigest()
        with compile_errors(terms.policy):
            self._steps = compile_steps(self.module, problem, self._game)

    def choose(self, t: int, left: list[int], pending: list[int]) -> tuple[list[int], list[float]]:
        """Return the arms of round t, and the probability that each was drawn with."""
        space = self._game.workspace
        self._see(left, pending)
        space.owed[:] = 0  # the initial pulls up to round t have been asked for
        if t <= self.terms.initial_rounds:
            space.owed[(t - 1) * len(space.arms) :] = 1
        self._steps.ask(t, False)
        return space.arms.tolist(), space.probs.tolist()

    def _see(self, left: list[int], pending: list[int]) -> None:
        space = self._game.workspace
        space.left_units[:] = left
        if self.terms.pending:
            space.pending[:] = pending

    def probabilities(self, t: int, left: list[int], pending: list[int], out: Floats) -> None:
        """Write the probability of each arm in round t."""
        if t <= self.terms.initial_rounds:
            out[self.choose(t, left, pending)[0]] = 1.0
        elif self._steps.look is None:
            raise PurseError(f"{self.terms.policy} draws its arm without computing probabilities")
        else:
            self._see(left, pending)
            self._steps.look(t, False, out)

    def compile_look(self) -> None:
        """Compile what `probabilities` needs, which takes seconds, before a lock is taken."""
        if self._steps.look is not None:
            self._see(list(self.terms.budget), [0] * len(self.terms.arms))
            self._steps.look(self.terms.initial_rounds + 1, False, np.zeros(len(self.terms.arms)))

    def learn(self, told: Iterable[tuple[int, dict[str, Any]]], seq: int, digest: str) -> None:
        """Take in the reports among the entries up to `seq`, each with the number of its entry;
        those seen before are left out. `digest` is that of the journal up to `seq`.

        A report on a ticket whose hold was gone teaches nothing. The policy sees costs within their
        declared bounds.
        """
        buffer, space, low, high = self._buffer, self._game.workspace, self._low, self._high
        pack, words, zeros = buffer.form.pack_into, buffer.words, self._zeros
        step = self._steps.tell
        resources = range(len(zeros))
        for number, body in told:
            if number <= self.seq or body["from"] not in OPEN:
                continue
            t, arms, costs = body["t"], body["arms"], iter(body["costs"])
            seen = [
                min(max(next(costs), low[arm][m]), high[arm][m]) for arm in arms for m in resources
            ]
            pack(words, 0, *arms, *body["probabilities"], *zeros, *body["rewards"], *seen)
            space.left_units[:] = amounts.LARGEST  # the ledger guards the budget, not this step
            if step(t) != DONE:
                raise PurseError(
                    f"entry {number} of the journal of {self.terms.name!r} holds an "
                    "impossible report (reward or cost out of range)"
                )
        if seq >= self.seq:
            self.seq, self.digest = seq, digest

    @property
    def state(self) -> dict[str, Any]:
        """What it has learnt, as arrays."""
        return self._game.state._asdict()

    def checkpoint(self) -> Checkpoint:
        """What it has learnt, to be stored, with a hash of the code and the parameters that made it
        and of its layout.
        """
        body = f"{self.code}\n".encode() + self._whole.tobytes()
        return checkpoint(POLICY, self.seq, self.digest, body)

    def restore(self, stored: Checkpoint | None) -> bool:
        """Take over a stored state; False, and nothing happens, where it is damaged or was made by
        other code.
        """
        if stored is None or not stored.is_whole:
            return False
        code, _, state = stored.body.partition(b"\n")
        if code.decode() != self.code or len(state) != self._whole.nbytes:
            return False
        self._whole[:] = np.frombuffer(state, np.uint8)
        self.seq, self.digest = stored.seq, stored.digest
        return True


def in_one(state: Any) -> tuple[Any, NDArray[np.uint8]]:
    """A state whose arrays lie behind one another in one block, and the block: it is copied in one
    go.
    """
    places = np.cumsum([0, *(-(-array.nbytes // WORD) * WORD for array in state)])
    whole = np.zeros(places[-1], np.uint8)
    parts = [
        whole[place : place + array.nbytes].view(array.dtype).reshape(array.shape)
        for place, array in zip(places, state, strict=False)
    ]
    for part, array in zip(parts, state, strict=True):
        part[...] = array
    return type(state)(*parts), whole
