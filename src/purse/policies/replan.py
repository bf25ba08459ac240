r"""Replan: in every round a linear program on what is left, optimistic in proportion to what there
still is to win.

The rule (ours). Of arm i: n reports, mean reward r, mean costs c_j of the d resources, m_j the
largest cost seen, least_j and most_j the declared bounds. B_j is left of the budgets and h rounds
of the horizon, if there is one. N = min{h, min_j B_j / c_j} / K: the pulls of this arm that a
K-th of what is left pays for.

    u(i)   = min{1, r + width}                   width = sqrt(2 L v / (n + 1)) + L top / (3 (n + 1))
    l_j(i) = max{least_j, c_j / (1 + width_j / c_j)}          L = 1/2 ln(1 + N / n)
    plan     maximise sum_i u(i) x(i)  subject to  sum_i l_j(i) x(i) <= B_j,  sum_i x(i) <= h
    play     arm i with probability x(i) / sum x

v is the variance with one more observation of the largest possible one; top is 1 for the reward and
m_j for a cost. An arm without a report has u = 1 - 1 / (1 + sqrt(N)), the reward of a rival that
makes a look break even, and l_j = sqrt(max{least_j, g_j / 100} g_j) / (1 + sqrt(L) + L) with
g_j = most_j times the geometric mean of what the first report on each arm cost of its most_j (1/2
before any). Arms whose most_j exceeds B_j are out while another arm fits. Arms with equal numbers
share their part of the plan. Then:

    guard    let a be the cheapest arm with a report and rho = (its rewards + 1/2) / (n + 1), less
             half a standard error. If the gain so far, one pull of arm i and then a alone, at
             rho a pull, would bring less than 95% of what a alone would have brought from the
             start, a is played in the place of i. An untried arm that is declared no dearer than a
             may be tried.
    looks    with probability 0.2 sqrt(K t) / (t + 1000) any arm; one whose pull takes more of a
             resource than the plan's average pull does, less often in proportion.
    changes  a test on each arm's reward and costs (`purse.kernels.fading_means`). When it finds a
             change, that arm keeps the block that differs and every other arm the weight of two
             reports.
    fading   after k changes the reports on an arm whose last one came in round s weigh
             exp(-(k + 0.15) (t - s) / t) times as much: (k + 0.15) / t is the rate of changes.

Why. The plan on what is left needs no step size, spends all, and mixes arms if two resources are
scarce; money that optimism wasted is seen in the next round. Information is worth what is left to
use it on: nothing is explored when the money is nearly gone, and a dear arm is explored little.
Bounds in an arm's own scale are what costs over several decades need. The guard serves small
budgets, looks and fading serve an arm that gets better while no pull of it comes, the test serves
worlds that change.

Options: scale=0.5 (of L), change=1.5 (threshold of the test, 0: none), fade=0.15, looks=0.2,
guard=0.05 (0: none).

Guarantee: none is proved. Nothing protects it from an adversary that expects it: apart from looks
and mixtures its plans are no secret. Such an adversary is met by `exp3++.bwk`.

Departures from the paper: there is no paper. The index of an untried arm and L follow finite-game
indices (Lattimore, 2016) and MOSS (Audibert and Bubeck, 2009), widths Bernstein's inequality, the
plan those who solve the program again on what is left (Flajolet and Jaillet, 2015; Kumar and
Kleinberg, 2022), the guard conservative bandits (Wu et al., 2016).

Under a mask the plan, looks and guard know only the allowed arms. Caps are bounds on x(i), less the
open tickets on the arm; those count as reports in L, too. When all caps are used up, the game ends.

Needs the budgets; bounds on each arm's own costs if they are known. O(K D) a pivot, about D + 1
pivots a round with D = d, or d + 1 with a horizon; a ratio if D = 1.

>>> import purse
>>> world = purse.worlds.routing(
...     quality=[0.5, 0.6, 0.9], prices=[0.001, 0.2, 0.6], prompts=2000
... )
>>> run = purse.simulate("replan", world, budget=20, n_paths=10, seed=0)
>>> bool(run.gain.mean() > 0.95 * 2000 * 0.5)
True
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.kernels import cold, is_allowed, kernel, number, pick, uniform
from purse.kernels.fading_means import (
    ChangeTest,
    FadingMeans,
    add_value,
    change_rate,
    faded,
    find_change,
    keep_block,
    new_change_test,
    new_means,
    weigh,
)
from purse.kernels.plan import (
    PRIOR,
    TINY,
    GuardStakes,
    find_safe,
    learn_share,
    lower_cost,
    optimism,
    too_risky,
    untried_cost,
    untried_reward,
    usual_share,
)
from purse.kernels.small_lp import SmallLp, new_lp, set_limit, solve
from purse.types import SKIP, STOP, Floats, Ints, Now, Play, Problem

NAME, PLAYS, CAPS, PENDING, VERSION = "replan", 1, True, True, 1
LOOK_ROUNDS = 1000  # looks are rare before
MOST_LOOKS = 0.25


class ReplanParams(NamedTuple):
    scale: float
    change: float
    fade: float
    looks: float
    guard: float
    horizon: float  # infinity without a horizon
    budget: Floats  # (d,)
    parts: Floats  # (d,) 1 / budget
    least: Floats  # (K, d)
    most: Floats  # (K, d)
    caps: Floats  # (K,)


class ReplanState(NamedTuple):
    weights: Floats  # (K,) n, faded; this and the next four: see `FadingMeans`
    means: Floats  # (K, 1 + d) of the reward and the costs
    spreads: Floats  # (K, 1 + d)
    tops: Floats  # (K, 1 + d)
    last: Floats  # (K,)
    taken: Floats  # (K,) reports in all
    earned: Floats  # (1,)
    first: Floats  # (2,) sum of ln(cost / most) over first reports, and their number
    changes: Ints  # (1,) k
    reports: Ints  # (K,) this and the next two: see `ChangeTest`
    sums: Floats  # (K, 1 + d)
    before: Floats  # (K, SIZES, 1 + d)


def params(
    problem: Problem,
    *,
    scale: float = 0.5,
    change: float = 1.5,
    fade: float = 0.15,
    looks: float = 0.2,
    guard: float = 0.05,
) -> ReplanParams:
    """Options: scale, positive; change, fade, looks, at least 0; guard, from 0 to 1."""
    return ReplanParams(
        number("scale", scale, above=0),
        number("change", change, low=0),
        number("fade", fade, low=0),
        number("looks", looks, low=0),
        number("guard", guard, low=0, high=1),
        math.inf if problem.horizon is None else float(problem.horizon),
        problem.budget * problem.unit_scale,
        1 / (problem.budget * problem.unit_scale),
        problem.cost_min * problem.unit_scale,
        problem.cost_max * problem.unit_scale,
        np.full(problem.n_arms, math.inf) if problem.caps is None else problem.caps.astype(float),
    )


def init(params: ReplanParams, problem: Problem) -> ReplanState:
    k, signals = problem.n_arms, 1 + problem.n_resources
    arms, test = new_means(k, signals), new_change_test(k, signals)
    arms.tops[:, 0] = 1
    return ReplanState(*arms, np.zeros(k), np.zeros(1), np.zeros(2), np.zeros(1, np.int64), *test)


def scratch(params: ReplanParams, problem: Problem) -> SmallLp:
    return new_lp(problem.n_arms, problem.n_resources + (problem.horizon is not None))


@kernel
def known_arms(state: ReplanState) -> FadingMeans:
    """Return the part of the state that `fading_means` keeps."""
    return FadingMeans(state.weights, state.means, state.spreads, state.tops, state.last)


@kernel
def plan(params: ReplanParams, state: ReplanState, lp: SmallLp, now: Now) -> None:
    """Write the probability of each arm to `chances`."""
    n_arms = lp.chances.shape[0]
    arms = known_arms(state)
    for j in range(lp.limits.shape[0]):
        set_limit(lp, j, now.left[j] if j < now.left.shape[0] else now.rounds_left)
    share = usual_share(state.first)
    rate = change_rate(params.fade, state.changes[0], now.t)
    for i in range(n_arms):
        lp.caps[i] = params.caps[i] - state.taken[i] - now.pending[i]
        lp.chances[i] = faded(state.weights[i], now.t - state.last[i], rate)
    set_bounds(lp, arms, params.least, params.most, now.pending, params.scale, share)
    open_arms(lp, params.most, now)
    total = solve(lp)
    if total <= 0:
        play_cheapest(lp)
        return
    often = params.looks * math.sqrt(n_arms * float(now.t)) / (now.t + LOOK_ROUNDS)
    looked = add_looks(lp, min(MOST_LOOKS, often) / n_arms, total)
    safe = find_safe(arms, params.parts, lp.open)
    stakes = GuardStakes(
        params.guard, state.earned[0], params.horizon, now.rounds_left, params.budget, now.left
    )
    for i in range(n_arms):
        if lp.pulls[i] > 0:
            part = (1 - looked) * lp.pulls[i] / total
            guarded = params.guard > 0 and safe >= 0 and safe != i
            if guarded and too_risky(arms, stakes, params.most, lp.uses, safe, i):
                lp.chances[safe] += part
            else:
                share_equally(lp, i, part)


@kernel
def choose(
    params: ReplanParams, state: ReplanState, scratch: SmallLp, now: Now, play: Play
) -> None:
    plan(params, state, scratch, now)
    arm = pick(uniform(now.key, 0), scratch.chances)
    while arm >= 0 and scratch.chances[arm] == 0:  # rounding left no arm at the end
        arm -= 1
    if arm < 0:
        play.arms[0] = SKIP if now.masked else STOP
        play.probs[0] = 1.0
    else:
        play.arms[0] = arm
        play.probs[0] = min(1.0, scratch.chances[arm])


@kernel
def probabilities(
    params: ReplanParams, state: ReplanState, scratch: SmallLp, now: Now, out: Floats
) -> None:
    plan(params, state, scratch, now)
    for i in range(out.shape[0]):
        out[i] = min(1.0, scratch.chances[i])


@kernel
def update(
    params: ReplanParams, state: ReplanState, scratch: SmallLp, now: Now, play: Play
) -> None:
    i = play.arms[0]
    arms = known_arms(state)
    if state.weights[i] == 0:
        learn_share(state.first, play.costs[0], params.most[i])
    else:
        rate = change_rate(params.fade, state.changes[0], now.t)
        weigh(arms, i, faded(state.weights[i], now.t - state.last[i], rate))
    state.last[i] = max(state.last[i], float(now.t))
    state.taken[i] += 1
    state.weights[i] += 1
    state.earned[0] += play.rewards[0]
    for s in range(state.means.shape[1]):
        value = play.rewards[0] if s == 0 else play.costs[0, s - 1]
        add_value(arms, i, s, value)
        state.sums[i, s] += value
    if params.change > 0:
        test = ChangeTest(state.reports, state.sums, state.before)
        place = find_change(test, i, state.tops[i], params.change)
        if place >= 0:
            state.changes[0] += 1
            keep_block(arms, test, i, place)


@kernel
def bound_width(level: float, spread: float, top: float, pulls: float) -> float:
    """Return the width of a bound, from L and the sum of the n squared deviations."""
    part = 1 / (pulls + 1)
    variance = (spread + PRIOR * top * top) * part
    return math.sqrt(2 * level * variance * part) + level * top * part / 3


@kernel
def set_bounds(
    lp: SmallLp,
    arms: FadingMeans,
    least: Floats,
    most: Floats,
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
    n_arms, d = most.shape
    timed = lp.uses.shape[1] > d
    for i in range(n_arms):
        part = lp.parts[d] if timed else 0.0
        for j in range(d):
            cost = arms.means[i, 1 + j] if arms.weights[i] > 0 else share * most[i, j]
            part = max(part, max(cost, least[i, j]) * lp.parts[j])
        lp.gains[i] = min(1 / part, max(0.0, lp.caps[i])) * (1 / n_arms)
    for i in range(n_arms):
        pulls = lp.chances[i] * arms.weights[i] + pending[i]
        lp.scales[i] = optimism(scale, lp.gains[i], pulls)
    for i in range(n_arms):
        factor, level = lp.chances[i], lp.scales[i]
        pulls = factor * arms.weights[i]
        if pulls > 0:
            width = bound_width(level, factor * arms.spreads[i, 0], 1.0, pulls)
            lp.gains[i] = min(1.0, arms.means[i, 0] + width)
            for j in range(d):
                spread = factor * arms.spreads[i, 1 + j]
                width = bound_width(level, spread, arms.tops[i, 1 + j], pulls)
                lp.uses[i, j] = max(least[i, j], lower_cost(arms.means[i, 1 + j], width))
        else:
            lp.gains[i] = untried_reward(lp.gains[i] / (1 + pending[i]))
            for j in range(d):
                lp.uses[i, j] = untried_cost(least[i, j], share * most[i, j], level)
        if timed:
            lp.uses[i, d] = 1.0


@kernel
def open_arms(lp: SmallLp, most: Floats, now: Now) -> None:
    """Open the allowed arms below their caps, and of these only those that fit, if any does."""
    n_arms, d = most.shape
    some = False
    for i in range(n_arms):
        fits = is_allowed(now, i) and lp.caps[i] > 0
        for j in range(d):
            fits &= most[i, j] <= now.left[j] * (1 + TINY)
        lp.open[i] = fits
        some |= fits
    if not some:
        for i in range(n_arms):
            lp.open[i] = is_allowed(now, i) and lp.caps[i] > 0


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
        count += is_same(lp, arm, i)
    if count == 1:  # nearly always
        chances[arm] += part
        return
    for i in range(chances.shape[0]):
        if is_same(lp, arm, i):
            chances[i] += part / count


@kernel
def is_same(lp: SmallLp, arm: int, i: int) -> bool:
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
