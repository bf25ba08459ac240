r"""Replan: in every round a linear program on what is left, optimistic in proportion to what there
still is to win.

The rule (ours). Of arm i: n reports, mean reward r, mean costs c_j of the d resources, m_j the
largest cost seen, least_j and most_j the declared bounds. B_j is left of the budgets and h rounds
of the horizon, if there is one. N = min{h, min_j B_j / c_j} / sqrt(K): the pulls of this arm that a
part of what is left pays for.

    rewards  the arms' mean rewards are draws of one normal law, learnt from all arms; after its
             reports an arm's has the mean p and the standard deviation s; U, their scale, goes
             from 1 to the largest reward seen (`purse.kernels.replan.pooled_bounds`)
    u(i)   = min{U, p + sqrt(2 L) s}                         L = 1/2 ln(1 + N / n)
    l_j(i) = max{least_j, c_j / (1 + width_j / c_j)}
             width_j = sqrt(2 L v_j / (n + 1)) + L m_j / (3 (n + 1))
    plan     maximise sum_i u(i) x(i)  subject to  sum_i l_j(i) x(i) <= B_j,  sum_i x(i) <= h
    play     arm i with probability x(i) / sum x

v_j is the variance with one more observation of the largest possible one. Open tickets count as
reports in L and s. An arm without a report has l_j = sqrt(max{least_j, g_j / 100} g_j) / (1 +
sqrt(L) + L) with g_j the half of most_j, or, if all arms are declared alike, the mean of those with
a report: declare what each arm may cost. Arms whose most_j exceeds B_j are out while another arm
fits. Arms with equal numbers share their part of the plan. Then:

    masks    with a horizon, once a round had a mask: the round is played at the price of money at
             which rounds with the masks so far, of which round t counts t times, spend what is
             left, and may pass (`purse.kernels.replan.mask_price`). In the plan x(i) is at most h
             times the part of the rounds that allow arm i.
    looks    with probability 0.05 sqrt(K t) / (t + 1000) any arm; one of which what is left pays
             for fewer pulls than are planned, less often in proportion.
    changes  at most 8 + ln(t)^2, by a test on each arm's reward and costs: then it keeps the block
             that differs and other arms two reports (`purse.kernels.replan.fading_means`).
    fading   after k changes, g rounds after the last time, all earlier reports weigh t / (t + (k +
             0.25) g) times as much: k + 0.25 changes in t rounds are expected. Reports fade, and
             the law of the arms is learnt, with the first report of each 16th of the rounds so far,
             and after a change.

Why. The plan on what is left needs no step size, spends all, and mixes arms if two resources are
scarce. Information is worth what is left to use it on: a dear arm is explored little, and none when
the money is nearly gone. Where arms pay alike, few reports tell as much of one as of all. Costs
differ by decades, so bounds on them are in an arm's own scale. Looks and fading serve an arm that
gets better while no pull of it comes. Money has one price in all rounds, whatever their masks.

Options: scale=0.5 (of L), change=1.5 (threshold of the test, 0: none), fade=0.25, looks=0.05 (0:
none), skip=1 (0: under masks no round passes that could be played).

Guarantee: none is proved. Without looks there is none: the page *What is true*. Nothing protects it
from an adversary that expects it: apart from looks and mixtures its plans are no secret. Such an
adversary is met by `exp3++.bwk`.

Departures from the paper: there is no paper. The posterior is empirical Bayes (Efron and Morris,
1973), L follows finite-game indices (Lattimore, 2016) and MOSS (Audibert and Bubeck, 2009), widths
Bernstein's inequality, the plan Flajolet and Jaillet (2015), and Kumar and Kleinberg (2022).

Without a horizon, and in the first round with a mask, plan and looks know only the allowed arms.
And it saves: money that is not needed for the best arms is kept for rounds to come, so say how many
there are, or when it ends. Caps are bounds on x(i), less the open tickets on the arm. When all caps
are used up, the game ends. Under masks caps only close arms.

Needs the budgets; bounds on each arm's own costs if they are known. O(K D) a round and a pivot,
about D + 1 pivots a round with D = d, or d + 1 with a horizon; a ratio if D = 1.

>>> import purse
>>> world = purse.worlds.routing(
...     quality=[0.5, 0.6, 0.9], prices=[0.001, 0.2, 0.6], prompts=2000
... )
>>> run = purse.simulate("replan", world, budget=20, n_paths=10, seed=0)
>>> bool(run.gain.mean() > 0.95 * 2000 * 0.5)
True
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.kernels import cold, integer, kernel, log, number, pick, total, uniform
from purse.kernels.replan.chances import add_looks, open_arms, play_cheapest, share_equally
from purse.kernels.replan.fading_means import (
    ChangeTest,
    FadingMeans,
    add_value,
    fade,
    find_change,
    keep_block,
    new_change_test,
    new_means,
    restart,
)
from purse.kernels.replan.mask_price import allowed_share, may_mask, split_round
from purse.kernels.replan.pooled_bounds import Beliefs, believe, learn_pool, new_beliefs, set_bounds
from purse.kernels.small_lp import SmallLp, new_lp, set_limit, solve
from purse.types import SKIP, STOP, Floats, Ints, Now, Play, Problem

NAME, PLAYS, CAPS, PENDING, SEEN, VERSION = "replan", 1, True, True, True, 4
FORECAST = True
LOOK_ROUNDS = 1000  # looks are rare before
MOST_LOOKS = 0.25
MOST_CHANGES = 8  # that are believed by round t, and ln(t)^2 more
ROUNDING = 1e-9  # of the chances of a round
SETTLED = 16  # reports fade when one in so many rounds has come since they did


class ReplanParams(NamedTuple):
    scale: float
    change: float
    fade: float
    looks: float  # of an arm: times sqrt(t) / (t + LOOK_ROUNDS)
    skips: bool
    root: float  # of the number of arms
    least: Floats  # (K, d)
    most: Floats  # (K, d)
    caps: Floats  # (K,)


class ReplanState(NamedTuple):
    weights: Floats  # (K,) n, faded; this and the next three: see `FadingMeans`
    means: Floats  # (K, 1 + d) of the reward and the costs
    variances: Floats  # (K, 1 + d)
    tops: Floats  # (K, 1 + d)
    pool: Floats  # (3 + d,) this and the next seven: see `Beliefs`
    rewards: Floats  # (K,)
    errors: Floats  # (K,)
    counts: Floats  # (K,)
    pulls: Floats  # (K, d)
    costs: Floats  # (K, d)
    roots: Floats  # (K, d)
    rests: Floats  # (K, d)
    last: Floats  # (1,) the round in which all were faded
    taken: Floats  # (K,) reports in all
    changes: Ints  # (1,) k, those that the test has found
    reports: Ints  # (K,) this and the next two: see `ChangeTest`
    sums: Floats  # (K, 1 + d)
    before: Floats  # (K, SIZES, 1 + d)


def params(
    problem: Problem,
    *,
    scale: float = 0.5,
    change: float = 1.5,
    fade: float = 0.25,
    looks: float = 0.05,
    skip: float = 1,
) -> ReplanParams:
    return ReplanParams(
        number("scale", scale, above=0),
        number("change", change, low=0),
        number("fade", fade, low=0),
        number("looks", looks, low=0) / math.sqrt(problem.n_arms),
        integer("skip", skip, low=0, high=1) == 1,
        math.sqrt(problem.n_arms),
        problem.cost_min * problem.unit_scale,
        problem.cost_max * problem.unit_scale,
        np.full(problem.n_arms, math.inf) if problem.caps is None else problem.caps.astype(float),
    )


def init(params: ReplanParams, problem: Problem) -> ReplanState:
    k, signals = problem.n_arms, 1 + problem.n_resources
    arms, test = new_means(k, signals), new_change_test(k, signals)
    beliefs = new_beliefs(params.least, params.most, arms)
    return ReplanState(*arms, *beliefs, np.zeros(1), np.zeros(k), np.zeros(1, np.int64), *test)


def scratch(params: ReplanParams, problem: Problem) -> SmallLp:
    return new_lp(problem.n_arms, problem.n_resources + (problem.horizon is not None))


@kernel
def known_arms(state: ReplanState) -> FadingMeans:
    """Return the part of the state that `fading_means` keeps."""
    return FadingMeans(state.weights, state.means, state.variances, state.tops)


@kernel
def known_beliefs(state: ReplanState) -> Beliefs:
    """Return the part of the state that `pooled_bounds` keeps."""
    bounds = state.pulls, state.costs, state.roots, state.rests
    return Beliefs(state.pool, state.rewards, state.errors, state.counts, *bounds)


@kernel
def plan(params: ReplanParams, state: ReplanState, lp: SmallLp, now: Now) -> float:
    """Write the probability of each arm to `chances`; what is missing to 1 lets the round pass.

    Return a number that is 0 if nothing can be planned.
    """
    n_arms, d = params.most.shape
    for j in range(lp.limits.shape[0]):
        set_limit(lp, j, now.left[j] if j < d else now.rounds_left)
    for i in range(n_arms):
        lp.caps[i] = params.caps[i] - state.taken[i] - now.pending[i]
    beliefs, arms = known_beliefs(state), known_arms(state)
    set_bounds(lp, beliefs, arms, params.least, now.pending, params.scale, params.root)
    masks = lp.limits.shape[0] > d and may_mask(now)
    open_arms(lp, params.most, now, masks)
    planned = plan_masks(lp, now, d, params.skips) if masks else solve(lp)
    if planned <= 0:
        play_cheapest(lp)
        return planned
    often = params.looks * math.sqrt(float(now.t)) / (now.t + LOOK_ROUNDS)
    looked = add_looks(lp, min(MOST_LOOKS / n_arms, often), planned)
    part = 1 - looked if masks else (1 - looked) / planned
    for i in range(n_arms):
        if lp.pulls[i] > 0:
            share_equally(lp, i, part * lp.pulls[i])
    return planned


@cold
def plan_masks(lp: SmallLp, now: Now, d: int, skips: bool) -> float:
    """Plan for rounds that allow different arms; `split_round` says what is written."""
    if d > 1:
        for i in range(lp.caps.shape[0]):
            lp.caps[i] = min(lp.caps[i], allowed_share(now, i) * now.rounds_left)
        solve(lp)
    return split_round(lp, now, d, skips)


@kernel
def choose(
    params: ReplanParams, state: ReplanState, scratch: SmallLp, now: Now, play: Play
) -> None:
    planned = plan(params, state, scratch, now)
    chances = scratch.chances
    u = uniform(now.key, 0)
    arm = pick(u, chances)
    while arm >= 0 and chances[arm] == 0:  # rounding left no arm at the end
        arm -= 1
    sure = total(chances) if may_mask(now) else 1.0
    if u >= sure and sure < 1 - ROUNDING and planned > 0:
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
def update(params: ReplanParams, state: ReplanState, scratch: Any, now: Now, play: Play) -> None:
    i = play.arms[0]
    t = float(now.t)
    arms = known_arms(state)
    gap = t - state.last[0]
    settled = gap * SETTLED > t
    if settled:
        fade(arms, t / (t + (params.fade + state.changes[0]) * gap))
        state.last[0] = t
    state.taken[i] += 1
    state.weights[i] += 1
    part = 1 / state.weights[i]
    for s in range(state.means.shape[1]):
        value = play.rewards[0] if s == 0 else play.costs[0, s - 1]
        add_value(arms, i, s, value, part)
        state.sums[i, s] += value
    if params.change > 0:
        test = ChangeTest(state.reports, state.sums, state.before)
        block = find_change(test, i, state.tops[i], params.change)
        if block >= 0 and state.changes[0] < MOST_CHANGES + log(t) ** 2:
            state.changes[0] += 1
            keep_block(arms, test, i, block)
            settled = True
        elif block >= 0:
            restart(test)
    settled |= play.rewards[0] > state.pool[2]
    beliefs = known_beliefs(state)
    first, after = i, i + 1
    if settled:
        learn_pool(state.pool, arms, params.most)
        first, after = 0, state.weights.shape[0]
    for k in range(first, after):
        believe(beliefs, arms, params.least, params.most, k)
