"""What the policy of a campaign has learnt: the fold of the journal's reports, in their order (P5)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from purse import amount, snapshot
from purse.campaign.terms import Terms
from purse.engine.referee import NEVER
from purse.engine.step import DONE, Seat, Slip, steps
from purse.errors import InvalidInput, PurseError
from purse.jit import compile_errors, fingerprint
from purse.live import layout
from purse.simulation import make_game, make_policy
from purse.types import Floats


class Snapshot(NamedTuple):
    """A state of the policy in a storage: a cache, which nothing depends on."""

    seq: int  # of the last entry that is in it
    code: str  # a hash of the code and the parameters that made it
    digest: str  # a hash of its body
    body: bytes


class Mind:
    """A policy that chooses for a campaign and learns from its journal."""

    def __init__(self, terms: Terms) -> None:
        problem = terms.problem
        self.module, params = make_policy(terms.policy, problem)
        game = make_game(self.module, problem, "hold", terms.seed, problem.horizon or NEVER)
        self.terms = terms
        self.seq = 0  # of the last entry that it has seen
        self.code = fingerprint((self.module.update, params))
        self._low = [list(row) for row in terms.cost_min]
        self._high = [list(row) for row in terms.cost_max]
        self._slip = Slip(problem)
        self._zeros = (0,) * problem.n_resources
        self._seat = Seat(params, self.module.init(params, problem, 1), game, self._slip.desk, self._slip.held, problem.cost_min)
        self._paper = [(array.copy(), array) for array in self._seat.state]
        with compile_errors(terms.policy):
            self._steps = steps(self.module, problem, self._seat)

    def choose(self, t: int, left: list[int]) -> tuple[list[int], list[float]]:
        """The arms of round t, and the probability that each was drawn with."""
        desk = self._seat.desk
        with self._unchanged():
            desk.purse[:] = left
            self._steps.ask(self._seat, t)
        return desk.arms.tolist(), desk.probs.tolist()

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        """A policy may use its state as scratch paper while it chooses. Here it is put back: what it has learnt is the fold of the reports, whoever asked."""
        for kept, array in self._paper:
            np.copyto(kept, array)
        try:
            yield
        finally:
            for kept, array in self._paper:
                np.copyto(array, kept)

    def probabilities(self, t: int, left: list[int], out: Floats) -> None:
        """The probability of each arm in round t."""
        if t <= self.terms.initial_rounds:
            out[self.choose(t, left)[0]] = 1.0
        elif self._steps.look is None:
            raise PurseError(f"{self.terms.policy} draws its arm without computing probabilities")
        else:
            with self._unchanged():
                self._seat.desk.purse[:] = left
                self._steps.look(self._seat, t, out)

    def learn(self, told: Iterable[tuple[int, dict[str, Any]]], seq: int) -> None:
        """Take in the reports among the entries up to `seq`, each with the number of its entry; those seen before are left out.

        A report on a ticket whose hold was gone teaches nothing. The policy sees costs within their declared bounds.
        """
        slip, desk, low, high = self._slip, self._seat.desk, self._low, self._high
        pack, words, step, seat, zeros = slip.form.pack_into, slip.words, self._steps.tell, self._seat, self._zeros
        resources = range(len(zeros))
        for number, body in told:
            if number <= self.seq or body["from"] in ("void", "released"):
                continue
            t, arms, costs = body["t"], body["arms"], iter(body["costs"])
            seen = [min(max(next(costs), low[arm][m]), high[arm][m]) for arm in arms for m in resources]
            pack(words, 0, *arms, *body["probabilities"], *zeros, *body["rewards"], *seen)
            desk.purse[:] = amount.LARGEST
            if step(seat, t) != DONE:
                raise PurseError(f"entry {number} of the journal of {self.terms.name!r} holds a report that cannot be")
        self.seq = max(self.seq, seq)

    @property
    def state(self) -> dict[str, Any]:
        """What it has learnt, as arrays."""
        return self._seat.state._asdict()

    def snapshot(self) -> Snapshot:
        """What it has learnt, to be stored."""
        file = io.BytesIO()
        snapshot.write(file, {"seq": self.seq}, self.state)
        body = file.getvalue()
        return Snapshot(self.seq, self.code, sha256(body).hexdigest(), body)

    def recall(self, stored: Snapshot | None) -> bool:
        """Take over a stored state; False, and nothing happens, where it is damaged or was made by other code."""
        if stored is None or stored.code != self.code or sha256(stored.body).hexdigest() != stored.digest:
            return False
        try:
            facts, arrays = snapshot.read(io.BytesIO(stored.body), "the snapshot")
        except InvalidInput:
            return False
        if facts.get("seq") != stored.seq or layout(arrays) != layout(self.state):
            return False
        for name, array in self.state.items():
            array[...] = arrays[name]
        self.seq = stored.seq
        return True
