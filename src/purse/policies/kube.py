r"""KUBE: what is left is filled greedily with the most that each arm may pay per unit, and an arm
is drawn from that knapsack.

The rule (Tran-Thanh, Chapman, Rogers and Jennings, 2012), with constant costs c(i) that are known.
Each arm once, in order; then

    D_t(i) = (r(i) + sqrt(2 ln(t - 1) / N(i))) / c(i)
    m(i)   = floor(u / c(i)),   u <- u - m(i) c(i)         for the arms by falling D_t
    p_t(i) = m(i) / sum_j m(j)

with N, r the arm's pulls and mean reward so far, and u what is left. When no arm can be paid for,
the game ends.

Guarantee: regret O(K log B / min Delta) against the best that a player with known means can do,
for i.i.d. rewards.

Departures from the paper: of arms with the same D_t the first comes first. While the first report
of arms that can be paid for is missing (live, reports come late), one of them is pulled, each
equally likely.

Needs the costs, not B. O(K) a round and the number of places that arms move in the order.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])
>>> run = purse.simulate("kube", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 1].mean() > 5 * run.pulls[:, 0].mean())
True

Reference: L. Tran-Thanh, A. Chapman, A. Rogers, N. R. Jennings. Knapsack based optimal policies for
budget-limited multi-armed bandits. AAAI 2012.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.kernels import OUT, cold, common_width, is_allowed, kernel, pick, score_lines, uniform
from purse.kernels.known_costs import KnownCosts, fits, known_costs, units_left
from purse.types import SKIP, STOP, Floats, Ints, Now, Play, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "kube", True, 1, 1
SOURCE = "Tran-Thanh et al., AAAI 2012, Algorithm 1, equations 6 and 7, as public code reports them"
SORT_EVERY = 32  # rounds after which all of `state.order` is sorted; else only one arm moves


class KubeParams(NamedTuple):
    prices: KnownCosts
    first: Ints  # the arms of the rounds 1, 2, ...; none if the game makes the initial pulls


class KubeState(NamedTuple):
    pulls: Floats  # (K,)
    rewards: Floats  # (K,)
    seen: Ints  # (1,) arms with a report
    bases: Floats  # (K,) r / c, `OUT` without a report
    slopes: Floats  # (K,) 1 / (sqrt(N) c), 0 without a report
    order: Ints  # (K,) about the order of the next round: where sorting starts
    width: Floats  # (1,) sqrt(2 ln(t - 1)) of the round in which all of `order` was sorted


class KubeScratch(NamedTuple):
    scores: Floats  # (K,) D_t
    counts: Floats  # (K,) m
    order: Ints  # (K,) by falling D_t


def params(problem: Problem) -> KubeParams:
    return KubeParams(known_costs(problem, NAME), np.zeros(0, np.int64))


def init(params: KubeParams, problem: Problem) -> KubeState:
    k = problem.n_arms
    pulls, rewards, slopes = np.zeros((3, k))
    seen, width = np.zeros(1, np.int64), np.zeros(1)
    return KubeState(pulls, rewards, seen, np.full(k, OUT), slopes, np.arange(k), width)


def scratch(params: KubeParams, problem: Problem) -> KubeScratch:
    scores, counts = np.zeros((2, problem.n_arms))
    return KubeScratch(scores, counts, np.zeros(problem.n_arms, np.int64))


@kernel
def weigh(params: KubeParams, state: KubeState, scratch: KubeScratch, now: Now) -> float:
    """Write m(i), and return the sum; in initial rounds 1 for the arms to pull."""
    purse = units_left(params.prices, now.left)
    if now.t <= params.first.shape[0] or state.seen[0] < state.pulls.shape[0]:
        missing = weigh_missing(params, state, scratch, now, purse)
        if missing > 0:
            return missing
    score_lines(common_width(2.0, now.t), state.bases, state.slopes, scratch.scores)
    rank_from(scratch.scores, state.order, scratch.order)
    order = scratch.order
    if now.masked:
        order = order[: keep_allowed(now, order)]
    return fill(params.prices, order, state.pulls, purse, scratch.counts)


@cold
def weigh_missing(
    params: KubeParams, state: KubeState, scratch: KubeScratch, now: Now, purse: int
) -> float:
    """Write 1 for the arm of an initial round, else for those without a report; return how many."""
    initial = params.first[now.t - 1] if now.t <= params.first.shape[0] else -1
    if initial >= 0 and not can_pull(params, state, now, initial, purse):
        initial = -1
    missing = 0.0
    for i in range(state.pulls.shape[0]):
        wanted = i == initial or (
            initial < 0 and state.pulls[i] == 0 and can_pull(params, state, now, i, purse)
        )
        scratch.counts[i] = 1.0 if wanted else 0.0
        missing += scratch.counts[i]
    return missing


@kernel
def can_pull(params: KubeParams, state: KubeState, now: Now, i: int, purse: int) -> bool:
    return fits(params.prices, state.pulls, i, purse) and is_allowed(now, i)


@kernel
def choose(
    params: KubeParams, state: KubeState, scratch: KubeScratch, now: Now, play: Play
) -> None:
    draw_counted(now, scratch.counts, weigh(params, state, scratch, now), play)


@kernel
def update(
    params: KubeParams, state: KubeState, scratch: KubeScratch, now: Now, play: Play
) -> None:
    i = play.arms[0]
    state.seen[0] += state.pulls[i] == 0
    state.pulls[i] += 1
    state.rewards[i] += play.rewards[0]
    state.bases[i] = state.rewards[i] / (state.pulls[i] * params.prices.costs[i])
    state.slopes[i] = 1 / (math.sqrt(state.pulls[i]) * params.prices.costs[i])
    if now.t % SORT_EVERY == 0:
        sort(state, scratch, now.t)
    else:
        move_arm(i, state.width[0], state.bases, state.slopes, state.order)


@cold
def sort(state: KubeState, scratch: KubeScratch, t: int) -> None:
    """Let the next rounds start from the order of this one; no number depends on the start."""
    state.width[0] = common_width(2.0, t)
    score_lines(state.width[0], state.bases, state.slopes, scratch.scores)
    rank_from(scratch.scores, state.order, state.order)


@kernel
def probabilities(
    params: KubeParams, state: KubeState, scratch: KubeScratch, now: Now, out: Floats
) -> None:
    show_counted(scratch.counts, weigh(params, state, scratch, now), out)


@kernel
def rank_from(scores: Floats, start: Ints, order: Ints) -> None:
    """Write the arms by falling score, equal ones by index; quick if `start` is nearly that."""
    last = math.inf  # the score of the last arm so far
    for j in range(start.shape[0]):
        i = start[j]
        order[j] = i
        if scores[i] < last:
            last = scores[i]
        else:
            insert(scores, order, j)
            last = scores[order[j]]


@kernel
def insert(scores: Floats, order: Ints, j: int) -> None:
    """Move the arm at place j to its place among those before it, which are sorted."""
    i = order[j]
    while j > 0 and (
        scores[order[j - 1]] < scores[i] or (scores[order[j - 1]] == scores[i] and order[j - 1] > i)
    ):
        order[j] = order[j - 1]
        j -= 1
    order[j] = i


@kernel
def move_arm(i: int, width: float, bases: Floats, slopes: Floats, order: Ints) -> None:
    """Move arm i alone to its place by falling base + width slope."""
    k = 0
    while order[k] != i:
        k += 1
    score = bases[i] + width * slopes[i]
    while k > 0:
        j = order[k - 1]
        if bases[j] + width * slopes[j] >= score:
            break
        order[k] = j
        k -= 1
    while k < order.shape[0] - 1:
        j = order[k + 1]
        if bases[j] + width * slopes[j] <= score:
            break
        order[k] = j
        k += 1
    order[k] = i


@kernel
def fill(prices: KnownCosts, order: Ints, pulls: Floats, purse: int, counts: Floats) -> float:
    """Write how often each arm is in the greedy knapsack of `purse` units; return the sum."""
    for i in range(counts.shape[0]):
        counts[i] = 0.0
    total = 0.0
    for k in range(order.shape[0]):
        if purse < prices.least:
            break
        i = order[k]
        if fits(prices, pulls, i, purse):
            count = min(purse // prices.units[i], prices.caps[i] - int(pulls[i]))
            purse -= count * prices.units[i]
            counts[i] = count
            total += count
    return total


@cold
def keep_allowed(now: Now, order: Ints) -> int:
    """Move the allowed arms to the front, in the same order; return how many there are."""
    count = 0
    for k in range(order.shape[0]):
        if now.allowed[order[k]]:
            order[count] = order[k]
            count += 1
    return count


@kernel
def draw_counted(now: Now, counts: Floats, total: float, play: Play) -> None:
    """Draw an arm by its count with the round's first number.

    If there is no such arm, end the game; under a mask, let the round pass.
    """
    if total == 0:
        play.arms[0] = SKIP if now.masked else STOP
        play.probs[0] = 1.0
        return
    play.arms[0] = pick(uniform(now.key, 0) * total, counts)
    play.probs[0] = counts[play.arms[0]] / total


@kernel
def show_counted(counts: Floats, total: float, out: Floats) -> None:
    """Write the probabilities of `draw_counted`."""
    for i in range(counts.shape[0]):
        out[i] = counts[i] / total if total > 0 else 0.0
