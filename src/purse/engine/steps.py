"""The steps of a live game, called from Python: what `purse.engine.ask_tell` has as kernels.

They run as plain Python at once, and as machine code once they have been in use for a while.
"""

import logging
import math
from collections.abc import Callable, Sequence
from functools import partial
from struct import Struct
from threading import Thread
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from purse.base.optional import is_installed
from purse.compiler.blocks import Block, Kind, load
from purse.compiler.jit import attach_call, bind, compile_errors
from purse.compiler.kernel import Kernel, in_numpy, plain
from purse.engine.ask_tell import LiveGame, ask, hold, look, replace, tell
from purse.engine.job import scratch_of
from purse.engine.rules import Game
from purse.engine.workspace import Workspace, new_workspace
from purse.errors import PurseError
from purse.types import SKIP, Floats, Ints, Problem

_LOGGER = logging.getLogger(__name__)
_SAMPLE = 1_000  # steps of a journal after which their time is told
_PATIENCE_S = 2.0  # that plain Python may take before steps are compiled, which takes some seconds
step: Any = None  # these are bound by `_Step`
GAME: Any = None  # the kind of the `LiveGame`


class CallBuffer:
    """The memory between Python and the steps: a ticket's arms and holds, its report.

    To the steps these are arrays. Python writes them all at once, in this order, with
    `form.pack_into(words, 0, ...)`: entry by entry it would take three times as long.
    """

    def __init__(self, problem: Problem) -> None:
        self.plays = m = problem.plays
        d = problem.n_resources
        self.form = Struct(f"{m}q{m}d{d}q{m}d{m * d}q")
        self.ticket = Struct(f"{m}q{m}d{d}q")  # the first part of it
        words = np.zeros(self.form.size // 8, np.int64)
        arms, probs, held, rewards, units = np.split(words, np.cumsum([m, m, d, m]))
        self.words = words.data
        self.held = held
        self.workspace = new_workspace(problem)._replace(
            arms=arms,
            probs=probs.view(np.float64),
            rewards=rewards.view(np.float64),
            units=units.reshape(m, d),
        )
        self.context = self.workspace.context.data
        # each row of the context ends with a constant, which stays
        width, rows = problem.n_features, len(self.workspace.context)
        self.rows = [(slice(k * width, (k + 1) * width), 8 * k * (width + 1)) for k in range(rows)]
        self.row = Struct(f"{width}d")

    def read_ticket(self) -> tuple[tuple[int, ...], tuple[float, ...], tuple[int, ...]]:
        """Return arms, probabilities and holds."""
        m, values = self.plays, self.ticket.unpack_from(self.words)
        return values[:m], values[m : 2 * m], values[2 * m :]

    def write_context(self, numbers: Sequence[float]) -> None:
        """Write the numbers of a context, (F,) or (K F,), for the policy."""
        for part, offset in self.rows:
            self.row.pack_into(self.context, offset, *numbers[part])

    def pack_fewer(
        self,
        arms: Sequence[int],
        probs: Sequence[float],
        held: Sequence[int],
        rewards: Sequence[float],
        units: Sequence[int],
    ) -> None:
        """Write a report on fewer plays than there may be: the last ones were skipped."""
        skipped = self.plays - len(arms)
        self.form.pack_into(
            self.words,
            0,
            *(*arms, *[SKIP] * skipped),
            *(*probs, *[1.0] * skipped),
            *held,
            *(*rewards, *[0.0] * skipped),
            *(*units, *[0] * (skipped * len(held))),
        )


class _Step:
    """A step of games of one kind: plain Python, and machine code once that is there.

    plain     takes the game and what follows
    machine   takes the address of the game's block instead
    """

    def __init__(self, step: Kernel, at: Callable[..., int], kind: Kind, *example: Any) -> None:
        self.plain = plain(step)
        self.machine: Callable[..., int] | None = None
        self._bound, self._example = partial(bind, at, step=step, GAME=kind), example

    def compile(self) -> None:
        """Have machine code, from the disk cache or compiled now."""
        if self.machine is None:
            self.machine = self._bound().direct(0, *self._example)


class _StepsOfKind:
    """The steps of one policy for games of one kind; `look` is None without probabilities."""

    def __init__(self, name: str, look: _Step | None, ask: _Step, tell: _Step) -> None:
        self.name, self.look, self.ask, self.tell = name, look, ask, tell
        self._spent = 0.0  # seconds of plain Python
        self._sample: list[float] | None = None  # seconds of the first steps of a journal
        self._thread: Thread | None = None

    def compile(self) -> None:
        """Have machine code of all of them."""
        for step in (self.ask, self.tell, self.look):
            if step is not None:
                step.compile()

    def expect_many(self) -> None:
        """Expect a whole journal: say about how long that takes if there is no compiler."""
        if not is_installed("numba"):
            self._sample = []

    def took(self, seconds: float) -> None:
        """Count a step of plain Python; compile in the background once they add up."""
        self._spent += seconds
        if self._sample is not None:
            self._sample.append(seconds)
            if len(self._sample) == _SAMPLE:
                _LOGGER.warning(
                    "plain Python takes %.1f s for %d steps of %s, numba a hundredth of it: "
                    "pip install 'purse-bandits[lab]'",
                    *(sum(self._sample), _SAMPLE, self.name),
                )
                self._sample = None
        # a child has none of the threads of its parent
        at_work = self._thread is not None and self._thread.is_alive()
        if self._spent > _PATIENCE_S and not at_work and is_installed("numba"):
            self._thread = Thread(target=self._compile_quietly, name="purse-compile")
            self._thread.start()

    def _compile_quietly(self) -> None:
        """Compile; go on in plain Python if that fails."""
        try:
            self.compile()
        except Exception as error:
            self._spent = -math.inf  # not again
            _LOGGER.warning("steps of %s stay in plain Python: %s", self.name, error)


class _Steps:
    """The steps of one live game.

    look      takes the round, whether arms are masked, and where to write; None: the policy cannot
              tell its probabilities
    ask       takes the round, and whether arms are masked
    tell      takes the round
    hold, replace   as the functions of these names
    """

    def __init__(self, kind: _StepsOfKind, live: LiveGame, block: Block) -> None:
        self._kind, self._block = kind, block
        self._live = live._replace(params=in_numpy(live.params))
        self.look: Callable[[int, bool, Floats], int] | None = (
            partial(self._do, "look", kind.look) if kind.look else None
        )
        self.ask: Callable[[int, bool], int] = partial(self._do, "ask", kind.ask)
        self.tell: Callable[[int], int] = partial(self._do, "tell", kind.tell)
        self.hold: Callable[[Game, Workspace, Ints], int] = plain(hold)
        self.replace: Callable[..., bool] = plain(replace)

    def expect_many(self) -> None:
        """Expect a whole journal: say about how long that takes if there is no compiler."""
        self._kind.expect_many()

    def _do(self, name: str, step: _Step, *args: Any) -> int:
        """Do a step by the quickest way there is."""
        if step.machine is not None:
            code = partial(step.machine, self._block.address)
            setattr(self, name, code)  # from now on without a look at what there is
            return code(*args)
        began = perf_counter()
        try:
            outcome = int(step.plain(self._live, *args))
        except Exception as error:
            raise PurseError(
                f"{self._kind.name} fails as plain Python, {type(error).__name__}: {error}; "
                "`purse.testing.check_policy` tells more"
            ) from error
        self._kind.took(perf_counter() - began)
        return outcome


def new_game(
    policy: ModuleType, params: Any, state: Any, game: Game, buffer: CallBuffer, problem: Problem
) -> LiveGame:
    """Put together what the steps of one live policy work on."""
    scratch, space = scratch_of(policy, params, problem), buffer.workspace
    held, horizon = buffer.held, np.array([game.horizon])
    return LiveGame(params, state, scratch, game, space, held, problem.cost_min, 0, horizon)


def _look_at(block: int, t: int, masked: bool, out: Floats) -> int:
    return int(step(load(block, GAME), t, masked, out))


def _ask_at(block: int, t: int, masked: bool) -> int:
    return int(step(load(block, GAME), t, masked))


def _tell_at(block: int, t: int) -> int:
    return int(step(load(block, GAME), t))


_steps: dict[tuple[Any, ...], _StepsOfKind] = {}


def make_steps(policy: ModuleType, live: LiveGame) -> _Steps:
    """Return the steps of a live game, which work on the arrays of `live`.

    They run as plain Python at first, those of a policy that says `COMPILED` as machine code. Games
    of one kind share them, and find them by their parts.
    """
    block = Block(live)
    initial = live.game.initial_rounds > 0
    shows = getattr(policy, "probabilities", None)
    parts = (policy.choose, policy.update, shows, initial, block.kind)
    if parts not in _steps:
        asks = attach_call(ask, choose=policy.choose, INITIAL_PULLS=initial)
        tells = attach_call(tell, update=policy.update)
        looks = attach_call(look, probabilities=shows) if shows else None
        _steps[parts] = _StepsOfKind(
            policy.NAME,
            _Step(looks, _look_at, block.kind, 1, False, np.zeros(1)) if looks else None,
            _Step(asks, _ask_at, block.kind, 1, False),
            _Step(tells, _tell_at, block.kind, 1),
        )
    if getattr(policy, "COMPILED", False):
        with compile_errors(policy.NAME, policy):
            _steps[parts].compile()
    return _Steps(_steps[parts], live, block)
