"""The loop's steps one at a time, for live use: the same kernels, called from Python on a state of
one path.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from types import ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

from purse.compiler.jit import bind, kernel
from purse.engine.cpu import new_workspace as new_desk
from purse.engine.loop import UNSET, Game, Workspace, hold_short_of, out_of_range, pay, scale_left
from purse.engine.rules import HOLD, initial_pull, replace_arm, short_of
from purse.kernels.random import POLICY, REFEREE, at, stream
from purse.types import Floats, Ints, Problem

choose: Any = None  # these are bound by `purse.compiler.jit.bind`
update: Any = None
row: Any = None
probabilities: Any = None
PLAYS = 1
RESOURCES = 1
INITIAL_PULLS = False
DONE, NO_PULL, WRONG = -1, -2, -3  # what steps return, unless it is the resource that is short


class CallBuffer:
    """What passes between Python and the steps: arms, probabilities and holds of a ticket, rewards
    and costs of its report.

    To the steps these are arrays. Python writes them all at once, in this order, with
    `form.pack_into(words, 0, ...)`: entry by entry it would take three times as long.
    """

    def __init__(self, problem: Problem) -> None:
        m, d = problem.plays, problem.n_resources
        self.form = Struct(f"{m}q{m}d{d}q{m}d{m * d}q")
        words = np.zeros(self.form.size // 8, np.int64)
        arms, probs, held, rewards, units = np.split(words, np.cumsum([m, m, d, m]))
        self.words = words.data
        self.held = held
        self.desk = new_desk(problem)._replace(
            arms=arms,
            probs=probs.view(np.float64),
            rewards=rewards.view(np.float64),
            units=units.reshape(m, d),
        )


class LiveGame(NamedTuple):
    """All that the steps of one live policy work on."""

    policy: Any
    state: Any
    game: Game
    workspace: Workspace
    held: Ints  # (d,) units, of the ticket on the desk
    least: Ints  # (K, d) units that a pull costs


class CompiledSteps(NamedTuple):
    """The steps of one policy, compiled. Those that all policies share see nothing of its own
    types, which other processes may not know.
    """

    look: Callable[..., None] | None  # None: the policy cannot tell its probabilities
    ask: Callable[[LiveGame, int], int]
    hold: Callable[[Game, Workspace, Ints], int]
    tell: Callable[[LiveGame, int], int]
    replace: Callable[..., bool]


def look(seat: LiveGame, t: int, out: Floats) -> None:
    """The probabilities behind the choice of round t."""
    scale_left(RESOURCES, seat.game, seat.workspace)
    probabilities(seat.policy, row(seat.state, 0), t, seat.workspace.left, out)


def ask(seat: LiveGame, t: int) -> int:
    """Choose the arms of round t, which changes nothing that a later round can see, and hold what
    they may cost; returns what `hold` does.
    """
    game, desk = seat.game, seat.workspace
    if INITIAL_PULLS and t <= game.initial_rounds:
        initial_pull(t, desk.excluded.shape[0], desk.arms, desk.probs)
    else:
        scale_left(RESOURCES, game, desk)
        desk.arms[0] = UNSET
        choose(
            at(stream(game.seed, 0, POLICY), t),
            seat.policy,
            row(seat.state, 0),
            t,
            desk.left,
            desk.arms,
            desk.probs,
        )
    return set_apart(PLAYS, RESOURCES, game, desk, seat.held)


def hold(game: Game, desk: Workspace, held: Ints) -> int:
    """Hold what the arms on the desk may cost; returns the resource that is short, `NO_PULL` where
    there is one that is no arm, or `DONE`.
    """
    return set_apart(PLAYS, RESOURCES, game, desk, held)


@kernel
def set_apart(plays: int, resources: int, game: Game, desk: Workspace, held: Ints) -> int:
    """Rule `hold`: take what the arms may cost out of the purse, unless it is short of it; `held`
    says how much that is.
    """
    for m in range(resources):
        held[m] = 0
    if out_of_range(plays, desk.excluded.shape[0], desk):
        return NO_PULL
    if game.rule != HOLD:
        return DONE
    short = hold_short_of(plays, resources, game, desk)
    for m in range(resources):
        for k in range(plays):
            held[m] += desk.units[k, m]
        if short < 0:
            desk.left_units[m] -= held[m]
    return short if short >= 0 else DONE


def tell(seat: LiveGame, t: int) -> int:
    """Give back what was held, pay and learn; returns the resource that cannot pay (then nothing is
    paid or learnt), or `DONE`.

    Where an entry of the report is out of bounds nothing changes: `WRONG` less its number, rewards
    first, then costs.
    """
    game, desk = seat.game, seat.workspace
    for k in range(PLAYS):
        if not 0 <= desk.rewards[k] <= 1:
            return WRONG - k
        for m in range(RESOURCES):
            if not seat.least[desk.arms[k], m] <= desk.units[k, m] <= game.holds[desk.arms[k], m]:
                return WRONG - (PLAYS + k * RESOURCES + m)
    for m in range(RESOURCES):
        desk.left_units[m] += seat.held[m]
    short = short_of(PLAYS, RESOURCES, desk.units, desk.left_units)
    if short >= 0:
        return short
    pay(PLAYS, RESOURCES, game, desk)
    update(
        at(stream(game.seed, 0, POLICY), t),
        seat.policy,
        row(seat.state, 0),
        t,
        desk.arms,
        desk.probs,
        desk.rewards,
        desk.costs,
    )
    return DONE


def replace(game: Game, t: int, attempt: int, short: int, desk: Workspace) -> bool:
    """Rule `retry`: another arm for one that cannot be paid; False when there is none."""
    return replace_arm(
        at(stream(game.seed, 0, REFEREE), t),
        attempt,
        short,
        desk.units,
        desk.arms,
        desk.probs,
        desk.excluded,
    )


def steps(policy: ModuleType, problem: Problem, seat: LiveGame) -> CompiledSteps:
    """The steps of a policy; those of every round are compiled here, the others when they are first
    needed.
    """
    sizes = {"PLAYS": problem.plays, "RESOURCES": problem.n_resources}
    parts = {
        "choose": policy.choose,
        "update": policy.update,
        "row": policy.row,
        "INITIAL_PULLS": seat.game.initial_rounds > 0,
        **sizes,
    }
    return CompiledSteps(
        bind(look, probabilities=policy.probabilities, **parts)
        if hasattr(policy, "probabilities")
        else None,
        direct(bind(ask, **parts), seat, 1),
        bind(hold, **sizes),
        direct(bind(tell, **parts), seat, 1),
        bind(replace),
    )


def direct(dispatcher: Any, *args: Any) -> Callable[..., Any]:
    """The compiled function for arguments of these types; its dispatcher would find out the types
    anew in every call.
    """
    types = tuple(map(dispatcher.typeof_pyval, args))
    dispatcher.compile(types)
    return cast(Callable[..., Any], dispatcher.overloads[types].entry_point)
