"""The one loop: `play` plays a path, `run` a block of paths.

`purse.compiler.jit.attach` binds `choose`, `update`, `draw` and the constants to `play`; `bind`
binds `play` and `row` to `run`. A path can stop after any round and go on later from its row of
results: between two stretches a thread looks at the stop flag, and a GPU returns to its host.
"""

from __future__ import annotations

from typing import Any

from purse.compiler.stack_arrays import matrix, vector
from purse.engine.rounds import (
    FAULT,
    GOING,
    OVER,
    PULLED,
    ROUNDS,
    SKIPPED,
    UNSET,
    PathCounts,
    begin_path,
    end_path,
    end_round,
    make_initial_pull,
    mark_arms,
    owe_all,
    pull_arms,
    read_choice,
    skip_plays,
)
from purse.engine.rules import FIT, Game, breaks_mask
from purse.engine.workspace import CheckpointPlan, PathResults, Workspace, scale_left
from purse.kernels.random import POLICY, WORLD, at, stream
from purse.types import Floats, Ints, Now, Play

choose: Any = None
update: Any = None
row: Any = None
draw: Any = None
view: Any = None
PLAYS = 1
RESOURCES = 1
INITIAL_PULLS = False
MASKS = False  # whether arms may be masked: under rule `fit`, or in a world with outages
CONTEXTS = False  # whether the policy sees contexts, and the world has any
CHECKPOINTS = True  # whether there may be checkpoints
RULE = -1  # the stop rule where it is known beforehand


def play(
    params: Any,
    state: Any,
    scratch: Any,
    tables: Any,
    game: Game,
    plan: CheckpointPlan,
    number: int,
    path: int,
    out: PathResults,
    space: Workspace,
    last: int,
) -> int:
    """Play path `number` on from where its row of `out` stands, up to round `last`.

    Return `GOING`, `OVER` or `FAULT`.
    """
    ours = stream(game.seed, number, POLICY)
    theirs = stream(game.seed, number, WORLD)
    local = Workspace(
        vector(PLAYS, 0),
        vector(PLAYS, 0.0),
        vector(PLAYS, 0.0),
        space.units,
        matrix(PLAYS, RESOURCES, 0.0),
        vector(RESOURCES, 0),
        vector(RESOURCES, 0.0),
        space.excluded,
        space.allowed,
        space.owed,
        space.pending,
        space.context,
    )
    plays = Play(local.arms, local.probs, local.rewards, local.costs)
    counted = PathCounts(vector(2, 0.0), vector(3, 0))
    left_units = local.left_units
    begin_path(
        RESOURCES,
        CHECKPOINTS,
        game.budget,
        plan,
        path,
        out,
        left_units,
        space.left_units,
        counted,
    )
    if MASKS and INITIAL_PULLS and counted.counts[ROUNDS] == 0:
        owe_all(space.owed)
    rule = game.rule if RULE < 0 else RULE
    standing = GOING if last < game.last_round else OVER
    pulls = out.pulls[path]
    n_arms = pulls.shape[0]
    masked = False
    while counted.counts[ROUNDS] < last:
        t = counted.counts[ROUNDS] + 1
        if MASKS:
            n_allowed = mark_arms(game, t, local, space)
            masked = n_allowed < n_arms
            if n_allowed == 0:
                standing = OVER
                break
        if CONTEXTS:
            view(theirs, tables, t, space.context)
        now = Now(
            at(ours, t),
            t,
            game.horizon - (t - 1),
            local.left,
            masked,
            space.allowed,
            space.pending,
            space.context,
        )
        if not (INITIAL_PULLS and make_initial_pull(MASKS, now, game, n_arms, local, space)):
            scale_left(RESOURCES, game.unit_scale, left_units, local.left)
            local.arms[0] = UNSET
            choose(params, state, scratch, now, plays)
        outcome = read_choice(PLAYS, n_arms, game.may_skip, local.arms)
        if MASKS and outcome == PULLED:
            if breaks_mask(now, local.arms):
                outcome = FAULT
            elif PLAYS > 1 and rule == FIT:
                skip_plays(game, local, space)
        if outcome == FAULT:
            return FAULT
        if outcome == PULLED:
            outcome = pull_arms(
                draw,
                theirs,
                tables,
                PLAYS,
                RESOURCES,
                CHECKPOINTS,
                rule,
                game,
                plan.left,
                number,
                path,
                now,
                pulls,
                out.by_budget,
                local,
                space,
                counted,
            )
        if outcome == PULLED:
            update(params, state, scratch, now, plays)
        elif outcome != SKIPPED:
            standing = OVER
            break
        end_round(
            CHECKPOINTS,
            game.budget,
            plan.rounds,
            path,
            pulls,
            out.by_round,
            left_units,
            space.left_units,
            counted,
        )
    end_path(
        RESOURCES,
        CHECKPOINTS,
        standing,
        game.budget,
        plan,
        path,
        out,
        left_units,
        space.left_units,
        counted,
    )
    return standing


def run(
    params: Any,
    states: Any,
    scratch: Any,
    tables: Any,
    game: Game,
    plan: CheckpointPlan,
    first: int,
    out: PathResults,
    space: Workspace,
    progress: Floats,
    stop_flag: Ints,
) -> None:
    """Play the paths first, first + 1, ... to their ends, one for each row of `states` and `out`.

    `progress[0]` says how many paths' worth of budget is spent. A non-zero `stop_flag[0]` stops
    everything soon.
    """
    for path in range(out.gain.shape[0]):
        standing = GOING
        while standing == GOING:
            progress[0] = path + out.spent[path, 0] / game.budget[0]
            if stop_flag[0] != 0:
                return
            last = min(out.rounds[path] + game.check_every, game.last_round)
            standing = play(
                params,
                row(states, path),
                scratch,
                tables,
                game,
                plan,
                first + path,
                path,
                out,
                space,
                last,
            )
        if standing == FAULT:
            stop_flag[0] = FAULT
            return
    progress[0] = out.gain.shape[0]
