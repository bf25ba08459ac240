"""The arrays that the loop writes: results, checkpoints, and the room of one path."""

from typing import Any, NamedTuple

import numpy as np

from purse.compiler.kernel import kernel
from purse.kernels.random import U
from purse.types import Bools, Floats, Ints, Problem

COUNTED_MASKS = 16  # C, see `purse.engine.rules.count_mask`


class CheckpointPlan(NamedTuple):
    """The rounds and the budgets at which a path is recorded."""

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
    # (P,) the sum of reward per cost, as policies see costs; 0 if there are several resources
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
    allowed: Bools  # (K,) if arms may be masked
    owed: Ints  # (K,) if arms may be masked: 1 for arms that still owe their initial pull
    masks: Bools  # (C, K) if masks are counted, see `Now`
    seen: Ints  # (C,) likewise
    pending: Ints  # (K,) see `Now`
    context: Floats  # (A, n) see `Now`


def new_workspace(problem: Problem, *, masks: bool = True, counted: bool = True) -> Workspace:
    """Allocate the room for one thread.

    Without masks `allowed` and `owed` are empty; `masks` and `seen` are if masks are not counted.
    """
    k, m, d = problem.n_arms, problem.plays, problem.n_resources
    n_masked = k if masks else 0
    n_counted = COUNTED_MASKS if counted else 0
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
        np.zeros((n_counted, k), np.bool_),
        np.zeros(n_counted, np.int64),
        np.zeros(k, np.int64),
        context,
    )


@kernel
def count_rounds(plan: CheckpointPlan, played: int) -> int:
    """Return how many checkpoints by round a path has reached."""
    reached = 0
    while reached < plan.rounds.shape[0] and plan.rounds[reached] <= played:
        reached += 1
    return reached


@kernel
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


# Loops run over the shapes of arrays that the loop has on the stack, which are constants there.


@kernel
def passes(space: Workspace, floor: Ints) -> bool:
    """Return whether paying leaves less than `floor` of some resource."""
    for m in range(space.left_units.shape[0]):
        after = space.left_units[m]
        for k in range(space.arms.shape[0]):
            after -= space.units[k, m]
        if after < floor[m]:
            return True
    return False


@kernel
def is_played(k: int, arms: Ints) -> bool:
    """Return whether play k takes place: the first does, a later one may be skipped."""
    return k == 0 or arms[k] >= 0


@kernel
def out_of_range(n_arms: int, arms: Ints) -> bool:
    """Return whether some arm does not exist; to pull it would write beyond an array.

    The first play must be an arm. A skipped play is followed by skipped ones only.
    """
    for k in range(arms.shape[0]):
        arm = arms[k]
        if U(arm) >= U(n_arms) and (k == 0 or arm != -1):  # negative ones are huge
            return True
        if k > 1 and arm >= 0 and arms[k - 1] < 0:
            return True
    return False


@kernel
def short_of(space: Workspace) -> int:
    """Return the first resource of which the plays together cost more than is left, or -1."""
    for m in range(space.left_units.shape[0]):
        need = 0
        for k in range(space.arms.shape[0]):
            need += space.units[k, m]
        if need > space.left_units[m]:
            return m
    return -1


@kernel
def hold_short_of(holds: Ints, space: Workspace) -> int:
    """Return the resource of which the most that the plays may cost cannot be held, or -1.

    Write the most that they may cost into `units`.
    """
    for k in range(space.arms.shape[0]):
        for m in range(space.left_units.shape[0]):
            space.units[k, m] = holds[space.arms[k], m] if is_played(k, space.arms) else 0
    return short_of(space)


@kernel
def scale_left(unit_scale: Floats, space: Workspace) -> None:
    """Write what is left as the policy sees it."""
    for m in range(space.left_units.shape[0]):
        space.left[m] = space.left_units[m] * unit_scale[m]


@kernel
def pay(unit_scale: Floats, space: Workspace) -> None:
    """Take the cost of the plays from what is left, and write it as the policy sees it."""
    for k in range(space.arms.shape[0]):
        for m in range(space.left_units.shape[0]):
            space.left_units[m] -= space.units[k, m]
            space.costs[k, m] = space.units[k, m] * unit_scale[m]


@kernel
def pull(draw: Any, key: U, tables: Any, t: int, space: Workspace) -> int:
    """Pull the arms; return the resource that cannot pay for it, or -1."""
    for k in range(space.arms.shape[0]):
        if is_played(k, space.arms):
            space.rewards[k] = draw(key, tables, t, space.arms[k], space.units[k])
        else:
            space.rewards[k] = 0.0
            for m in range(space.left_units.shape[0]):
                space.units[k, m] = 0
    return short_of(space)
