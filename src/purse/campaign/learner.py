"""What the policy of a campaign has learnt: the fold of the journal's reports, in their order
(P5).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from threading import Timer
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purse.base import amounts
from purse.base.progress import QUIET_S
from purse.campaign.checkpoint import POLICY, Checkpoint, checkpoint
from purse.campaign.contexts import CONTEXT
from purse.campaign.states import OPEN
from purse.campaign.terms import Terms
from purse.compiler.fingerprint import fingerprint
from purse.compiler.jit import compile_errors
from purse.engine.job import make_game, make_policy, sees_contexts
from purse.engine.rules import NEVER
from purse.engine.steps import DONE, CallBuffer, compile_steps, new_game, tell
from purse.errors import InvalidInput, PurseError
from purse.live.save_file import layout
from purse.types import Floats

LOGGER = logging.getLogger(__name__)
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
        self._low = [list(row) for row in terms.floor]
        self._high = [list(row) for row in terms.ceiling]
        self._buffer = CallBuffer(problem)
        self._zeros = (0,) * problem.n_resources
        self.sees_contexts = bool(terms.features) and sees_contexts(self.module)
        self._chooses, self._learns, self._looks = False, False, False  # whether that is compiled
        state, self._whole = in_one(self.module.init(params, problem))
        self._game = new_game(self.module, params, state, game, self._buffer, problem)
        self.code = sha256(
            f"{fingerprint((tell, self.module.update, params))} {layout(self.state)}".encode()
            + self._whole.tobytes()
        ).hexdigest()
        self._steps = compile_steps(self.module, problem, self._game)

    def choose(
        self,
        t: int,
        left: list[int],
        pending: list[int],
        owed: Sequence[int],
        allowed: Sequence[int] | None,
        context: Sequence[float] | None = None,
    ) -> tuple[list[int], list[float]]:
        """Return the arms of round t, and the probability that each was drawn with."""
        space = self._game.workspace
        masked = self._see(left, pending, allowed)
        if self.sees_contexts:
            self._see_context(context)
        if self.terms.initial_rounds:
            space.owed[:] = 0
            space.owed[list(owed)] = 1
        self._steps.ask(t, masked)
        return space.arms.tolist(), space.probs.tolist()

    def _see(self, left: list[int], pending: list[int], allowed: Sequence[int] | None) -> bool:
        """Write what the policy sees; return whether arms are masked."""
        space = self._game.workspace
        space.left_units[:] = left
        if self.terms.pending:
            space.pending[:] = pending
        if allowed is None:
            return False
        space.allowed[:] = False
        space.allowed[list(allowed)] = True
        return True

    def _see_context(self, numbers: Sequence[float] | None) -> None:
        """Write the numbers of a context where the policy looks at them."""
        if numbers is None:
            raise InvalidInput(
                f"the journal of {self.terms.name!r} is without its contexts, and "
                f"{self.terms.policy} sees them: it cannot choose or learn again"
            )
        rows = self._game.workspace.context[:, :-1]
        rows[...] = np.array(numbers, np.float32).reshape(rows.shape)

    def probabilities(
        self,
        t: int,
        left: list[int],
        pending: list[int],
        owed: Sequence[int],
        allowed: Sequence[int] | None,
        context: Sequence[float] | None = None,
    ) -> list[float]:
        """Return the probability of each arm in round t."""
        out: Floats = np.zeros(self.terms.n_arms)
        if any(allowed is None or arm in allowed for arm in owed):
            arms = self.choose(t, left, pending, owed, allowed, context)[0]
            out[[arm for arm in arms if arm >= 0]] = 1.0
        elif self._steps.look is None:
            raise InvalidInput(f"{self.terms.policy} draws its arm without computing probabilities")
        else:
            if self.sees_contexts:
                self._see_context(context)
            self._steps.look(t, self._see(left, pending, allowed), out)
        return out.tolist()

    def begin_period(self, rounds: int) -> None:
        """Let the horizon count from the round after so many; rounds keep their numbers, which
        random numbers are drawn by.
        """
        game, length = self._game.game, self.terms.horizon
        if length is not None and game.horizon != rounds + length:
            self._game = self._game._replace(game=game._replace(horizon=float(rounds + length)))
            self._steps = compile_steps(self.module, self.terms.problem, self._game)

    def compile_ask(self) -> None:
        """Compile what an ask needs, which takes seconds, before a lock is taken.

        The first ask chooses. There may be reports before the next one, which learns, too.
        """
        if not self._chooses:
            with self._compiling():
                _ = self._steps.ask
            self._chooses = True
        elif not self._learns:
            self._compile_tell()

    def _compile_tell(self) -> None:
        with self._compiling():
            _ = self._steps.tell
        self._learns = True

    def compile_look(self) -> None:
        """Compile what `probabilities` needs, before a lock is taken."""
        if self._steps.look is not None and not self._looks:
            self._looks = True
            n_arms = self.terms.n_arms
            self._see(list(self.terms.budget), [0] * n_arms, None)
            with self._compiling():
                self._steps.look(self.terms.initial_rounds + 1, False, np.zeros(n_arms))

    @contextmanager
    def _compiling(self) -> Iterator[None]:
        """Log what is being compiled where that takes long; say in one line why it fails."""
        words = ("%s: compiling %s, once", self.terms.name, self.terms.policy)
        timer = Timer(QUIET_S, LOGGER.info, words)
        timer.daemon = True
        timer.start()
        try:
            with compile_errors(self.terms.policy, self.module):
                yield
        finally:
            timer.cancel()

    def learn(self, told: Iterable[tuple[int, dict[str, Any]]], seq: int, digest: str) -> None:
        """Take in the reports among the entries up to `seq`, each with the number of its entry;
        those seen before are left out. `digest` is that of the journal up to `seq`.

        A report on a ticket whose hold was gone teaches nothing. The policy sees costs within their
        declared bounds, and rewards as parts of their declared range.
        """
        buffer, space, low, high = self._buffer, self._game.workspace, self._low, self._high
        pack, words, zeros = buffer.form.pack_into, buffer.words, self._zeros
        bounds = self.terms.reward_range
        resources = range(len(zeros))
        for number, body in told:
            if number <= self.seq or body["from"] not in OPEN:
                continue
            if not self._learns:
                self._compile_tell()
            t, arms, costs, rewards = body["t"], body["arms"], iter(body["costs"]), body["rewards"]
            if bounds is not None:
                rewards = [scaled(reward, *bounds) for reward in rewards]
            seen = [
                min(max(next(costs), low[arm][m]), high[arm][m]) for arm in arms for m in resources
            ]
            pack(words, 0, *arms, *body["probabilities"], *zeros, *rewards, *seen)
            if self.sees_contexts:
                self._see_context(body.get(CONTEXT))
            space.left_units[:] = amounts.LARGEST  # the ledger guards the budget, not this step
            if self._steps.tell(t) != DONE:
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


def scaled(reward: float, low: float, high: float) -> float:
    """A reward as a part of its range, from 0 to 1.

    >>> scaled(5, 0, 20), scaled(-3, 0, 20), scaled(21, 0, 20)
    (0.25, 0.0, 1.0)
    """
    return min(1.0, max(0.0, (reward - low) / (high - low)))


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
