"""The parts of a path and of a round in which no policy takes part, as kernels of the loop.

They see none of a policy's own types, so they are compiled once for all policies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from purse.compiler.jit import kernel
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
    spill,
)
from purse.kernels.random import REFEREE, U, at, stream
from purse.types import STOP, Floats, Ints, Now

UNSET = -3  # in arms[0] until the policy chooses
# how a path stands; `FAULT`: the policy chose nothing, or an arm that does not exist or is masked
GOING, OVER, FAULT = range(3)
# how a round ended, where the path goes on: with a pull, or without
PULLED, SKIPPED = 3, 4
GAIN, EFFICIENCY = range(2)
ROUNDS, BY_ROUND, BY_BUDGET = range(3)


class PathCounts(NamedTuple):
    """What a path counts, on the stack: what never leaves the loop stays in registers."""

    sums: Floats  # (2,) the gain, and the sum of reward per cost
    counts: Ints  # (3,) rounds played, and the next checkpoint by round and by budget


@kernel
def begin_path(
    resources: int,
    masks: bool,
    checkpoints: bool,
    game: Game,
    plan: CheckpointPlan,
    path: int,
    out: PathResults,
    local: Workspace,
    space: Workspace,
    counted: PathCounts,
) -> None:
    """Go on from where the path's row of `out` stands."""
    counted.sums[GAIN] = out.gain[path]
    counted.sums[EFFICIENCY] = out.efficiency[path]
    counted.counts[ROUNDS] = out.rounds[path]
    for m in range(resources):
        local.left_units[m] = game.budget[m] - out.spent[path, m]
    spill(local, space)
    if masks and counted.counts[ROUNDS] == 0:
        for i in range(space.owed.shape[0]):
            space.owed[i] = 1
    counted.counts[BY_ROUND] = count_rounds(plan, counted.counts[ROUNDS]) if checkpoints else 0
    counted.counts[BY_BUDGET] = count_spent(plan, space.left_units) if checkpoints else 0


@kernel
def mark_arms(game: Game, t: int, local: Workspace, space: Workspace) -> int:
    """Write which arms are allowed in round t, where arms may be masked; return how many."""
    spill(local, space)
    return mark_allowed(game, t, space.left_units, space.allowed)


@kernel
def see_round(ours: U, game: Game, t: int, masked: bool, local: Workspace, space: Workspace) -> Now:
    """Return what the policy sees of round t."""
    return Now(
        at(ours, t),
        t,
        game.horizon - (t - 1),
        local.left,
        masked,
        space.allowed,
        space.pending,
        space.context,
    )


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
def pull_arms(
    draw: Any,
    theirs: U,
    tables: Any,
    plays: int,
    resources: int,
    masks: bool,
    checkpoints: bool,
    rule: int,
    game: Game,
    plan: CheckpointPlan,
    number: int,
    path: int,
    now: Now,
    out: PathResults,
    local: Workspace,
    space: Workspace,
    counted: PathCounts,
) -> int:
    """Pull the arms that were chosen, count and pay; return `PULLED` where the policy shall learn.

    Return `SKIPPED` for a round without a pull, `OVER` where the path ends, or `FAULT`.
    """
    pulls = out.pulls[path]
    if local.arms[0] < 0:
        if local.arms[0] == UNSET:
            return FAULT
        return OVER if local.arms[0] == STOP or not game.may_skip else SKIPPED
    if out_of_range(plays, pulls.shape[0], local) or (masks and breaks_mask(now, local.arms)):
        return FAULT
    if masks and plays > 1 and rule == FIT:
        spill(local, space)
        skip_unfitting(game, space.left_units, space.arms)
        reload(local, space)
    if rule == HOLD and hold_short_of(plays, resources, game, local) >= 0:
        return OVER
    attempt = 0
    while True:
        short = pull(draw, theirs, tables, plays, resources, now.t, local)
        if (
            short < 0
            or rule != RETRY
            or not retry_arm(game, number, now, attempt, short, local, space)
        ):
            break
        attempt += 1
    if short >= 0:
        return OVER
    budget_marks = plan.left.shape[0] if checkpoints else 0
    while counted.counts[BY_BUDGET] < budget_marks and passes(
        plays, resources, local, plan.left[counted.counts[BY_BUDGET]]
    ):
        spill(local, space)
        record_checkpoint(
            out.by_budget,
            counted.counts[BY_BUDGET],
            path,
            counted.counts[ROUNDS],
            counted.sums[GAIN],
            game.budget,
            space.left_units,
            pulls,
        )
        counted.counts[BY_BUDGET] += 1
    for k in range(plays):
        if is_played(k, local.arms):
            counted.sums[GAIN] += local.rewards[k]
            pulls[local.arms[k]] += 1
    pay(plays, resources, game, local)
    if resources == 1:
        for k in range(plays):
            if is_played(k, local.arms):
                counted.sums[EFFICIENCY] += local.rewards[k] * (1 / local.costs[k, 0])
    return PULLED


@kernel
def end_round(
    checkpoints: bool,
    game: Game,
    plan: CheckpointPlan,
    path: int,
    out: PathResults,
    local: Workspace,
    space: Workspace,
    counted: PathCounts,
) -> None:
    """Count the round, and record the checkpoint that it reaches."""
    counted.counts[ROUNDS] += 1
    mark = counted.counts[BY_ROUND]
    round_marks = plan.rounds.shape[0] if checkpoints else 0
    if mark < round_marks and counted.counts[ROUNDS] == plan.rounds[mark]:
        spill(local, space)
        record_checkpoint(
            out.by_round,
            mark,
            path,
            counted.counts[ROUNDS],
            counted.sums[GAIN],
            game.budget,
            space.left_units,
            out.pulls[path],
        )
        counted.counts[BY_ROUND] += 1


@kernel
def end_path(
    resources: int,
    checkpoints: bool,
    standing: int,
    game: Game,
    plan: CheckpointPlan,
    path: int,
    out: PathResults,
    local: Workspace,
    space: Workspace,
    counted: PathCounts,
) -> None:
    """Write the path's row of `out`; at its end also the checkpoints that were not reached."""
    gain, played, pulls = counted.sums[GAIN], counted.counts[ROUNDS], out.pulls[path]
    out.gain[path] = gain
    out.efficiency[path] = counted.sums[EFFICIENCY]
    out.rounds[path] = played
    for m in range(resources):
        out.spent[path, m] = game.budget[m] - local.left_units[m]
    if not checkpoints or standing != OVER:
        return
    spill(local, space)
    for mark in range(counted.counts[BY_ROUND], plan.rounds.shape[0]):
        record_checkpoint(
            out.by_round, mark, path, played, gain, game.budget, space.left_units, pulls
        )
    for mark in range(counted.counts[BY_BUDGET], plan.left.shape[0]):
        record_checkpoint(
            out.by_budget, mark, path, played, gain, game.budget, space.left_units, pulls
        )
