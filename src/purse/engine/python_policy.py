"""A policy that is a class: its objects choose and learn in plain Python, one for each path.

The loop plays it as it plays kernels, on the same worlds, draws and rules. What its
objects learn cannot be saved, so results are not kept, and live policies and campaigns refuse it.
"""

from functools import cache
from inspect import signature
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse.compiler.kernel import kernel
from purse.errors import InvalidInput, shorten
from purse.types import SKIP, STOP, Ints, Now, Play, Problem

_METHODS = {"choose": ("now",), "update": ("now", "arm", "reward", "cost")}
_MARKS = ("CAPS", "CONTEXT", "INITIAL_PULLS", "PENDING", "PLAYS", "RESOURCES", "SEEN")
_NUMPY_WARNS: Any = {"divide": "warn", "over": "warn", "invalid": "warn"}  # the loop ignores all


class PythonPolicy(ModuleType):
    """A class as the module of a policy."""


class _PlayerParams(NamedTuple):
    """The maker of the players."""

    player: type[Any]
    problem: Problem


class _PlayerState(NamedTuple):
    """The player of one path."""

    player: Any  # (1,) None before its first round


def as_module(policy: Any) -> Any:
    """Return the module of a class, and anything else as it is.

    Raise `InvalidInput` if the class cannot play.
    """
    return _module_of(policy) if isinstance(policy, type) else policy


@cache
def _module_of(player: type[Any]) -> PythonPolicy:
    name = getattr(player, "NAME", player.__name__)
    _check_call(name, player.__name__, player, ("problem", "rng"))
    for method, arguments in _METHODS.items():
        if not callable(function := getattr(player, method, None)):
            raise InvalidInput(f"policy {name} has no {method}")
        _check_call(name, method, function, arguments, player)
    module = PythonPolicy(f"{__name__}.{player.__name__}", player.__doc__)
    vars(module).update(
        {mark: getattr(player, mark) for mark in _MARKS if hasattr(player, mark)},
        NAME=name,
        params=lambda problem: _PlayerParams(player, problem),
        init=lambda params, problem: _PlayerState(np.full(1, None)),
        choose=choose,
        update=update,
    )
    return module


def _check_call(
    name: str, what: str, function: Any, arguments: tuple[str, ...], *bound: Any
) -> None:
    try:
        signature(function).bind(*bound, *arguments)
    except TypeError as error:
        wanted = ", ".join(arguments)
        raise InvalidInput(f"policy {name}: {what} must take ({wanted}): {error}") from error


def _player(params: _PlayerParams, state: _PlayerState, now: Now) -> Any:
    """Return the player of the path; its random numbers depend on seed and path alone."""
    if state.player[0] is None:
        state.player[0] = params.player(params.problem, np.random.default_rng(int(now.key)))
    return state.player[0]


@kernel
def choose(params: _PlayerParams, state: _PlayerState, scratch: Any, now: Now, play: Play) -> None:
    """Write the arms that the player chooses; it gets arrays of its own."""
    view = now._replace(
        t=int(now.t),
        left=now.left.copy(),
        allowed=now.allowed.copy() if now.masked else np.ones(params.problem.n_arms, np.bool_),
        masks=now.masks.copy(),
        seen=now.seen.copy(),
        pending=now.pending.copy(),
        context=now.context.copy(),
    )
    with np.errstate(**_NUMPY_WARNS):
        arms = _read_arms(params, view, _player(params, state, now).choose(view))
    play.arms[:] = SKIP
    play.arms[: len(arms)] = arms
    play.probs[:] = 1.0


def _read_arms(params: _PlayerParams, now: Now, choice: Any) -> Ints:
    """Return the arms of a choice; raise `InvalidInput` if it is not valid."""
    arms, n_arms, plays = np.atleast_1d(choice), params.problem.n_arms, params.problem.plays
    if arms.dtype.kind in "iu" and arms.ndim == 1 and 1 <= len(arms) <= plays:
        if len(arms) == 1 and arms[0] in (SKIP, STOP):
            return arms
        if (arms >= 0).all() and (arms < n_arms).all() and now.allowed[arms].all():
            return arms
    what = "an arm" if plays == 1 else f"1 to {plays} arms"
    raise InvalidInput(
        f"{params.player.__name__}.choose returned {shorten(repr(choice), 60)} in round {now.t}: "
        f"must be {what} from 0 to {n_arms - 1} that now.allowed allows, or SKIP or STOP"
    )


@kernel
def update(params: _PlayerParams, state: _PlayerState, scratch: Any, now: Now, play: Play) -> None:
    """Tell the player what its arms brought and cost: numbers, or arrays of several plays.

    Of `now` only `key`, `t` and `context` are defined, as in kernels.
    """
    view = now._replace(
        t=int(now.t),
        rounds_left=np.nan,
        left=np.full(len(now.left), np.nan),
        masked=False,
        allowed=np.ones(params.problem.n_arms, np.bool_),
        masks=np.zeros_like(now.masks),
        seen=np.zeros_like(now.seen),
        pending=np.zeros(params.problem.n_arms, np.int64),
        context=now.context.copy(),
    )
    played = play.arms >= 0
    arms, rewards, costs = play.arms[played], play.rewards[played], play.costs[played]
    costs = costs if params.problem.n_resources > 1 else costs[:, 0]
    with np.errstate(**_NUMPY_WARNS):
        player = _player(params, state, now)
        if params.problem.plays > 1:
            player.update(view, arms, rewards, costs)
        else:
            player.update(view, int(arms[0]), float(rewards[0]), costs[0])
