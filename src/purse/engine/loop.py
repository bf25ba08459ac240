"""The loop: `play` plays a path whose reports come at once, `run` a block of paths.

`purse.compiler.jit.attach` binds `choose`, `update`, `draw` and the constants to `play`; `bind`
binds `play` and `row` to `run`. A path can stop after any round and go on later from its row of
results: between two stretches a thread looks at the stop flag, and a GPU returns to its host.
If reports come late, `run` plays with `purse.engine.late.loop.play` instead.
"""

from typing import Any

from purse.compiler.blocks import matrix, vector
from purse.engine.rounds import (
    FAULT,
    GOING,
    OVER,
    PULLED,
    ROUNDS,
    SKIPPED,
    UNSET,
    Path,
    begin_path,
    end_path,
    end_round,
    make_initial_pull,
    owe_all,
    pull_arms,
    read_choice,
)
from purse.engine.rules import (
    FIT,
    Game,
    breaks_mask,
    count_up,
    forget_masks,
    mark_allowed,
    show_round,
    skip_unfitting,
)
from purse.engine.workspace import CheckpointPlan, PathResults, Workspace, scale_left
from purse.kernels.random import POLICY, WORLD, at, stream
from purse.types import Floats, Ints, Play

choose: Any = None
update: Any = None
row_of: Any = None
draw: Any = None
view: Any = None
PLAYS = 1
RESOURCES = 1
INITIAL_PULLS = False
MASKS = False  # whether arms may be masked: under rule `fit`, or in a world with outages
SEEN = False  # whether the policy wants the masks of earlier rounds, and arms may be down
CONTEXTS = False  # whether the policy sees contexts, and the world has any
CHECKPOINTS = True  # whether there may be checkpoints
RULE = -1  # the stop rule, if it is known beforehand


def play(
    params: Any,
    state: Any,
    scratch: Any,
    tables: Any,
    game: Game,
    plan: CheckpointPlan,
    number: int,
    row: int,
    out: PathResults,
    space: Workspace,
    last: int,
) -> int:
    """Play path `number` on from its row of `out`, up to round `last`.

    Return `GOING`, `OVER` or `FAULT`.
    """
    ours = stream(game.seed, number, POLICY)
    path = Path(
        number,
        row,
        stream(game.seed, number, WORLD),
        tables,
        game.rule if RULE < 0 else RULE,
        CHECKPOINTS,
        game,
        plan,
        out,
        Workspace(
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
            space.masks,
            space.seen,
            space.pending,
            space.context,
        ),
        vector(2, 0.0),
        vector(3, 0),
    )
    arms, left_units = path.space.arms, path.space.left_units
    plays = Play(arms, path.space.probs, path.space.rewards, path.space.costs)
    begin_path(path)
    if MASKS and INITIAL_PULLS and path.counts[ROUNDS] == 0:
        owe_all(space.owed)
    if SEEN and path.counts[ROUNDS] == 0:
        forget_masks(space.seen)
    standing = GOING if last < game.last_round else OVER
    masked = False
    while path.counts[ROUNDS] < last:
        t = path.counts[ROUNDS] + 1
        if MASKS:
            n_allowed = mark_allowed(game, t, left_units, space.allowed)
            masked = n_allowed < space.allowed.shape[0]
            if n_allowed == 0:
                standing = OVER
                break
        if CONTEXTS:
            view(path.key, tables, t, space.context)
        now = show_round(at(ours, t), t, game.horizon - (t - 1), masked, path.space)
        if not (INITIAL_PULLS and make_initial_pull(MASKS, path, now)):
            scale_left(game.unit_scale, path.space)
            arms[0] = UNSET
            choose(params, state, scratch, now, plays)
        outcome = read_choice(path)
        if MASKS and outcome == PULLED:
            if breaks_mask(now, arms):
                outcome = FAULT
            elif PLAYS > 1 and path.rule == FIT:
                skip_unfitting(game.holds, left_units, arms)
        if outcome == FAULT:
            return FAULT
        if outcome == PULLED:
            outcome = pull_arms(draw, path, now)
        if outcome == PULLED:
            update(params, state, scratch, now, plays)
        elif outcome != SKIPPED:
            standing = OVER
            break
        if SEEN:
            count_up(game, t, space)
        end_round(path)
    end_path(path, standing)
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
    space: Any,
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
                row_of(states, path),
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
