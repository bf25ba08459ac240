"""The parts of a path and of a round in which no policy takes part, as kernels of the loop.

They see none of a policy's own types, so they are compiled once for all policies.
"""

from typing import Any, NamedTuple

from purse.compiler.kernel import kernel
from purse.engine.rules import HOLD, RETRY, Game, initial_pull, owed_pull, replace_arm, settle_owed
from purse.engine.workspace import (
    CheckpointPlan,
    Checkpoints,
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
)
from purse.kernels.random import REFEREE, U, at, stream
from purse.types import STOP, Floats, Ints, Now

UNSET = -3  # in arms[0] until the policy chooses
MASKED = -(2**20)  # in arms[0], less the arm, after a live policy has chosen one that is masked
# how a path stands; `FAULT`: the policy chose nothing, or an arm that does not exist or is masked
GOING, OVER, FAULT = range(3)
# how a round ended if the path goes on: with a pull, or without
PULLED, SKIPPED = 3, 4
_GAIN, _EFFICIENCY = range(2)
ROUNDS, _BY_ROUND, _BY_BUDGET = range(3)


class Path(NamedTuple):
    """A path that the loop plays, without its policy.

    Small arrays lie on the stack: as long as all kernels that see them are inlined, they stay in
    registers.
    """

    number: int  # says which random numbers it meets
    row: int  # in the results
    key: U  # of the world's random numbers
    tables: Any  # of the world
    rule: int  # the stop rule; a constant if it is known beforehand
    checkpoints: bool  # whether there may be any
    game: Game
    plan: CheckpointPlan
    out: PathResults
    space: Workspace
    sums: Floats  # (2,) the gain, and the sum of reward per cost
    counts: Ints  # (3,) rounds played, and the next checkpoint by round and by budget


@kernel
def begin_path(path: Path) -> None:
    """Go on from the path's row of the results."""
    out, row, left_units = path.out, path.row, path.space.left_units
    path.sums[_GAIN] = out.gain[row]
    path.sums[_EFFICIENCY] = out.efficiency[row]
    path.counts[ROUNDS] = out.rounds[row]
    for m in range(left_units.shape[0]):
        left_units[m] = path.game.budget[m] - out.spent[row, m]
    if path.checkpoints:
        path.counts[_BY_ROUND] = count_rounds(path.plan, path.counts[ROUNDS])
        path.counts[_BY_BUDGET] = count_spent(path.plan, left_units)


@kernel
def owe_all(owed: Ints) -> None:
    """Let every arm owe its initial pull."""
    for i in range(owed.shape[0]):
        owed[i] = 1


@kernel
def make_initial_pull(masks: bool, path: Path, now: Now) -> bool:
    """Write the arms of an initial pull; return False if this round has none."""
    space = path.space
    if masks:
        if not owed_pull(now, space):
            return False
        settle_owed(space)
        return True
    if now.t > path.game.initial_rounds:
        return False
    initial_pull(now.t, path.out.pulls.shape[1], space.arms, space.probs)
    return True


@kernel
def read_choice(path: Path) -> int:
    """Return `PULLED` for arms that can be pulled.

    Return `SKIPPED` for a round without a pull, `OVER` if the policy ends the path, or `FAULT`.
    """
    arms = path.space.arms
    if arms[0] < 0:
        if arms[0] == UNSET:
            return FAULT
        return OVER if arms[0] == STOP or not path.game.may_skip else SKIPPED
    return FAULT if out_of_range(path.out.pulls.shape[1], arms) else PULLED


@kernel
def _retry_arm(path: Path, now: Now, attempt: int, short: int) -> bool:
    """Rule `retry`: replace an arm that cannot be paid; False when none is left."""
    space = path.space
    if attempt == 0:
        for i in range(space.excluded.shape[0]):
            space.excluded[i] = now.masked and not now.allowed[i]
    key = at(stream(path.game.seed, path.number, REFEREE), now.t)
    return replace_arm(key, attempt, short, space)


@kernel
def pull_arms(draw: Any, path: Path, now: Now) -> int:
    """Pull the arms that were chosen, count and pay; return `PULLED` or, at the end, `OVER`."""
    if path.rule == HOLD and hold_short_of(path.game.holds, path.space) >= 0:
        return OVER
    attempt = 0
    while True:
        short = pull(draw, path.key, path.tables, now.t, path.space)
        if short < 0 or path.rule != RETRY or not _retry_arm(path, now, attempt, short):
            break
        attempt += 1
    if short >= 0:
        return OVER
    pay_pull(path)
    return PULLED


@kernel
def pay_pull(path: Path) -> None:
    """Count and pay a pull, and record the checkpoints that it passes."""
    space, pulls = path.space, path.out.pulls[path.row]
    marks = path.plan.left.shape[0] if path.checkpoints else 0
    while path.counts[_BY_BUDGET] < marks and passes(
        space, path.plan.left[path.counts[_BY_BUDGET]]
    ):
        _record(path.out.by_budget, path.counts[_BY_BUDGET], path)
        path.counts[_BY_BUDGET] += 1
    for k in range(space.arms.shape[0]):
        if is_played(k, space.arms):
            path.sums[_GAIN] += space.rewards[k]
            pulls[space.arms[k]] += 1
    pay(path.game.unit_scale, space)
    if space.left_units.shape[0] == 1:
        for k in range(space.arms.shape[0]):
            if is_played(k, space.arms):
                path.sums[_EFFICIENCY] += space.rewards[k] * (1 / space.costs[k, 0])


@kernel
def end_round(path: Path) -> None:
    """Count the round, and record the checkpoint that it reaches."""
    path.counts[ROUNDS] += 1
    mark, rounds = path.counts[_BY_ROUND], path.plan.rounds
    marks = rounds.shape[0] if path.checkpoints else 0
    if mark < marks and path.counts[ROUNDS] == rounds[mark]:
        _record(path.out.by_round, mark, path)
        path.counts[_BY_ROUND] += 1


@kernel
def _record(to: Checkpoints, mark: int, path: Path) -> None:
    row, budget, pulls = path.row, path.game.budget, path.out.pulls[path.row]
    to.rounds[row, mark] = path.counts[ROUNDS]
    to.gain[row, mark] = path.sums[_GAIN]
    for m in range(budget.shape[0]):
        to.spent[row, mark, m] = budget[m] - path.space.left_units[m]
    for i in range(pulls.shape[0]):
        to.pulls[row, mark, i] = pulls[i]


@kernel
def end_path(path: Path, standing: int) -> None:
    """Write the path's row of the results; at its end also the checkpoints it did not reach."""
    out, row = path.out, path.row
    out.gain[row] = path.sums[_GAIN]
    out.efficiency[row] = path.sums[_EFFICIENCY]
    out.rounds[row] = path.counts[ROUNDS]
    for m in range(path.space.left_units.shape[0]):
        out.spent[row, m] = path.game.budget[m] - path.space.left_units[m]
    if path.checkpoints and standing == OVER:
        for mark in range(path.counts[_BY_ROUND], path.plan.rounds.shape[0]):
            _record(out.by_round, mark, path)
        for mark in range(path.counts[_BY_BUDGET], path.plan.left.shape[0]):
            _record(out.by_budget, mark, path)
