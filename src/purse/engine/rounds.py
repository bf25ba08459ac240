"""The parts of a path and of a round in which no policy takes part, as kernels of the loop.

They see none of a policy's own types, so they are compiled once for all policies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from purse.compiler.kernel import kernel
from purse.engine.rules import (
    HOLD,
    RETRY,
    Game,
    initial_pull,
    mark_allowed,
    owed_pull,
    replace_arm,
    settle_owed,
    skip_unfitting,
)
from purse.engine.workspace import (
    CheckpointPlan,
    Checkpoints,
    PathResults,
    Workspace,
    copy_left,
    copy_play,
    count_rounds,
    count_spent,
    hold_short_of,
    is_played,
    out_of_range,
    passes,
    pay,
    pull,
    record_checkpoint,
)
from purse.kernels.random import REFEREE, U, at, stream
from purse.types import STOP, Bools, Floats, Ints, Now

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
    checkpoints: bool,
    budget: Ints,
    plan: CheckpointPlan,
    path: int,
    out: PathResults,
    from_units: Ints,
    left_units: Ints,
    counted: PathCounts,
) -> None:
    """Go on from where the path's row of `out` stands; write what is left to both arrays."""
    counted.sums[GAIN] = out.gain[path]
    counted.sums[EFFICIENCY] = out.efficiency[path]
    counted.counts[ROUNDS] = out.rounds[path]
    for m in range(resources):
        from_units[m] = budget[m] - out.spent[path, m]
    copy_left(from_units, left_units)
    counted.counts[BY_ROUND] = count_rounds(plan, counted.counts[ROUNDS]) if checkpoints else 0
    counted.counts[BY_BUDGET] = count_spent(plan, left_units) if checkpoints else 0


@kernel
def owe_all(owed: Ints) -> None:
    """Let every arm owe its initial pull."""
    for i in range(owed.shape[0]):
        owed[i] = 1


@kernel
def mark_arms(game: Game, t: int, local: Workspace, space: Workspace) -> int:
    """Write which arms are allowed in round t, where arms may be masked; return how many."""
    copy_left(local.left_units, space.left_units)
    return mark_allowed(game, t, space.left_units, space.allowed)


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
        copy_play(space.arms, space.probs, local.arms, local.probs)
        return True
    return False


@kernel
def retry_arm(
    key: U,
    masked: bool,
    allowed: Bools,
    attempt: int,
    short: int,
    local: Workspace,
    space: Workspace,
) -> bool:
    """Rule `retry`: replace an arm that cannot be paid; False when none is left."""
    if attempt == 0:
        for i in range(space.excluded.shape[0]):
            space.excluded[i] = masked and not allowed[i]
    copy_play(local.arms, local.probs, space.arms, space.probs)
    found = replace_arm(key, attempt, short, space.units, space.arms, space.probs, space.excluded)
    copy_play(space.arms, space.probs, local.arms, local.probs)
    return found


@kernel
def skip_plays(game: Game, local: Workspace, space: Workspace) -> None:
    """Under rule `fit`, skip all plays from the first that does not fit."""
    copy_play(local.arms, local.probs, space.arms, space.probs)
    copy_left(local.left_units, space.left_units)
    skip_unfitting(game.holds, space.left_units, space.arms)
    copy_play(space.arms, space.probs, local.arms, local.probs)


@kernel
def read_choice(plays: int, n_arms: int, may_skip: bool, arms: Ints) -> int:
    """Return `PULLED` for arms that can be pulled.

    Return `SKIPPED` for a round without a pull, `OVER` where the policy ends the path, or `FAULT`.
    """
    if arms[0] < 0:
        if arms[0] == UNSET:
            return FAULT
        return OVER if arms[0] == STOP or not may_skip else SKIPPED
    return FAULT if out_of_range(plays, n_arms, arms) else PULLED


@kernel
def pull_arms(
    draw: Any,
    theirs: U,
    tables: Any,
    plays: int,
    resources: int,
    checkpoints: bool,
    rule: int,
    game: Game,
    marks: Ints,
    number: int,
    path: int,
    now: Now,
    pulls: Ints,
    record: Checkpoints,
    local: Workspace,
    space: Workspace,
    counted: PathCounts,
) -> int:
    """Pull the arms that were chosen, count and pay; return `PULLED` or, at the end, `OVER`.

    marks    (M, d) units: where to write checkpoints by budget
    pulls    (K,) the path's row of pulls
    record   where its checkpoints by budget are written
    """
    units, left_units = space.units, local.left_units
    if rule == HOLD and (
        hold_short_of(plays, resources, game.holds, local.arms, units, left_units) >= 0
    ):
        return OVER
    attempt = 0
    while True:
        short = pull(
            draw,
            theirs,
            tables,
            plays,
            resources,
            now.t,
            local.arms,
            local.rewards,
            units,
            left_units,
        )
        if (
            short < 0
            or rule != RETRY
            or not retry_arm(
                at(stream(game.seed, number, REFEREE), now.t),
                now.masked,
                now.allowed,
                attempt,
                short,
                local,
                space,
            )
        ):
            break
        attempt += 1
    if short >= 0:
        return OVER
    budget_marks = marks.shape[0] if checkpoints else 0
    while counted.counts[BY_BUDGET] < budget_marks and passes(
        plays, resources, units, left_units, marks[counted.counts[BY_BUDGET]]
    ):
        copy_left(left_units, space.left_units)
        record_checkpoint(
            record,
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
    pay(plays, resources, game.unit_scale, units, left_units, local.costs)
    if resources == 1:
        for k in range(plays):
            if is_played(k, local.arms):
                counted.sums[EFFICIENCY] += local.rewards[k] * (1 / local.costs[k, 0])
    return PULLED


@kernel
def end_round(
    checkpoints: bool,
    budget: Ints,
    marks: Ints,
    path: int,
    pulls: Ints,
    record: Checkpoints,
    from_units: Ints,
    left_units: Ints,
    counted: PathCounts,
) -> None:
    """Count the round, and record the checkpoint that it reaches.

    marks   (M,) the rounds to record; the others are as for `pull_arms`
    """
    counted.counts[ROUNDS] += 1
    mark = counted.counts[BY_ROUND]
    round_marks = marks.shape[0] if checkpoints else 0
    if mark < round_marks and counted.counts[ROUNDS] == marks[mark]:
        copy_left(from_units, left_units)
        record_checkpoint(
            record,
            mark,
            path,
            counted.counts[ROUNDS],
            counted.sums[GAIN],
            budget,
            left_units,
            pulls,
        )
        counted.counts[BY_ROUND] += 1


@kernel
def end_path(
    resources: int,
    checkpoints: bool,
    standing: int,
    budget: Ints,
    plan: CheckpointPlan,
    path: int,
    out: PathResults,
    from_units: Ints,
    left_units: Ints,
    counted: PathCounts,
) -> None:
    """Write the path's row of `out`; at its end also the checkpoints that were not reached."""
    gain, played, pulls = counted.sums[GAIN], counted.counts[ROUNDS], out.pulls[path]
    out.gain[path] = gain
    out.efficiency[path] = counted.sums[EFFICIENCY]
    out.rounds[path] = played
    for m in range(resources):
        out.spent[path, m] = budget[m] - from_units[m]
    if not checkpoints or standing != OVER:
        return
    copy_left(from_units, left_units)
    for mark in range(counted.counts[BY_ROUND], plan.rounds.shape[0]):
        record_checkpoint(out.by_round, mark, path, played, gain, budget, left_units, pulls)
    for mark in range(counted.counts[BY_BUDGET], plan.left.shape[0]):
        record_checkpoint(out.by_budget, mark, path, played, gain, budget, left_units, pulls)
