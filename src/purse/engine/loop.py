"""The one loop: `play` plays a path, `run` a block of paths.

`purse.compiler.jit.attach` binds `choose`, `update`, `draw` and the constants to `play`; `bind`
binds `play` and `row` to `run`. A path can stop after any round and go on later from its row of
results: between two stretches a thread looks at the stop flag, and a GPU returns to its host.
"""

from __future__ import annotations

from typing import Any

from purse.compiler.jit import kernel
from purse.compiler.stack_arrays import matrix, vector
from purse.engine.rules import (
    FIT,
    HOLD,
    RETRY,
    Game,
    breaks_mask,
    initial_pull,
    mark_allowed,
    owed_pull,
    replace_arm,
    settle_owed,
    skip_unfitting,
)
from purse.engine.workspace import (
    CheckpointPlan,
    PathResults,
    Workspace,
    count_rounds,
    count_spent,
    hold_short_of,
    is_played,
    out_of_range,
    passes,
    pay,
    pull,
    record_checkpoint,
    reload,
    scale_left,
    spill,
)
from purse.kernels.random import POLICY, REFEREE, WORLD, at, stream
from purse.types import STOP, Floats, Ints, Now, Play

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
UNSET = -3  # in arms[0] until the policy chooses
# how a path stands; `FAULT`: the policy chose nothing, or an arm that does not exist or is masked
GOING, OVER, FAULT = range(3)


@kernel
def retry_arm(
    game: Game, number: int, now: Now, attempt: int, short: int, local: Workspace, space: Workspace
) -> bool:
    """Rule `retry`: replace an arm that cannot be paid; False when none is left."""
    if attempt == 0:
        for i in range(space.excluded.shape[0]):
            space.excluded[i] = now.masked and not now.allowed[i]
    spill(local, space)
    key = at(stream(game.seed, number, REFEREE), now.t)
    found = replace_arm(key, attempt, short, space.units, space.arms, space.probs, space.excluded)
    reload(local, space)
    return found


@kernel
def make_initial_pull(
    masks: bool, now: Now, game: Game, n_arms: int, local: Workspace, space: Workspace
) -> bool:
    """Write the arms of an initial pull, where this round has one."""
    if not masks:
        if now.t <= game.initial_rounds:
            initial_pull(now.t, n_arms, local.arms, local.probs)
            return True
        return False
    if owed_pull(now, space.owed, space.arms, space.probs):
        settle_owed(space.owed, space.arms)
        reload(local, space)
        return True
    return False


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
    pulls = out.pulls[path]
    gain = out.gain[path]
    efficiency = out.efficiency[path]
    played = out.rounds[path]
    for m in range(RESOURCES):
        local.left_units[m] = game.budget[m] - out.spent[path, m]
    spill(local, space)
    if MASKS and INITIAL_PULLS and played == 0:
        for i in range(space.owed.shape[0]):
            space.owed[i] = 1
    rule = game.rule if RULE < 0 else RULE
    round_marks = plan.rounds.shape[0] if CHECKPOINTS else 0
    budget_marks = plan.left.shape[0] if CHECKPOINTS else 0
    round_mark = count_rounds(plan, played) if CHECKPOINTS else 0
    budget_mark = count_spent(plan, space.left_units) if CHECKPOINTS else 0
    standing = GOING if last < game.last_round else OVER
    masked = False
    while played < last:
        t = played + 1
        if MASKS:
            spill(local, space)
            n_allowed = mark_allowed(game, t, space.left_units, space.allowed)
            masked = n_allowed < space.allowed.shape[0]
            if n_allowed == 0:
                standing = OVER
                break
        if CONTEXTS:
            view(theirs, tables, t, space.context)
        now = Now(
            at(ours, t),
            t,
            game.horizon - played,
            local.left,
            masked,
            space.allowed,
            space.pending,
            space.context,
        )
        if not (
            INITIAL_PULLS and make_initial_pull(MASKS, now, game, pulls.shape[0], local, space)
        ):
            scale_left(RESOURCES, game, local)
            local.arms[0] = UNSET
            choose(params, state, scratch, now, plays)
        if local.arms[0] >= 0:
            if out_of_range(PLAYS, pulls.shape[0], local) or (
                MASKS and breaks_mask(now, local.arms)
            ):
                return FAULT
            if MASKS and PLAYS > 1 and rule == FIT:
                spill(local, space)
                skip_unfitting(game, space.left_units, space.arms)
                reload(local, space)
            if rule == HOLD and hold_short_of(PLAYS, RESOURCES, game, local) >= 0:
                standing = OVER
                break
            attempt = 0
            while True:
                short = pull(draw, theirs, tables, PLAYS, RESOURCES, t, local)
                if (
                    short < 0
                    or rule != RETRY
                    or not retry_arm(game, number, now, attempt, short, local, space)
                ):
                    break
                attempt += 1
            if short >= 0:
                standing = OVER
                break
            while (
                CHECKPOINTS
                and budget_mark < budget_marks
                and passes(PLAYS, RESOURCES, local, plan.left[budget_mark])
            ):
                spill(local, space)
                record_checkpoint(
                    out.by_budget,
                    budget_mark,
                    path,
                    played,
                    gain,
                    game.budget,
                    space.left_units,
                    pulls,
                )
                budget_mark += 1
            for k in range(PLAYS):
                if is_played(k, local.arms):
                    gain += local.rewards[k]
                    pulls[local.arms[k]] += 1
            pay(PLAYS, RESOURCES, game, local)
            if RESOURCES == 1:
                for k in range(PLAYS):
                    if is_played(k, local.arms):
                        efficiency += local.rewards[k] * (1 / local.costs[k, 0])
            update(params, state, scratch, now, plays)
        elif local.arms[0] == UNSET:
            return FAULT
        elif local.arms[0] == STOP or not game.may_skip:
            standing = OVER
            break
        played = t
        if CHECKPOINTS and round_mark < round_marks and played == plan.rounds[round_mark]:
            spill(local, space)
            record_checkpoint(
                out.by_round, round_mark, path, played, gain, game.budget, space.left_units, pulls
            )
            round_mark += 1
    out.gain[path] = gain
    out.efficiency[path] = efficiency
    out.rounds[path] = played
    for m in range(RESOURCES):
        out.spent[path, m] = game.budget[m] - local.left_units[m]
    if CHECKPOINTS and standing == OVER:
        spill(local, space)
        for mark in range(round_mark, round_marks):
            record_checkpoint(
                out.by_round, mark, path, played, gain, game.budget, space.left_units, pulls
            )
        for mark in range(budget_mark, budget_marks):
            record_checkpoint(
                out.by_budget, mark, path, played, gain, game.budget, space.left_units, pulls
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
