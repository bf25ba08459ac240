r"""LinUCB.Resolve: `lin-ucb.price` with prices solved on the contexts seen so far.

The rule (ours). The base of the prices is not 0: it is the price that would spend the even pace on
a sample of 64 contexts, by the current predictions, solved again every 64 reports. What is
overspent so far is added as in `lin-ucb.price`, and all else is the same.

A reservoir keeps M contexts of reports, each equally likely. At prices lambda, in rounds of pace,
the arm of a context is the one with the largest r^ - sum_j lambda_j u^_j, or no arm. The base is
the least price at which these arms cost the pace on average: by 30 bisections for one resource, by
30 steps of the dual's subgradient for several. Predictions are used without bounds: optimism here
would overprice. Rounds that passed have no report and cost nothing, so the average counts N / t for
N reports in t rounds.

Options: scale=0.5, eta=0.2, ridge=1, guard=0.05, prior, prior_most, prior_hash: those of
`lin-ucb.price`.

Guarantee: none is proved. For finitely many contexts and known means, solving again has bounded
regret (Chen et al., 2024).

Departures from the paper: there is no paper. UCB-ALP (Wu et al., 2015) solves for what is left;
here it is the even pace, which is as good with many contexts and much better with none.

Needs what `lin-ucb.price` needs; without a horizon it is the same policy. O(K n^2) a round, and
O(64 K (n + 30)) every 64 reports.

>>> import purse
>>> world = purse.worlds.linear_contexts(horizon=2000, seed=1)
>>> budget = 0.2 * 2000 * world.cost_means.max()
>>> run = purse.simulate("lin-ucb.resolve", world, budget, n_paths=4)
>>> bool(run.gain.mean() > 1.1 * purse.lab.theory.contexts.lp_without_contexts(world, budget))
True
"""

import math
from typing import NamedTuple

import numpy as np

from purse.kernels import cold, kernel, uniform
from purse.kernels.linear import LinearParams, learn_linear, linear_rule, linear_scratch, new_linear
from purse.kernels.primal_dual import project
from purse.kernels.regression import predict, regression_of
from purse.policies import lin_ucb_price
from purse.types import Floats, Ints, Now, Play, Problem

NAME, PLAYS, CONTEXT, PENDING, VERSION = "lin-ucb.resolve", 1, True, True, 2
PERIOD = ("paid",)  # what the guard counts begins again with a period's money
SIZE = 64  # contexts in the sample
EVERY, EARLY, OFTEN = 64, 256, 17  # reports between two solutions; before `EARLY` reports `OFTEN`
STEPS = 30
params = lin_ucb_price.params


class ResolveState(NamedTuple):
    inverse: Floats  # (K, n, n) this and the next eight: see `linear._LinearState`
    coefficients: Floats  # (K, 1 + d, n)
    squares: Floats  # (K, 1 + d)
    sums: Floats  # (K, 1 + d)
    tops: Floats  # (K, 1 + d)
    reports: Floats  # (K,)
    paid: Floats  # (K, 2 + d)
    first: Floats  # (2,)
    paced: Floats  # (2 + d,)
    memory: Floats  # (M, A, n) the sample
    base: Floats  # (d,) in rounds of pace
    seen: Floats  # (1,) reports


class ResolveScratch(NamedTuple):
    gains: Floats  # (K,) this and the next eight: see `linear._LinearScratch`
    uses: Floats  # (K, d)
    means: Floats  # (K, 1 + d)
    scores: Floats  # (K,)
    levels: Floats  # (K,)
    prices: Floats  # (d,)
    open: Ints  # (K,)
    room: Floats  # (n,)
    lost: Floats  # (K,)
    rewards: Floats  # (M, K) predicted
    costs: Floats  # (M, K, d) predicted, in rounds of pace
    spent: Floats  # (d,)


def init(params: LinearParams, problem: Problem) -> ResolveState:
    memory = np.zeros((SIZE, *problem.context_shape))
    linear = new_linear(params, problem)
    return ResolveState(*linear, memory, np.zeros(problem.n_resources), np.zeros(1))


def scratch(params: LinearParams, problem: Problem) -> ResolveScratch:
    k, d = problem.n_arms, problem.n_resources
    linear = linear_scratch(params, problem)
    return ResolveScratch(*linear, np.zeros((SIZE, k)), np.zeros((SIZE, k, d)), np.zeros(d))


@kernel
def add_to_sample(state: ResolveState, now: Now) -> bool:
    """Take the context of a report in, perhaps; return whether it is time to solve."""
    count = int(state.seen[0])
    slot = count if count < SIZE else int(uniform(now.key, 0) * (count + 1))
    if slot < SIZE:
        for i in range(now.context.shape[0]):
            for k in range(now.context.shape[1]):
                state.memory[slot, i, k] = now.context[i, k]
    state.seen[0] += 1
    return count % EVERY == 0 or (count < EARLY and count % OFTEN == 0)


@cold
def solve_prices(
    params: LinearParams, state: ResolveState, scratch: ResolveScratch, now: Now
) -> None:
    """Write the base."""
    model = regression_of(state)
    size = min(SIZE, int(state.seen[0]))
    n_arms, d = params.most.shape
    for m in range(size):
        for i in range(n_arms):
            x = state.memory[m, min(i, state.memory.shape[1] - 1)]
            scratch.rewards[m, i] = min(1.0, max(0.0, predict(model, i, 0, x)))
            for j in range(d):
                cost = min(params.most[i, j], max(params.least[i, j], predict(model, i, 1 + j, x)))
                tried = model.reports[i] > 0
                scratch.costs[m, i, j] = params.pace.rates[j] * (
                    cost if tried else params.most[i, j]
                )
    part = state.seen[0] / now.t
    if d == 1:
        bisect(state, scratch, size, part)
    else:
        descend(state, scratch, size, part)


@kernel
def spend(state: ResolveState, scratch: ResolveScratch, size: int, part: float) -> None:
    """Write what the arms that are best at the base cost on average, shape (d,)."""
    d = scratch.spent.shape[0]
    for j in range(d):
        scratch.spent[j] = 0.0
    for m in range(size):
        best = 0.0
        arm = -1
        for i in range(scratch.rewards.shape[1]):
            value = scratch.rewards[m, i]
            for j in range(d):
                value -= state.base[j] * scratch.costs[m, i, j]
            if value > best:
                best = value
                arm = i
        if arm >= 0:
            for j in range(d):
                scratch.spent[j] += scratch.costs[m, arm, j] * part / size


@kernel
def bisect(state: ResolveState, scratch: ResolveScratch, size: int, part: float) -> None:
    """Find the least price in [0, 1] at which the mean cost is at most the pace: one resource."""
    state.base[0] = 0.0
    spend(state, scratch, size, part)
    if scratch.spent[0] <= 1:
        return
    low = 0.0
    high = 1.0
    for _ in range(STEPS):
        state.base[0] = 0.5 * (low + high)
        spend(state, scratch, size, part)
        if scratch.spent[0] <= 1:
            high = state.base[0]
        else:
            low = state.base[0]
    state.base[0] = high


@kernel
def descend(state: ResolveState, scratch: ResolveScratch, size: int, part: float) -> None:
    """Take subgradient steps from the last base, scaled by those so far: several resources."""
    squares = 1.0
    for _ in range(STEPS):
        spend(state, scratch, size, part)
        for j in range(scratch.spent.shape[0]):
            squares += (scratch.spent[j] - 1) * (scratch.spent[j] - 1)
        for j in range(scratch.spent.shape[0]):
            state.base[j] += (scratch.spent[j] - 1) / math.sqrt(squares)
        project(state.base, 1.0)


@kernel
def set_base(state: ResolveState, prices: Floats) -> None:
    for j in range(prices.shape[0]):
        prices[j] = state.base[j]


choose, probabilities = linear_rule(set_base)


@kernel
def update(
    params: LinearParams, state: ResolveState, scratch: ResolveScratch, now: Now, play: Play
) -> None:
    learn_linear(params, state, scratch, now, play)
    if add_to_sample(state, now) and params.pace.skips:
        solve_prices(params, state, scratch, now)
