"""The loop's steps one at a time, for live use: the same kernels, called from Python on a state of one path."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple, cast

from purse.engine.path import UNSET, Desk, Game, hold_short_of, pay, show_left
from purse.engine.referee import HOLD, set_aside, short_of, sweep
from purse.jit import bind
from purse.random import POLICY, REFEREE, at, stream
from purse.types import Floats, Ints, Problem

choose: Any = None  # these are bound by `purse.jit.bind`
update: Any = None
row: Any = None
probabilities: Any = None
PLAYS = 1
RESOURCES = 1
SWEEP = False


class Steps(NamedTuple):
    """The steps of one policy, compiled."""

    look: Callable[..., None] | None  # None: the policy cannot tell its probabilities
    ask: Callable[..., None]
    hold: Callable[..., int]
    tell: Callable[..., int]
    replace: Callable[..., bool]


def look(policy: Any, state: Any, game: Game, t: int, desk: Desk, out: Floats) -> None:
    """The probabilities behind the choice of round t."""
    show_left(RESOURCES, game, desk)
    probabilities(policy, row(state, 0), t, desk.left, out)


def ask(policy: Any, state: Any, game: Game, t: int, desk: Desk) -> None:
    """Choose the arms of round t; changes nothing that a later round can see."""
    if SWEEP and t <= game.sweep_rounds:
        sweep(t, desk.aside.shape[0], desk.arms, desk.probs)
    else:
        show_left(RESOURCES, game, desk)
        desk.arms[0] = UNSET
        choose(at(stream(game.seed, 0, POLICY), t), policy, row(state, 0), t, desk.left, desk.arms, desk.probs)


def hold(game: Game, desk: Desk, held: Ints) -> int:
    """Take what rule `hold` sets apart for the arms out of the purse; returns the resource that is short, or -1."""
    for m in range(RESOURCES):
        held[m] = 0
    if game.rule != HOLD or desk.arms[0] < 0:
        return -1
    short = hold_short_of(PLAYS, RESOURCES, game, desk)
    for m in range(RESOURCES):
        for k in range(PLAYS):
            held[m] += desk.units[k, m]
        if short < 0:
            desk.purse[m] -= held[m]
    return short


def tell(policy: Any, state: Any, game: Game, t: int, desk: Desk, held: Ints) -> int:
    """Give back what was held, pay and learn; returns the resource that cannot pay (then nothing is paid or learnt), or -1."""
    for m in range(RESOURCES):
        desk.purse[m] += held[m]
    short = short_of(PLAYS, RESOURCES, desk.units, desk.purse)
    if short < 0:
        pay(PLAYS, RESOURCES, game, desk)
        update(at(stream(game.seed, 0, POLICY), t), policy, row(state, 0), t, desk.arms, desk.probs, desk.rewards, desk.costs)
    return short


def replace(game: Game, t: int, attempt: int, short: int, desk: Desk) -> bool:
    """Rule `retry`: another arm for one that cannot be paid; False when there is none."""
    return set_aside(at(stream(game.seed, 0, REFEREE), t), attempt, short, desk.units, desk.arms, desk.probs, desk.aside)


def steps(policy: ModuleType, problem: Problem, params: Any, state: Any, game: Game, desk: Desk, held: Ints) -> Steps:
    """The steps of a policy, for arguments of the types of these."""
    sizes = {"PLAYS": problem.plays, "RESOURCES": problem.n_resources}
    parts = {"choose": policy.choose, "update": policy.update, "row": policy.row, "SWEEP": game.sweep_rounds > 0, **sizes}
    return Steps(
        bind(look, probabilities=policy.probabilities, **parts) if hasattr(policy, "probabilities") else None,
        direct(bind(ask, **parts), params, state, game, 1, desk),
        direct(bind(hold, **sizes), game, desk, held),
        direct(bind(tell, **parts), params, state, game, 1, desk, held),
        bind(replace),
    )


def direct(dispatcher: Any, *args: Any) -> Callable[..., Any]:
    """The compiled function for arguments of these types; its dispatcher would find out the types anew in every call."""
    types = tuple(map(dispatcher.typeof_pyval, args))
    dispatcher.compile(types)
    return cast(Callable[..., Any], dispatcher.overloads[types].entry_point)
