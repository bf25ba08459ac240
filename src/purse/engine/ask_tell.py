"""Ask and tell as kernels: the steps of the loop one at a time, for live use and late reports."""

import math
from typing import Any, NamedTuple

from purse.compiler.kernel import kernel
from purse.engine.rounds import MASKED, UNSET
from purse.engine.rules import (
    FIT,
    HOLD,
    Game,
    breaks_mask,
    keep_fitting,
    owed_pull,
    replace_arm,
    settle_owed,
    show_round,
    skip_unfitting,
)
from purse.engine.workspace import (
    Workspace,
    hold_short_of,
    is_played,
    out_of_range,
    pay,
    scale_left,
    short_of,
)
from purse.kernels.random import POLICY, REFEREE, at, stream
from purse.types import Floats, Ints, Now, Play

choose: Any = None  # these are bound by `purse.engine.steps` and `purse.engine.late`
update: Any = None
probabilities: Any = None
INITIAL_PULLS = False
# what steps return, unless it is a resource that is short; `INITIAL`: done, as an initial pull
DONE, INITIAL, NO_PULL, NO_ARM, WRONG = -1, -2, -3, -4, -5


class LiveGame(NamedTuple):
    """All that the steps of one live policy work on, or those of one path with late reports."""

    params: Any
    state: Any  # of one path
    scratch: Any
    game: Game
    workspace: Workspace
    held: Ints  # (d,) units, of the ticket in the workspace
    cost_min: Ints  # (K, d) units: the least that a pull costs
    path: int  # 0 for a live policy: which path's random numbers it meets
    horizon: Floats  # (1,) the rounds that the policy knows there are, or infinity


# The kernels below see none of a policy's own types, so they are compiled once for all policies.


@kernel
def _see_round(
    game: Game, space: Workspace, path: int, horizon: Floats, t: int, masked: bool
) -> Now:
    """Show round t to the policy; `masked` says whether `allowed` is filled."""
    if game.rule == FIT and not masked:
        for i in range(space.allowed.shape[0]):
            space.allowed[i] = True
    if game.rule == FIT or masked:
        masked = keep_fitting(game, space.left_units, space.allowed) < space.allowed.shape[0]
    scale_left(game.unit_scale, space)
    key = at(stream(game.seed, path, POLICY), t)
    return show_round(key, t, horizon[0] - (t - 1), masked, space)


@kernel
def _none_allowed(now: Now) -> bool:
    if not now.masked:
        return False
    for i in range(now.allowed.shape[0]):
        if now.allowed[i]:
            return False
    return True


@kernel
def hold(game: Game, space: Workspace, held: Ints) -> int:
    """Under `hold` and `fit`, take what the arms in the workspace may cost from what is left.

    `held` says how much. If a resource is short of it, nothing is taken: return that resource.
    Return `NO_PULL` if an arm does not exist, else `DONE`.
    """
    for m in range(held.shape[0]):
        held[m] = 0
    if out_of_range(space.excluded.shape[0], space.arms):
        return NO_PULL
    if game.rule != HOLD and game.rule != FIT:
        return DONE
    short = hold_short_of(game.holds, space)
    for m in range(held.shape[0]):
        for k in range(space.arms.shape[0]):
            held[m] += space.units[k, m]
        if short < 0:
            space.left_units[m] -= held[m]
    return short if short >= 0 else DONE


@kernel
def _hold_choice(initial: bool, now: Now, game: Game, space: Workspace, held: Ints) -> int:
    """Hold what the arms that were chosen may cost; return what `ask` does."""
    if space.arms[0] >= 0 and game.rule == FIT:
        skip_unfitting(game.holds, space.left_units, space.arms)
    if space.arms[0] >= 0 and breaks_mask(now, space.arms):
        for k in range(space.arms.shape[0]):
            if space.arms[k] >= 0 and not now.allowed[space.arms[k]]:
                space.arms[0] = MASKED - space.arms[k]
                break
    outcome = hold(game, space, held)
    if initial and outcome == DONE:
        settle_owed(space)
        return INITIAL
    return outcome


@kernel
def _pay_report(game: Game, space: Workspace, held: Ints, cost_min: Ints) -> int:
    """Give back what was held, and pay; return what `tell` does."""
    plays, resources = space.units.shape
    for k in range(plays):
        if is_played(k, space.arms):
            if not 0 <= space.rewards[k] <= 1:
                return WRONG - k
            arm = space.arms[k]
            for m in range(resources):
                if not cost_min[arm, m] <= space.units[k, m] <= game.holds[arm, m]:
                    return WRONG - (plays + k * resources + m)
    for m in range(resources):
        space.left_units[m] += held[m]
        space.left[m] = math.nan  # not defined in `update`
    short = short_of(space)
    if short >= 0:
        return short
    pay(game.unit_scale, space)
    return DONE


def look(live: LiveGame, t: int, masked: bool, out: Floats) -> int:
    """Write the probabilities of round t; return `NO_ARM` if no arm is allowed."""
    now = _see_round(live.game, live.workspace, live.path, live.horizon, t, masked)
    if _none_allowed(now):
        return NO_ARM
    probabilities(live.params, live.state, live.scratch, now, out)
    return DONE


def ask(live: LiveGame, t: int, masked: bool) -> int:
    """Choose the arms of round t and hold what they may cost; return what `hold` does.

    The choice changes nothing that a later round can see. Return `INITIAL` for an initial pull,
    `NO_ARM` if no arm is allowed.
    """
    space = live.workspace
    now = _see_round(live.game, space, live.path, live.horizon, t, masked)
    if _none_allowed(now):
        return NO_ARM
    initial = INITIAL_PULLS and owed_pull(now, space)
    if not initial:
        space.arms[0] = UNSET
        play = Play(space.arms, space.probs, space.rewards, space.costs)
        choose(live.params, live.state, live.scratch, now, play)
    return _hold_choice(initial, now, live.game, space, live.held)


def tell(live: LiveGame, t: int) -> int:
    """Give back what was held, pay and learn.

    Return `DONE`, or the resource that cannot pay: then nothing is paid or learnt. If an entry of
    the report is out of bounds, nothing changes: return `WRONG` less its number. Rewards come
    first, then costs.
    """
    space = live.workspace
    outcome = _pay_report(live.game, space, live.held, live.cost_min)
    if outcome == DONE:
        key = at(stream(live.game.seed, live.path, POLICY), t)
        now = show_round(key, t, math.nan, False, space)
        play = Play(space.arms, space.probs, space.rewards, space.costs)
        update(live.params, live.state, live.scratch, now, play)
    return outcome


@kernel
def replace(game: Game, t: int, attempt: int, short: int, space: Workspace) -> bool:
    """Rule `retry`: replace an arm that cannot be paid; return False if no other is left."""
    return replace_arm(at(stream(game.seed, 0, REFEREE), t), attempt, short, space)
