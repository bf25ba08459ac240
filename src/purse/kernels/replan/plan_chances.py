"""The program of `replan`, and the chance of each arm from its solution."""

from __future__ import annotations

import math

from purse.compiler.kernel import cold, kernel
from purse.kernels.masks import is_allowed
from purse.kernels.replan.fading_means import FadingMeans
from purse.kernels.replan.plan import (
    PRIOR,
    TINY,
    lower_cost,
    optimism,
    untried_cost,
    untried_reward,
)
from purse.kernels.small_lp import SmallLp
from purse.types import Floats, Ints, Now


@kernel
def _bound_width(level: float, spread: float, top: float, pulls: float) -> float:
    """Return the width of a bound, from L and the sum of the n squared deviations."""
    part = 1 / (pulls + 1)
    variance = (spread + PRIOR * top * top) * part
    return math.sqrt(2 * level * variance * part) + level * top * part / 3


@kernel
def set_bounds(
    lp: SmallLp,
    arms: FadingMeans,
    cost_min: Floats,
    cost_max: Floats,
    pending: Ints,
    scale: float,
    share: float,
) -> None:
    """Write u to `gains` and l to `uses`.

    The program must have its limits and caps, and in `chances` the part of their weight that the
    reports on each arm still have. Its rows are the d resources and, with a horizon, time. `share`:
    see `usual_share`. A loop for each step, because an arm's steps wait for each other and those of
    several arms do not; in between `gains` has N and `scales` has L.
    """
    n_arms, d = cost_max.shape
    timed = lp.uses.shape[1] > d
    for i in range(n_arms):
        part = lp.parts[d] if timed else 0.0
        for j in range(d):
            cost = arms.means[i, 1 + j] if arms.weights[i] > 0 else share * cost_max[i, j]
            part = max(part, max(cost, cost_min[i, j]) * lp.parts[j])
        lp.gains[i] = min(1 / part, max(0.0, lp.caps[i])) * (1 / n_arms)
    for i in range(n_arms):
        pulls = lp.chances[i] * arms.weights[i] + pending[i]
        lp.scales[i] = optimism(scale, lp.gains[i], pulls)
    for i in range(n_arms):
        factor, level = lp.chances[i], lp.scales[i]
        pulls = factor * arms.weights[i]
        if pulls > 0:
            width = _bound_width(level, factor * arms.spreads[i, 0], 1.0, pulls)
            lp.gains[i] = min(1.0, arms.means[i, 0] + width)
            for j in range(d):
                spread = factor * arms.spreads[i, 1 + j]
                width = _bound_width(level, spread, arms.tops[i, 1 + j], pulls)
                lp.uses[i, j] = max(cost_min[i, j], lower_cost(arms.means[i, 1 + j], width))
        else:
            lp.gains[i] = untried_reward(lp.gains[i] / (1 + pending[i]))
            for j in range(d):
                lp.uses[i, j] = untried_cost(cost_min[i, j], share * cost_max[i, j], level)
        if timed:
            lp.uses[i, d] = 1.0


@kernel
def open_arms(lp: SmallLp, cost_max: Floats, now: Now, masks: bool) -> None:
    """Open the allowed arms below their caps, and of these only those that fit, if any does.

    cost_max   (K, d) the declared largest costs
    masks      whether the plan is for rounds with all kinds of masks: then all arms are allowed
    """
    n_arms, d = cost_max.shape
    some = False
    for i in range(n_arms):
        fits = (masks or is_allowed(now, i)) and lp.caps[i] > 0
        for j in range(d):
            fits &= cost_max[i, j] <= now.left[j] * (1 + TINY)
        lp.open[i] = fits
        some |= fits
    if not some:
        for i in range(n_arms):
            lp.open[i] = (masks or is_allowed(now, i)) and lp.caps[i] > 0


@kernel
def add_looks(lp: SmallLp, rate: float, total: float) -> float:
    """Write each arm's chance of a look; return their sum.

    rate    of an arm that takes no more of any row than the average pull
    total   the sum of the planned pulls, as `solve` returned it
    """
    chances = lp.chances
    n_arms = chances.shape[0]
    for i in range(n_arms):
        chances[i] = rate if lp.open[i] else 0.0
    for j in range(lp.uses.shape[1]):
        average = 0.0
        for i in range(n_arms):
            average += lp.pulls[i] * lp.uses[i, j]
        average /= total
        for i in range(n_arms):
            if lp.uses[i, j] > average and lp.open[i]:
                chances[i] = min(chances[i], rate * average / lp.uses[i, j])
    looked = 0.0
    for i in range(n_arms):
        looked += chances[i]
    return looked


@kernel
def share_equally(lp: SmallLp, arm: int, part: float) -> None:
    """Add the same to the chances of all open arms with the numbers of `arm`, `part` together."""
    chances = lp.chances
    count = 0
    for i in range(chances.shape[0]):
        count += _is_same(lp, arm, i)
    if count == 1:  # nearly always
        chances[arm] += part
        return
    for i in range(chances.shape[0]):
        if _is_same(lp, arm, i):
            chances[i] += part / count


@kernel
def _is_same(lp: SmallLp, arm: int, i: int) -> bool:
    """Return whether arm i is open and has the numbers of `arm`."""
    if lp.gains[i] != lp.gains[arm] or not lp.open[i]:
        return False
    for j in range(lp.uses.shape[1]):
        if lp.uses[i, j] != lp.uses[arm, j]:
            return False
    return True


@cold
def play_cheapest(lp: SmallLp) -> None:
    """Give all to the open arm that takes least of the first row; 0 if no arm is open."""
    arm = -1
    for i in range(lp.gains.shape[0]):
        lp.chances[i] = 0.0
        if lp.open[i] and (arm < 0 or lp.uses[i, 0] < lp.uses[arm, 0]):
            arm = i
    if arm >= 0:
        lp.chances[arm] = 1.0
