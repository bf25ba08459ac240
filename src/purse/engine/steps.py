"""The loop's steps one at a time, for live use: the same kernels, called from Python.

They run as plain Python, at once, and as machine code once they have been in use for a while.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from functools import partial
from struct import Struct
from threading import Thread
from time import perf_counter
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse.base.optional import is_installed
from purse.compiler.blocks import Block, Kind, load
from purse.compiler.jit import attach_call, bind, compile_errors
from purse.compiler.kernel import Kernel, kernel
from purse.compiler.plain import in_numpy, plain
from purse.engine.job import scratch_of
from purse.engine.rounds import UNSET
from purse.engine.rules import (
    FIT,
    HOLD,
    Game,
    breaks_mask,
    keep_fitting,
    owed_pull,
    replace_arm,
    settle_owed,
    short_of,
    skip_unfitting,
)
from purse.engine.workspace import (
    Workspace,
    hold_short_of,
    is_played,
    new_workspace,
    out_of_range,
    pay,
    scale_left,
)
from purse.errors import PurseError
from purse.kernels.random import POLICY, REFEREE, at, stream
from purse.types import SKIP, Floats, Ints, Now, Play, Problem

LOGGER = logging.getLogger(__name__)
SAMPLE = 1_000  # steps of a journal after which their time is told
PATIENCE_S = 2.0  # that plain Python may take before steps are compiled, which takes some seconds
choose: Any = None  # these are bound by `make_steps`
update: Any = None
probabilities: Any = None
step: Any = None
GAME: Any = None  # the kind of the `LiveGame`
PLAYS = 1
RESOURCES = 1
INITIAL_PULLS = False
# what steps return, unless it is a resource that is short; `INITIAL`: done, as an initial pull
DONE, INITIAL, NO_PULL, NO_ARM, WRONG = -1, -2, -3, -4, -5


class CallBuffer:
    """What passes between Python and the steps: a ticket's arms and holds, its report.

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
        m, found = self.plays, self.ticket.unpack_from(self.words)
        return found[:m], found[m : 2 * m], found[2 * m :]

    def write_context(self, numbers: Sequence[float]) -> None:
        """Write the numbers of a context, (F,) or (K F,), where the policy looks at them."""
        for part, place in self.rows:
            self.row.pack_into(self.context, place, *numbers[part])

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


class LiveGame(NamedTuple):
    """All that the steps of one live policy work on, or those of one path with late reports."""

    params: Any
    state: Any  # of one path
    scratch: Any
    game: Game
    workspace: Workspace
    held: Ints  # (d,) units, of the ticket in the workspace
    least: Ints  # (K, d) units that a pull costs
    path: int  # 0 for a live policy: which path's random numbers it meets


class Step:
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


class StepsOfKind:
    """The steps of one policy for games of one kind; `look` is None if the policy cannot tell its
    probabilities.
    """

    def __init__(
        self, name: str, look: Step | None, ask: Step, tell: Step, sizes: dict[str, int]
    ) -> None:
        self.name, self.look, self.ask, self.tell = name, look, ask, tell
        self.hold, self.replace = plain(attach_call(hold, **sizes)), plain(attach_call(replace))
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
            if len(self._sample) == SAMPLE:
                LOGGER.warning(
                    "plain Python takes %.1f s for %d steps of %s, numba a hundredth of it: "
                    "pip install 'purse-bandits[lab]'",
                    *(sum(self._sample), SAMPLE, self.name),
                )
                self._sample = None
        # a child has none of the threads of its parent
        at_work = self._thread is not None and self._thread.is_alive()
        if self._spent > PATIENCE_S and not at_work and is_installed("numba"):
            self._thread = Thread(target=self._compile_quietly, name="purse-compile")
            self._thread.start()

    def _compile_quietly(self) -> None:
        """Compile; go on in plain Python if that fails."""
        try:
            self.compile()
        except Exception as error:
            self._spent = -math.inf  # not again
            LOGGER.warning("steps of %s stay in plain Python: %s", self.name, error)


class Steps:
    """The steps of one live game.

    look      takes the round, whether arms are masked, and where to write; None: the policy cannot
              tell its probabilities
    ask       takes the round, and whether arms are masked
    tell      takes the round
    hold, replace   as the functions of these names
    """

    def __init__(self, kind: StepsOfKind, live: LiveGame, block: Block) -> None:
        self._kind, self._block = kind, block
        self._live = live._replace(params=in_numpy(live.params))
        self.look: Callable[[int, bool, Floats], int] | None = (
            partial(self._do, "look", kind.look) if kind.look else None
        )
        self.ask: Callable[[int, bool], int] = partial(self._do, "ask", kind.ask)
        self.tell: Callable[[int], int] = partial(self._do, "tell", kind.tell)
        self.hold: Callable[[Game, Workspace, Ints], int] = kind.hold
        self.replace: Callable[..., bool] = kind.replace

    def expect_many(self) -> None:
        """Expect a whole journal: say about how long that takes if there is no compiler."""
        self._kind.expect_many()

    def _do(self, name: str, step: Step, *args: Any) -> int:
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
    return LiveGame(params, state, scratch, game, space, buffer.held, problem.cost_min, 0)


# The kernels below see none of a policy's own types, so they are compiled once for all policies.


@kernel
def see_round(resources: int, game: Game, space: Workspace, path: int, t: int, masked: bool) -> Now:
    """Return what the policy sees of round t; `masked` says whether `allowed` is filled."""
    if game.rule == FIT and not masked:
        for i in range(space.allowed.shape[0]):
            space.allowed[i] = True
    if game.rule == FIT or masked:
        masked = keep_fitting(game, space.left_units, space.allowed) < space.allowed.shape[0]
    scale_left(resources, game.unit_scale, space.left_units, space.left)
    return Now(
        at(stream(game.seed, path, POLICY), t),
        t,
        game.horizon - (t - 1),
        space.left,
        masked,
        space.allowed,
        space.pending,
        space.context,
    )


@kernel
def see_report(game: Game, space: Workspace, path: int, t: int) -> Now:
    """Return what the policy sees when it learns from round t."""
    return Now(
        at(stream(game.seed, path, POLICY), t),
        t,
        math.nan,
        space.left,
        False,
        space.allowed,
        space.pending,
        space.context,
    )


@kernel
def none_allowed(now: Now) -> bool:
    """Return whether no arm may be played."""
    if not now.masked:
        return False
    for i in range(now.allowed.shape[0]):
        if now.allowed[i]:
            return False
    return True


@kernel
def hold_choice(
    plays: int,
    resources: int,
    initial: bool,
    now: Now,
    game: Game,
    space: Workspace,
    held: Ints,
) -> int:
    """Hold what the arms that were chosen may cost; return what `ask` does."""
    if space.arms[0] >= 0 and game.rule == FIT:
        skip_unfitting(game.holds, space.left_units, space.arms)
    if space.arms[0] >= 0 and breaks_mask(now, space.arms):
        space.arms[0] = UNSET
    outcome = set_apart(plays, resources, game, space, held)
    if initial and outcome == DONE:
        settle_owed(space.owed, space.arms)
        return INITIAL
    return outcome


@kernel
def pay_report(
    plays: int, resources: int, game: Game, space: Workspace, held: Ints, least: Ints
) -> int:
    """Give back what was held, and pay; return what `tell` does."""
    for k in range(plays):
        if is_played(k, space.arms):
            if not 0 <= space.rewards[k] <= 1:
                return WRONG - k
            arm = space.arms[k]
            for m in range(resources):
                if not least[arm, m] <= space.units[k, m] <= game.holds[arm, m]:
                    return WRONG - (plays + k * resources + m)
    for m in range(resources):
        space.left_units[m] += held[m]
        space.left[m] = math.nan  # not defined in `update`
    short = short_of(plays, resources, space.units, space.left_units)
    if short >= 0:
        return short
    pay(plays, resources, game.unit_scale, space.units, space.left_units, space.costs)
    return DONE


def look(live: LiveGame, t: int, masked: bool, out: Floats) -> int:
    """Write the probabilities of round t; return `NO_ARM` where no arm is allowed."""
    now = see_round(RESOURCES, live.game, live.workspace, live.path, t, masked)
    if none_allowed(now):
        return NO_ARM
    probabilities(live.params, live.state, live.scratch, now, out)
    return DONE


def ask(live: LiveGame, t: int, masked: bool) -> int:
    """Choose the arms of round t and hold what they may cost; return what `hold` does.

    The choice changes nothing that a later round can see. Return `INITIAL` for an initial pull,
    `NO_ARM` where no arm is allowed.
    """
    space = live.workspace
    now = see_round(RESOURCES, live.game, space, live.path, t, masked)
    if none_allowed(now):
        return NO_ARM
    initial = INITIAL_PULLS and owed_pull(now, space.owed, space.arms, space.probs)
    if not initial:
        space.arms[0] = UNSET
        play = Play(space.arms, space.probs, space.rewards, space.costs)
        choose(live.params, live.state, live.scratch, now, play)
    return hold_choice(PLAYS, RESOURCES, initial, now, live.game, space, live.held)


def hold(game: Game, space: Workspace, held: Ints) -> int:
    """Hold what the arms in the workspace may cost.

    Return the resource that is short, `NO_PULL` where one is no arm, or `DONE`.
    """
    return set_apart(PLAYS, RESOURCES, game, space, held)


@kernel
def set_apart(plays: int, resources: int, game: Game, space: Workspace, held: Ints) -> int:
    """Under `hold` and `fit`, take what the arms may cost from what is left; `held` says how much.

    Where a resource is short of it, nothing is taken.
    """
    for m in range(resources):
        held[m] = 0
    if out_of_range(plays, space.excluded.shape[0], space.arms):
        return NO_PULL
    if game.rule != HOLD and game.rule != FIT:
        return DONE
    units, left_units = space.units, space.left_units
    short = hold_short_of(plays, resources, game.holds, space.arms, units, left_units)
    for m in range(resources):
        for k in range(plays):
            held[m] += units[k, m]
        if short < 0:
            left_units[m] -= held[m]
    return short if short >= 0 else DONE


def tell(live: LiveGame, t: int) -> int:
    """Give back what was held, pay and learn.

    Return `DONE`, or the resource that cannot pay: then nothing is paid or learnt. Where an entry
    of the report is out of bounds nothing changes: return `WRONG` less its number, rewards first,
    then costs.
    """
    space = live.workspace
    outcome = pay_report(PLAYS, RESOURCES, live.game, space, live.held, live.least)
    if outcome == DONE:
        now = see_report(live.game, space, live.path, t)
        play = Play(space.arms, space.probs, space.rewards, space.costs)
        update(live.params, live.state, live.scratch, now, play)
    return outcome


def replace(game: Game, t: int, attempt: int, short: int, space: Workspace) -> bool:
    """Rule `retry`: another arm for one that cannot be paid; False when there is none."""
    return replace_arm(
        at(stream(game.seed, 0, REFEREE), t),
        attempt,
        short,
        space.units,
        space.arms,
        space.probs,
        space.excluded,
    )


def look_at(block: int, t: int, masked: bool, out: Floats) -> int:
    """Call `look` for the game of a block."""
    return int(step(load(block, GAME), t, masked, out))


def ask_at(block: int, t: int, masked: bool) -> int:
    """Call `ask` for the game of a block."""
    return int(step(load(block, GAME), t, masked))


def tell_at(block: int, t: int) -> int:
    """Call `tell` for the game of a block."""
    return int(step(load(block, GAME), t))


_steps: dict[tuple[Any, ...], StepsOfKind] = {}


def make_steps(policy: ModuleType, problem: Problem, live: LiveGame) -> Steps:
    """Return the steps of a live game, which work on the arrays of `live`.

    They run as plain Python at first, those of a policy that says `COMPILED` as machine code. Games
    of one kind share them, and find them by their parts.
    """
    block = Block(live)
    sizes = {"PLAYS": problem.plays, "RESOURCES": problem.n_resources}
    initial = {"INITIAL_PULLS": live.game.initial_rounds > 0}
    shows = getattr(policy, "probabilities", None)
    parts = (policy.choose, policy.update, shows, *sizes.values(), *initial.values(), block.kind)
    if parts not in _steps:
        asks = attach_call(ask, choose=policy.choose, **initial, **sizes)
        tells = attach_call(tell, update=policy.update, **sizes)
        looks = attach_call(look, probabilities=shows, **sizes) if shows else None
        _steps[parts] = StepsOfKind(
            policy.NAME,
            Step(looks, look_at, block.kind, 1, False, np.zeros(1)) if looks else None,
            Step(asks, ask_at, block.kind, 1, False),
            Step(tells, tell_at, block.kind, 1),
            sizes,
        )
    if getattr(policy, "COMPILED", False):
        with compile_errors(policy.NAME, policy):
            _steps[parts].compile()
    return Steps(_steps[parts], live, block)
