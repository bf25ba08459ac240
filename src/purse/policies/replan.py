r"""Replan: in every round a linear program on what is left, optimistic in proportion to what there
still is to win.

The rule (ours). Of arm i: n reports, mean reward r, mean costs c_j of the d resources, m_j the
largest cost seen, least_j and most_j the declared bounds. B_j is left of the budgets and h rounds
of the horizon, where there is one. N = min{h, min_j B_j / c_j} / K: the pulls of this arm that a
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
             half a standard error. Where the gain so far, one pull of arm i and then a alone, at
             rho a pull, would bring less than 95% of what a alone would have brought from the
             start, a is played in the place of i. An untried arm that is declared no dearer than a
             may be tried.
    looks    with probability 0.2 sqrt(K t) / (t + 1000) any arm; one whose pull takes more of a
             resource than the plan's average pull does, less often in proportion.
    changes  a test on each arm's reward and costs (`purse.kernels.change_test`). When it finds a
             change, that arm keeps the block that differs and every other arm the weight of two
             reports.
    fading   after k changes the reports on an arm whose last one came in round s weigh
             exp(-(k + 0.15) (t - s) / t) times as much: (k + 0.15) / t is the rate of changes.

Why. The plan on what is left needs no step size, spends all, and mixes arms where two resources are
scarce; money that optimism wasted is seen in the next round. Information is worth what is left to
use it on: L is half of ln(1 + N / n), as in indices for games of known length, so nothing is
explored when the money is nearly gone, and a dear arm is explored little. N is a K-th of what is
left, as in MOSS: with many arms no arm can be learnt well. Bounds in an arm's own scale are what
costs over several decades need. The guard serves small budgets, looks and fading serve an arm that
gets better while nobody plays it, the test serves worlds that change.

| symbol | code |
|---|---|
| n | `state.weights[i]`, faded |
| r and c_j | `state.means[i, 0]` and `state.means[i, 1 + j]` |
| (n + 1) v, without the added observation | `state.spreads[i, s]` |
| top | `state.tops[i, s]` |
| u(i), l_j(i), x(i) | `lp.gains[i]`, `lp.uses[i, j]`, `lp.pulls[i]` |
| s, k | `state.last[i]`, `state.changes[0]` |

Options: scale=0.5 (of L), change=1.5 (threshold of the test, 0: none), fade=0.15, looks=0.2,
guard=0.05 (0: none).

Guarantee: none is proved. Its parts have theory: indices of finite games, the program on what is
left, the likelihood test. Nothing protects it from an adversary who knows it: apart from looks and
mixtures its plans are no secret. Such an adversary is met by `exp3++.bwk`.

Departures from the paper: there is no paper. The index of an untried arm and L follow finite-game
indices (Lattimore, 2016) and MOSS (Audibert and Bubeck, 2009), widths Bernstein's inequality, the
plan those who solve the program again on what is left (Flajolet and Jaillet, 2015; Kumar and
Kleinberg, 2022), the guard conservative bandits (Wu et al., 2016).

Under a mask the plan, looks and guard know only the allowed arms. Caps are bounds on x(i), less the
open tickets on the arm; those count as reports in L, too. When all caps are used up, the game ends.

Needs the budgets; bounds on each arm's own costs where they are known. O(K D) a pivot, about D + 1
pivots a round with D = d, or d + 1 with a horizon; a ratio where D = 1.

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

from purse.kernels import (
    ChangeTest,
    SmallLp,
    begin_afresh,
    block_mean,
    bound_width,
    cold,
    exp,
    find_change,
    is_allowed,
    kernel,
    log,
    lower_cost,
    new_change_test,
    new_lp,
    number,
    optimism,
    pick,
    set_limit,
    solve,
    uniform,
    untried_reward,
)
from purse.kernels.change_test import FIRST_BLOCK
from purse.kernels.information import PRIOR
from purse.types import SKIP, STOP, Floats, Ints, Now, Play, Problem

NAME, PLAYS, CAPS, PENDING = "replan", 1, True, True
LOOK_ROUNDS = 1000  # looks are rare before
MOST_LOOKS = 0.25
CHEAPER = 0.01  # an untried arm may cost a tenth of what others suggest, sqrt(0.01)
KEPT = 2.0  # the weight that other arms keep after a change
TINY = 1e-12


class ReplanParams(NamedTuple):
    scale: float
    change: float
    fade: float
    looks: float
    guard: float
    horizon: float  # infinity where there is none
    part: float  # 1 / K
    budget: Floats  # (d,)
    parts: Floats  # (d,) 1 / budget
    least: Floats  # (K, d)
    most: Floats  # (K, d)
    caps: Floats  # (K,)


class ReplanState(NamedTuple):
    weights: Floats  # (K,)
    means: Floats  # (K, 1 + d) of the reward and the costs
    spreads: Floats  # (K, 1 + d) sums of squared deviations
    tops: Floats  # (K, 1 + d)
    last: Floats  # (K,) the round of the last report
    taken: Floats  # (K,) reports in all
    earned: Floats  # (1,)
    first: Floats  # (2,) sum of ln(cost / most) over first reports, and their number
    changes: Ints  # (1,)
    reports: Ints  # (K,) of the change test, see `ChangeTest`
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
        1 / problem.n_arms,
        problem.budget * problem.unit_scale,
        1 / (problem.budget * problem.unit_scale),
        problem.cost_min * problem.unit_scale,
        problem.cost_max * problem.unit_scale,
        np.full(problem.n_arms, math.inf) if problem.caps is None else problem.caps.astype(float),
    )


def init(params: ReplanParams, problem: Problem) -> ReplanState:
    k, signals = problem.n_arms, 1 + problem.n_resources
    tops = np.zeros((k, signals))
    tops[:, 0] = 1
    return ReplanState(
        np.zeros(k),
        np.zeros((k, signals)),
        np.zeros((k, signals)),
        tops,
        np.zeros(k),
        np.zeros(k),
        np.zeros(1),
        np.zeros(2),
        np.zeros(1, np.int64),
        *new_change_test(k, signals),
    )


def scratch(params: ReplanParams, problem: Problem) -> SmallLp:
    return new_lp(problem.n_arms, problem.n_resources + (problem.horizon is not None))


@kernel
def fading(params: ReplanParams, state: ReplanState, t: int) -> float:
    """The estimated rate of changes in round t."""
    return (params.fade + state.changes[0]) / t


@kernel
def faded(state: ReplanState, rate: float, t: int, i: int) -> float:
    """What the reports on arm i count for in round t; all of them at least as much as one."""
    factor = exp(-rate * max(0.0, t - state.last[i]))
    return factor if state.weights[i] * factor >= 1 else 1 / max(1.0, state.weights[i])


@kernel
def estimate_all(params: ReplanParams, state: ReplanState, lp: SmallLp, now: Now) -> None:
    """Write u(i) and l_j(i) of all arms.

    A loop for each step, because an arm's steps wait for each other and those of several arms do
    not. In between `chances` has the weight of a report, `gains` has N and `scales` has L.
    """
    n_arms = params.most.shape[0]
    share = exp(state.first[0] / state.first[1]) if state.first[1] > 0 else 0.5
    rate = fading(params, state, now.t)
    for i in range(n_arms):
        lp.caps[i] = params.caps[i] - state.taken[i] - now.pending[i]
        lp.chances[i] = faded(state, rate, now.t, i)
    for i in range(n_arms):
        lp.gains[i] = affordable(params, state, lp, share, i)
    for i in range(n_arms):
        pulls = lp.chances[i] * state.weights[i] + now.pending[i]
        lp.scales[i] = optimism(params.scale, lp.gains[i], pulls)
    for i in range(n_arms):
        estimate(params, state, lp, now, share, i)


@kernel
def affordable(
    params: ReplanParams, state: ReplanState, lp: SmallLp, share: float, i: int
) -> float:
    """N of arm i; an untried arm costs `share` of the most."""
    d = params.most.shape[1]
    part = lp.parts[d] if lp.parts.shape[0] > d else 0.0
    for j in range(d):
        cost = state.means[i, 1 + j] if state.weights[i] > 0 else share * params.most[i, j]
        part = max(part, max(cost, params.least[i, j]) * lp.parts[j])
    return min(1 / part, max(0.0, lp.caps[i])) * params.part


@kernel
def estimate(
    params: ReplanParams, state: ReplanState, lp: SmallLp, now: Now, share: float, i: int
) -> None:
    """Write u(i) and l_j(i), from what `estimate_all` has written before."""
    d = params.most.shape[1]
    factor, level = lp.chances[i], lp.scales[i]
    pulls = factor * state.weights[i]
    if pulls > 0:
        width = bound_width(level, factor * state.spreads[i, 0], 1.0, pulls)
        lp.gains[i] = min(1.0, state.means[i, 0] + width)
        for j in range(d):
            spread = factor * state.spreads[i, 1 + j]
            width = bound_width(level, spread, state.tops[i, 1 + j], pulls)
            lp.uses[i, j] = max(params.least[i, j], lower_cost(state.means[i, 1 + j], width))
    else:
        lp.gains[i] = untried_reward(lp.gains[i] / (1 + now.pending[i]))
        for j in range(d):
            high = share * params.most[i, j]
            low = min(high, math.sqrt(max(params.least[i, j], CHEAPER * high) * high))
            lp.uses[i, j] = max(params.least[i, j], low / (1 + math.sqrt(level) + level))
    if lp.uses.shape[1] > d:
        lp.uses[i, d] = 1.0


@kernel
def open_arms(params: ReplanParams, state: ReplanState, lp: SmallLp, now: Now) -> None:
    """Open the allowed arms below their caps, and of these only those that fit, if any does."""
    n_arms, d = params.most.shape
    some = False
    for i in range(n_arms):
        fits = is_allowed(now, i) and state.taken[i] + now.pending[i] < params.caps[i]
        for j in range(d):
            fits &= params.most[i, j] <= now.left[j] * (1 + TINY)
        lp.open[i] = fits
        some |= fits
    if not some:
        for i in range(n_arms):
            lp.open[i] = is_allowed(now, i) and state.taken[i] + now.pending[i] < params.caps[i]


@kernel
def plan(params: ReplanParams, state: ReplanState, lp: SmallLp, now: Now) -> None:
    """Write the probability of each arm to `chances`."""
    chances = lp.chances
    n_arms = chances.shape[0]
    for j in range(lp.limits.shape[0]):
        set_limit(lp, j, now.left[j] if j < now.left.shape[0] else now.rounds_left)
    estimate_all(params, state, lp, now)
    open_arms(params, state, lp, now)
    total = solve(lp)
    if total <= 0:
        for i in range(n_arms):
            chances[i] = 0.0
        arm = find_cheapest(lp)
        if arm >= 0:
            chances[arm] = 1.0
        return
    looked = add_looks(params, lp, now, total)
    safe = find_safe(params, state, lp)
    for i in range(n_arms):
        if lp.pulls[i] > 0:
            part = (1 - looked) * lp.pulls[i] / total
            if safe >= 0 and safe != i and too_risky(params, state, lp, now, safe, i):
                chances[safe] += part
            else:
                share_equally(lp, i, part)


@cold
def find_cheapest(lp: SmallLp) -> int:
    """The arm to play when no reward is expected: one that takes least of the first resource.

    It is -1 where no arm is open, because all caps are used up.
    """
    arm = -1
    for i in range(lp.gains.shape[0]):
        if lp.open[i] and (arm < 0 or lp.uses[i, 0] < lp.uses[arm, 0]):
            arm = i
    return arm


@kernel
def add_looks(params: ReplanParams, lp: SmallLp, now: Now, total: float) -> float:
    """Write each arm's chance of a look; return their sum."""
    chances = lp.chances
    n_arms = chances.shape[0]
    rate = params.looks * math.sqrt(n_arms * float(now.t)) / (now.t + LOOK_ROUNDS)
    rate = min(MOST_LOOKS, rate) / n_arms
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
def find_safe(params: ReplanParams, state: ReplanState, lp: SmallLp) -> int:
    """The open arm with a report that takes the smallest part of a budget; -1 where none does."""
    safe = -1
    least = math.inf
    for i in range(state.weights.shape[0]):
        part = 0.0
        for j in range(params.budget.shape[0]):
            part = max(part, state.means[i, 1 + j] * params.parts[j])
        if state.weights[i] > 0 and lp.open[i] and part < least:
            least = part
            safe = i
    return safe if params.guard > 0 else -1


@kernel
def too_risky(
    params: ReplanParams, state: ReplanState, lp: SmallLp, now: Now, safe: int, arm: int
) -> bool:
    """Whether a pull of `arm` could leave less than 1 - guard of what the safe arm alone brings."""
    no_dearer = state.weights[arm] == 0
    alone, after = params.horizon, now.rounds_left - 1
    for j in range(params.budget.shape[0]):
        no_dearer &= params.most[arm, j] <= params.most[safe, j]
        price = max(TINY, state.means[safe, 1 + j])
        taken = state.means[arm, 1 + j] if state.weights[arm] > 0 else lp.uses[arm, j]
        alone = min(alone, params.budget[j] / price)
        after = min(after, max(0.0, now.left[j] - taken) / price)
    rho = sure_reward(state, safe)
    gain = state.earned[0] + expected_reward(state, arm) + rho * after
    return not no_dearer and gain < (1 - params.guard) * rho * alone


@kernel
def expected_reward(state: ReplanState, i: int) -> float:
    """The mean reward with one more report of 1/2."""
    return (state.weights[i] * state.means[i, 0] + 0.5) / (state.weights[i] + 1)


@kernel
def sure_reward(state: ReplanState, i: int) -> float:
    """The same less half a standard error: with few rewards the guard must not trust the mean."""
    error = math.sqrt(state.spreads[i, 0] + PRIOR) / (state.weights[i] + 1)
    return max(0.0, expected_reward(state, i) - error / 2)


@kernel
def share_equally(lp: SmallLp, arm: int, part: float) -> None:
    """Give all open arms with the numbers of `arm` the same chance."""
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
    """Whether arm i is open and has the numbers of `arm`."""
    if lp.gains[i] != lp.gains[arm] or not lp.open[i]:
        return False
    for j in range(lp.uses.shape[1]):
        if lp.uses[i, j] != lp.uses[arm, j]:
            return False
    return True


@kernel
def choose(
    params: ReplanParams, state: ReplanState, scratch: SmallLp, now: Now, play: Play
) -> None:
    plan(params, state, scratch, now)
    arm = pick(uniform(now.key, 0), scratch.chances)
    while arm >= 0 and scratch.chances[arm] == 0:  # rounding left nobody at the end
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
    if state.weights[i] == 0:
        learn_first_costs(params, state, i, play)
    else:
        weigh(state, i, faded(state, fading(params, state, now.t), now.t, i))
    state.last[i] = max(state.last[i], float(now.t))
    state.taken[i] += 1
    state.weights[i] += 1
    state.earned[0] += play.rewards[0]
    for s in range(state.means.shape[1]):
        value = play.rewards[0] if s == 0 else play.costs[0, s - 1]
        off = value - state.means[i, s]
        state.means[i, s] += off / state.weights[i]
        state.spreads[i, s] += off * (value - state.means[i, s])
        state.tops[i, s] = max(state.tops[i, s], value)
        state.sums[i, s] += value
    if params.change > 0:
        test = ChangeTest(state.reports, state.sums, state.before)
        place = find_change(test, i, state.tops[i], params.change)
        if place >= 0:
            forget(state, test, i, place)


@cold
def learn_first_costs(params: ReplanParams, state: ReplanState, arm: int, play: Play) -> None:
    """Learn what part of its declared largest cost an arm costs."""
    for j in range(params.budget.shape[0]):
        if play.costs[0, j] > 0:
            state.first[0] += log(play.costs[0, j] / params.most[arm, j])
            state.first[1] += 1


@kernel
def weigh(state: ReplanState, arm: int, factor: float) -> None:
    """Let the reports on an arm weigh so much; means stay."""
    state.weights[arm] *= factor
    for s in range(state.spreads.shape[1]):
        state.spreads[arm, s] *= factor


@cold
def forget(state: ReplanState, test: ChangeTest, changed: int, place: int) -> None:
    """After a change keep the block that differs; of other arms, keep little."""
    state.changes[0] += 1
    for i in range(state.weights.shape[0]):
        kept = float(FIRST_BLOCK << place) if i == changed else min(KEPT, state.weights[i])
        if state.weights[i] > 0:
            weigh(state, i, kept / state.weights[i])
    for s in range(state.means.shape[1]):
        state.means[changed, s] = block_mean(test, changed, place, s)
    begin_afresh(test)
