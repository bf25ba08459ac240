r"""The common part of policies that learn arms and prices at the same time.

Budgets b_j of d resources and, if they limit anything, T rounds become one budget, with costs
rescaled to match:

    B = min(b_1, .., b_d, T),     c'_j = c_j B / b_j,     a round of time costs B / T

A learner that may do nothing has one more action, the last. A round in which it does nothing brings
no report, and nothing in it needs one: what doing nothing is worth is known, and so is what a bonus
for every action adds. So the rounds that have passed are counted, and their known parts are booked
with the next report. A report that comes after one of a later round finds its own already booked.
"""

from typing import Any

from purse.compiler.kernel import kernel
from purse.kernels.fastmath import exp
from purse.types import Floats, Ints, Problem

_OLD = 2**62  # the age of weights that are to be computed again


def common_budget(problem: Problem, rounds: int | None) -> tuple[float, Floats]:
    """Return B, and for each resource the factor B / b_j of its costs."""
    budgets = problem.budget * problem.unit_scale
    budget = float(budgets.min()) if rounds is None else min(float(budgets.min()), float(rounds))
    return budget, budget / budgets


@kernel
def rounds_passed(booked: Ints, t: int) -> int:
    """Book the rounds up to t that are not booked yet; return how many."""
    passed = max(0, t - booked[0])
    booked[0] += passed
    return passed


@kernel
def apply_skipped_rounds(
    passed: int, nothing: float, n_arms: int, primal: Any, learner: Any
) -> None:
    """Add to the gains that EXP3.P has estimated what is known of these rounds, less the bonuses of
    one of them, which come with its report.

    A round is worth beta / chance to every action, and `nothing` to the action beyond the arms.
    If more than that one action changes, all weights are computed again with the report.
    """
    if learner.gains.shape[0] > n_arms:
        learner.gains[n_arms] += passed * nothing
        learner.weights[n_arms] *= exp(primal.eta * nothing)
    if passed != 1:
        learner.age[0] = _OLD
        for i in range(learner.gains.shape[0]):
            learner.gains[i] += (passed - 1) * primal.beta / learner.chances[i]


@kernel
def project(point: Floats, size: float) -> None:
    """Move a point to the nearest one in {x >= 0, sum x <= size}.

    If the positive parts sum to more than `size`, each loses the same, down to 0. That loss is
    found from below: it is right once those that it leaves above 0 would lose all that is too much.
    O(d^2), for d resources, which are few.
    """
    loss = 0.0
    before = -1
    while True:
        above = 0.0
        count = 0
        for j in range(point.shape[0]):
            if point[j] > loss:
                above += point[j]
                count += 1
        if count == before or above - count * loss <= size:
            break
        before = count
        loss = (above - size) / count
    for j in range(point.shape[0]):
        point[j] = max(0.0, point[j] - loss)
