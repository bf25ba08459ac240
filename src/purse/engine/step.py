"""The loop's steps one at a time, for live use: the same kernels, called from Python on a state of one path."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from purse.engine.referee import set_aside, sweep
from purse.jit import bind
from purse.random import POLICY, REFEREE, at, stream
from purse.types import Floats, Ints

choose: Any = None  # these five are bound by `purse.jit.bind`
update: Any = None
row: Any = None
probabilities: Any = None
SWEEP = False


class Steps(NamedTuple):
    """The steps of one policy."""

    ask: Callable[..., None]
    tell: Callable[..., None]
    look: Callable[..., None] | None  # None: the policy cannot tell its probabilities
    replace: Callable[..., bool]


def ask(policy: Any, state: Any, seed: int, t: int, sweep_rounds: int, left: Floats, arms: Ints, probs: Floats, aside: Ints) -> None:
    """Choose the arms of round t."""
    if SWEEP and t <= sweep_rounds:
        sweep(t, aside.shape[0], arms, probs)
    else:
        choose(at(stream(seed, 0, POLICY), t), policy, row(state, 0), t, left, arms, probs)


def tell(policy: Any, state: Any, seed: int, t: int, arms: Ints, probs: Floats, rewards: Floats, costs: Floats) -> None:
    """Learn from round t."""
    update(at(stream(seed, 0, POLICY), t), policy, row(state, 0), t, arms, probs, rewards, costs)


def look(policy: Any, state: Any, t: int, left: Floats, out: Floats) -> None:
    """The probabilities behind the choice of round t."""
    probabilities(policy, row(state, 0), t, left, out)


def replace(seed: int, t: int, attempt: int, short: int, units: Ints, arms: Ints, probs: Floats, aside: Ints) -> bool:
    """Rule `retry`: another arm for one that cannot be paid; False when there is none."""
    return set_aside(at(stream(seed, 0, REFEREE), t), attempt, short, units, arms, probs, aside)


def steps(policy: ModuleType, sweep_rounds: int) -> Steps:
    """The steps of a policy, compiled."""
    parts = {"choose": policy.choose, "update": policy.update, "row": policy.row, "SWEEP": sweep_rounds > 0}
    has_look = hasattr(policy, "probabilities")
    return Steps(
        direct(bind(ask, **parts)),
        direct(bind(tell, **parts)),
        direct(bind(look, row=policy.row, probabilities=policy.probabilities)) if has_look else None,
        bind(replace),
    )


def direct(dispatcher: Any) -> Callable[..., Any]:
    """The function behind the dispatcher, which spends six times as long on finding out the types again in every call."""
    entry: Callable[..., Any] | None = None

    def call(*args: Any) -> Any:
        nonlocal entry
        if entry is None:
            result = dispatcher(*args)
            entry = next(iter(dispatcher.overloads.values())).entry_point
            return result
        return entry(*args)

    return call
