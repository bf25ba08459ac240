"""What the loop writes: results, checkpoints, and the room that one path works in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.engine.rules import short_of
from purse.kernels.random import U
from purse.types import Bools, Floats, Ints, Problem


class CheckpointPlan(NamedTuple):
    """Where to record."""

    rounds: Ints  # (M,)
    # (M, d) units: a checkpoint is passed by the pull that leaves less than this of some resource
    left: Ints


class Checkpoints(NamedTuple):
    """The standing of each path at each checkpoint."""

    rounds: Ints  # (P, M)
    gain: Floats  # (P, M)
    spent: Ints  # (P, M, d) units
    pulls: Ints  # (P, M, K)


class PathResults(NamedTuple):
    """The standing of each path at its end."""

    gain: Floats  # (P,)
    # (P,) the sum of reward per cost, as policies see costs; 0 where there are several resources
    efficiency: Floats
    rounds: Ints  # (P,)
    spent: Ints  # (P, d) units
    pulls: Ints  # (P, K)
    by_round: Checkpoints
    by_budget: Checkpoints


class Workspace(NamedTuple):
    """Room for one path to work in; kernels never allocate."""

    arms: Ints  # (m,)
    probs: Floats  # (m,)
    rewards: Floats  # (m,)
    units: Ints  # (m, d) what the plays cost
    costs: Floats  # (m, d) the same as policies see it
    left_units: Ints  # (d,) units left
    left: Floats  # (d,) the same as policies see it
    excluded: Ints  # (K,) rule `retry`: 1 for arms that were replaced in this round
    allowed: Bools  # (K,) where arms may be masked
    owed: Ints  # (K,) where arms may be masked: 1 for arms that still owe their initial pull
    pending: Ints  # (K,) see `Now`
    context: Floats  # (A, n) see `Now`


def new_workspace(problem: Problem, *, masks: bool = True) -> Workspace:
    """Allocate the room for one thread; without masks nobody may read `allowed` and `owed`."""
    k, m, d = problem.n_arms, problem.plays, problem.n_resources
    n_masked = k if masks else 0
    context = np.zeros(problem.context_shape)
    context[:, -1] = 1
    return Workspace(
        np.zeros(m, np.int64),
        np.zeros(m),
        np.zeros(m),
        np.zeros((m, d), np.int64),
        np.zeros((m, d)),
        np.zeros(d, np.int64),
        np.zeros(d),
        np.zeros(k, np.int64),
        np.ones(n_masked, np.bool_),
        np.ones(n_masked, np.int64),
        np.zeros(k, np.int64),
        context,
    )


@cold
def record_checkpoint(
    record: Checkpoints,
    checkpoint: int,
    path: int,
    rounds: int,
    gain: float,
    budget: Ints,
    left_units: Ints,
    pulls: Ints,
) -> None:
    """Write the standing of a path at one checkpoint."""
    record.rounds[path, checkpoint] = rounds
    record.gain[path, checkpoint] = gain
    for m in range(budget.shape[0]):
        record.spent[path, checkpoint, m] = budget[m] - left_units[m]
    for i in range(pulls.shape[0]):
        record.pulls[path, checkpoint, i] = pulls[i]


@cold
def count_rounds(plan: CheckpointPlan, played: int) -> int:
    """Return how many checkpoints by round a path has reached."""
    reached = 0
    while reached < plan.rounds.shape[0] and plan.rounds[reached] <= played:
        reached += 1
    return reached


@cold
def count_spent(plan: CheckpointPlan, left_units: Ints) -> int:
    """Return how many checkpoints by budget a path has passed."""
    passed = 0
    while passed < plan.left.shape[0]:
        below = False
        for m in range(left_units.shape[0]):
            below |= left_units[m] < plan.left[passed, m]
        if not below:
            break
        passed += 1
    return passed


# The kernels below take arrays and not a `Workspace`: numba takes apart and puts together all that
# is passed, whether it is used or not, and compiling that took more time than all the rest.


@kernel
def passes(plays: int, resources: int, units: Ints, left_units: Ints, floor: Ints) -> bool:
    """Return whether paying leaves less than `floor` of some resource."""
    for m in range(resources):
        after = left_units[m]
        for k in range(plays):
            after -= units[k, m]
        if after < floor[m]:
            return True
    return False


@kernel
def is_played(k: int, arms: Ints) -> bool:
    """Return whether play k takes place: the first does, a later one may be skipped."""
    return k == 0 or arms[k] >= 0


@kernel
def out_of_range(plays: int, n_arms: int, arms: Ints) -> bool:
    """Return whether some arm does not exist; to pull it would write where it must not.

    The first play must be an arm. A skipped play is followed by skipped ones only.
    """
    for k in range(plays):
        arm = arms[k]
        if U(arm) >= U(n_arms) and (k == 0 or arm != -1):  # negative ones are huge
            return True
        if k > 1 and arm >= 0 and arms[k - 1] < 0:
            return True
    return False


@kernel
def hold_short_of(
    plays: int, resources: int, holds: Ints, arms: Ints, units: Ints, left_units: Ints
) -> int:
    """Return the resource of which the most that the plays may cost cannot be held, or -1.

    Write the most that they may cost into `units`.
    """
    for k in range(plays):
        for m in range(resources):
            units[k, m] = holds[arms[k], m] if is_played(k, arms) else 0
    return short_of(plays, resources, units, left_units)


@kernel
def scale_left(resources: int, unit_scale: Floats, left_units: Ints, left: Floats) -> None:
    """Write what is left as the policy sees it."""
    for m in range(resources):
        left[m] = left_units[m] * unit_scale[m]


@kernel
def pay(
    plays: int, resources: int, unit_scale: Floats, units: Ints, left_units: Ints, costs: Floats
) -> None:
    """Take the cost of the plays from what is left, and write it as the policy sees it."""
    for k in range(plays):
        for m in range(resources):
            left_units[m] -= units[k, m]
            costs[k, m] = units[k, m] * unit_scale[m]


@kernel
def pull(
    draw: Any,
    theirs: Any,
    tables: Any,
    plays: int,
    resources: int,
    t: int,
    arms: Ints,
    rewards: Floats,
    units: Ints,
    left_units: Ints,
) -> int:
    """Pull the arms; return the resource that cannot pay for it, or -1."""
    for k in range(plays):
        if is_played(k, arms):
            rewards[k] = draw(theirs, tables, t, arms[k], units[k])
        else:
            rewards[k] = 0.0
            for m in range(resources):
                units[k, m] = 0
    return short_of(plays, resources, units, left_units)


@kernel
def copy_play(from_arms: Ints, from_probs: Floats, arms: Ints, probs: Floats) -> None:
    """Copy arms and probabilities between registers and memory.

    An argument of a real call must lie in memory.
    """
    for k in range(arms.shape[0]):
        arms[k] = from_arms[k]
        probs[k] = from_probs[k]


@kernel
def copy_left(from_units: Ints, left_units: Ints) -> None:
    """Copy what is left from registers to memory."""
    for m in range(left_units.shape[0]):
        left_units[m] = from_units[m]
