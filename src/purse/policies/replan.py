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
             half a standard error. A pull of a dearer arm takes the place of d pulls of a; all
             that arm k had, open tickets included, took the place of D(k) and brought R(k), so it
             lost rho D(k) - R(k). If arm i has lost something, and what a and all dearer arms lost
             and a pull of i together are more than 5% of what a alone would bring from the start,
             a is played in the place of i (`purse.kernels.replan.losses`). An untried arm that is
             declared no dearer than a may be tried.
    masks    with a horizon, once a round had a mask: let s be the least price at which rounds with
             the masks so far, each with its allowed arm of the largest u(i) - s sum_j p_j l_j(i),
             or no arm if all are negative, take no more than is left; p_j are the plan's prices,
             and x(i) is at most h times the part of the rounds that allow arm i. The round is
             played at s or just below it, drawn so that what is left is spent on average, and may
             pass (`purse.kernels.replan.mask_price`).
    looks    with probability 0.2 sqrt(K t) / (t + 1000) any arm; one whose pull takes more of a
             resource than the average pull that plan and guard leave, less often in proportion.
    changes  a test on each arm's reward and costs (`purse.kernels.replan.fading_means`). When it
             finds a change, that arm keeps the block that differs and every other arm the weight of
             two reports. At most 8 + ln(t)^2 changes are believed.
    fading   after k changes the reports on an arm whose last one came in round s weigh
             exp(-(k + 0.15) (t - s) / t) times as much: (k + 0.15) / t is the rate of changes.

Why. The plan on what is left needs no step size, spends all, and mixes arms if two resources are
scarce; money that optimism wasted is seen in the next round. Information is worth what is left to
use it on: nothing is explored when the money is nearly gone, and a dear arm is explored little.
Bounds in an arm's own scale are what costs over several decades need. The guard serves small
budgets and rare rewards: what dear arms take may be all there is. It charges arms apart, so that
late reports, cheap arms that pay nothing and a dear arm that pays are no reason to hold back. Looks
and fading serve an arm that gets better while no pull of it comes, the test serves worlds that
change. A round whose mask leaves only dear arms is worth no more than others, so money has one
price in all rounds.

Options: scale=0.5 (of L), change=1.5 (threshold of the test, 0: none), fade=0.15, looks=0.2,
guard=0.05 (0: none), skip=1 (0: under masks no round passes that could be played).

Guarantee: in i.i.d. rounds with declared costs bounded away from 0 and one resource, regret / B
goes to 0, with guard=0 also for several or a horizon, and for two arms the guard has that of
`purse.kernels.replan.losses`, all without masks, caps and late reports. At budgets that one meets
only that of the guard says something: the page *What is true*. Nothing protects it from an
adversary that expects it: apart from looks and mixtures its plans are no secret. Such an adversary
is met by `exp3++.bwk`.

Departures from the paper: there is no paper. The index of an untried arm and L follow finite-game
indices (Lattimore, 2016) and MOSS (Audibert and Bubeck, 2009), widths Bernstein's inequality, the
plan those who solve the program again on what is left (Flajolet and Jaillet, 2015; Kumar and
Kleinberg, 2022), the guard conservative bandits (Wu et al., 2016).

Without a horizon, and in the first round with a mask, the plan, looks and guard know only the
allowed arms. Caps are bounds on x(i), less the open tickets on the arm; those count as reports in
L, too. When all caps are used up, the game ends. Under masks caps only close arms.

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

from purse.kernels import cold, integer, kernel, log, number, pick, total, uniform
from purse.kernels.masks import is_allowed
from purse.kernels.replan.fading_means import (
    ChangeTest,
    FadingMeans,
    add_value,
    change_rate,
    faded,
    find_change,
    keep_block,
    new_change_test,
    new_means,
    restart,
    weigh,
)
from purse.kernels.replan.losses import (
    COSTS,
    DEARER,
    REPORTS,
    REWARD,
    LossStakes,
    count_lost,
    displaced,
    is_no_dearer,
    loses_too_much,
    may_lose,
)
from purse.kernels.replan.mask_price import allowed_share, may_mask, split_round
from purse.kernels.replan.plan import find_safe, learn_share, sure_reward, usual_share
from purse.kernels.replan.plan_chances import (
    add_looks,
    open_arms,
    play_cheapest,
    set_bounds,
    share_equally,
)
from purse.kernels.small_lp import SmallLp, new_lp, set_limit, solve
from purse.types import SKIP, STOP, Floats, Ints, Now, Play, Problem

NAME, PLAYS, CAPS, PENDING, SEEN, VERSION = "replan", 1, True, True, True, 2
FORECAST = True
PERIOD = ("paid", "began")  # what the guard counts begins again with a period's money
CHANGES = "changes"  # what the test has found: their number, and the round of the first
LOOK_ROUNDS = 1000  # looks are rare before
MOST_LOOKS = 0.25
MOST_CHANGES = 8  # that are believed by round t, and ln(t)^2 more
ROUNDING = 1e-9  # of the chances of a round


class ReplanParams(NamedTuple):
    scale: float
    change: float
    fade: float
    looks: float
    guard: float
    skips: bool
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
    paid: Floats  # (K, 2 + d) in all, or in this period: see `losses`
    began: Floats  # (1,) the round of its first report
    first: Floats  # (2,) sum of ln(cost / most) over first reports, and their number
    changes: Ints  # (2,) k, and the round in which the first was found
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
    skip: float = 1,
) -> ReplanParams:
    """Options: scale, positive; change, fade, looks, at least 0; guard, from 0 to 1; skip, 0 or
    1.
    """
    return ReplanParams(
        number("scale", scale, above=0),
        number("change", change, low=0),
        number("fade", fade, low=0),
        number("looks", looks, low=0),
        number("guard", guard, low=0, high=1),
        integer("skip", skip, low=0, high=1) == 1,
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
    paid, changes = np.zeros((k, COSTS + problem.n_resources)), np.zeros(2, np.int64)
    return ReplanState(*arms, np.zeros(k), paid, np.zeros(1), np.zeros(2), changes, *test)


def scratch(params: ReplanParams, problem: Problem) -> SmallLp:
    return new_lp(problem.n_arms, problem.n_resources + (problem.horizon is not None))


@kernel
def known_arms(state: ReplanState) -> FadingMeans:
    """Return the part of the state that `fading_means` keeps."""
    return FadingMeans(state.weights, state.means, state.spreads, state.tops, state.last)


@kernel
def plan(params: ReplanParams, state: ReplanState, lp: SmallLp, now: Now) -> None:
    """Write the probability of each arm to `chances`; what is missing to 1 lets the round pass."""
    n_arms, d = params.most.shape
    arms = known_arms(state)
    for j in range(lp.limits.shape[0]):
        set_limit(lp, j, now.left[j] if j < d else now.rounds_left)
    share = usual_share(state.first)
    rate = change_rate(params.fade, state.changes[0], now.t)
    masks = lp.limits.shape[0] > d and may_mask(now)
    for i in range(n_arms):
        lp.caps[i] = params.caps[i] - state.taken[i] - now.pending[i]
        lp.chances[i] = faded(state.weights[i], now.t - state.last[i], rate)
    set_bounds(lp, arms, params.least, params.most, now.pending, params.scale, share)
    open_arms(lp, params.most, now, masks)
    if masks:
        safe = find_safe(arms, params.parts, lp.open)
        planned = plan_masks(lp, now, d, params.skips)
    else:
        planned = solve(lp)
        safe = find_safe(arms, params.parts, lp.open)
        for i in range(n_arms):
            lp.scales[i] = lp.pulls[i] / planned if lp.pulls[i] > 0 else 0.0
    if planned <= 0:
        play_cheapest(lp)
        return
    held = hold_back(params, state, lp, now, safe, masks) if params.guard > 0 else 0.0
    often = params.looks * math.sqrt(n_arms * float(now.t)) / (now.t + LOOK_ROUNDS)
    looked = add_looks(lp, min(MOST_LOOKS, often) / n_arms, planned)
    for i in range(n_arms):
        if lp.scales[i] > 0:
            share_equally(lp, i, (1 - looked) * lp.scales[i])
    if held > 0 and lp.open[safe]:
        lp.chances[safe] += (1 - looked) * held


@cold
def plan_masks(lp: SmallLp, now: Now, d: int, skips: bool) -> float:
    """Plan for rounds that allow different arms; `split_round` says what is written."""
    if d > 1:
        for i in range(lp.caps.shape[0]):
            lp.caps[i] = min(lp.caps[i], allowed_share(now, i) * now.rounds_left)
        solve(lp)
    return split_round(lp, now, d, skips)


@kernel
def hold_back(
    params: ReplanParams, state: ReplanState, lp: SmallLp, now: Now, safe: int, masks: bool
) -> float:
    """Take from the planned pulls, which looks are measured by, and from the parts of this round in
    `scales` what the guard does not allow, for the safe arm; return the part of this round.
    """
    if safe < 0 or (not params.skips and not lp.open[safe]):
        return 0.0
    arms = known_arms(state)
    counted = False
    room = held = 0.0
    for i in range(lp.pulls.shape[0]):
        if i == safe or lp.pulls[i] + lp.scales[i] <= 0:
            continue
        if state.weights[i] == 0 and is_no_dearer(params.most, safe, i):
            continue
        stakes = stakes_of(params, state, now, safe, masks)
        places = displaced(arms, stakes, lp.uses, safe, i)
        if places <= DEARER:
            continue
        rho = sure_reward(state.weights[safe], state.means[safe, 0], state.spreads[safe, 0])
        if not counted:
            lost = count_lost(arms, stakes, state.paid, lp.uses, now.pending, safe, rho, lp.lost)
            room = may_lose(arms, stakes, safe, rho) - lost
            counted = True
        if loses_too_much(arms, lp.lost, room, rho * places, i):
            held += lp.scales[i]
            lp.scales[i] = 0.0
            lp.pulls[safe] += lp.pulls[i]
            lp.pulls[i] = 0.0
    return held


@kernel
def stakes_of(
    params: ReplanParams, state: ReplanState, now: Now, safe: int, masks: bool
) -> LossStakes:
    """Return the money and the rounds so far, and those left for the safe arm."""
    part = allowed_share(now, safe) if masks else 1.0
    began = state.began[0] if state.began[0] > 0 else now.t
    return LossStakes(
        params.guard,
        (now.t - began + now.rounds_left) * part,
        now.rounds_left * part,
        1.0 if is_allowed(now, safe) else 0.0,
        params.budget,
        now.left,
    )


@kernel
def choose(
    params: ReplanParams, state: ReplanState, scratch: SmallLp, now: Now, play: Play
) -> None:
    plan(params, state, scratch, now)
    chances = scratch.chances
    u = uniform(now.key, 0)
    arm = pick(u, chances)
    while arm >= 0 and chances[arm] == 0:  # rounding left no arm at the end
        arm -= 1
    sure = total(chances)
    if u >= sure and sure < 1 - ROUNDING and total(scratch.pulls) > 0:
        play.arms[0] = SKIP
        play.probs[0] = 1 - sure
    elif arm < 0:
        play.arms[0] = SKIP if now.masked else STOP
        play.probs[0] = 1.0
    else:
        play.arms[0] = arm
        play.probs[0] = min(1.0, chances[arm])


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
    if state.began[0] == 0:
        state.began[0] = float(now.t)
    state.paid[i, REPORTS] += 1
    for s in range(state.means.shape[1]):
        value = play.rewards[0] if s == 0 else play.costs[0, s - 1]
        add_value(arms, i, s, value)
        state.paid[i, REWARD + s] += value
        state.sums[i, s] += value
    if params.change > 0:
        test = ChangeTest(state.reports, state.sums, state.before)
        block = find_change(test, i, state.tops[i], params.change)
        if block >= 0 and state.changes[0] < MOST_CHANGES + log(float(now.t)) ** 2:
            state.changes[0] += 1
            if state.changes[0] == 1:
                state.changes[1] = now.t
            keep_block(arms, test, i, block)
        elif block >= 0:
            restart(test)
