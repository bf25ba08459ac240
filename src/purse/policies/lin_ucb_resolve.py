r"""LinUCB.Resolve: `lin-ucb.price` with prices solved on the contexts seen so far.

The rule (ours). The base of the prices is not 0: it is the price that would spend the even pace on
a sample of 64 contexts, by the current predictions (`purse.kernels.solved_price`), solved again
every 64 reports. What is overspent so far is added as in `lin-ucb.price`, and all else is the same.

Why. A price of 0 at the beginning buys too much, and has to be learnt by overspending. On a sample
of contexts it can be computed. Where contexts are few or none, two arms are worth the same at the
solved price, and what is overspent so far decides between them.

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

from __future__ import annotations

from typing import NamedTuple

from purse.kernels import (
    LinearParams,
    LinearScratch,
    LinearState,
    PriceSample,
    SampleRoom,
    add_to_sample,
    kernel,
    learn_linear,
    linear_bounds,
    linear_params,
    linear_scratch,
    new_linear,
    new_sample,
    open_fitting,
    regression_of,
    sample_room,
    score_open,
    show_best,
    solve_prices,
    take_best,
)
from purse.types import Floats, Ints, Now, Play, Problem

NAME, PLAYS, CONTEXT, PENDING, VERSION = "lin-ucb.resolve", 1, True, True, 1


class ResolveState(NamedTuple):
    inverse: Floats  # (K, n, n) this and the next eight: see `LinearState`
    coefficients: Floats  # (K, 1 + d, n)
    squares: Floats  # (K, 1 + d)
    sums: Floats  # (K, 1 + d)
    tops: Floats  # (K, 1 + d)
    reports: Floats  # (K,)
    earned: Floats  # (1,)
    first: Floats  # (2,)
    paced: Floats  # (2 + d,)
    memory: Floats  # (M, A, n) this and the next two: see `PriceSample`
    base: Floats  # (d,)
    seen: Floats  # (1,)


class ResolveScratch(NamedTuple):
    gains: Floats  # (K,) this and the next seven: see `LinearScratch`
    uses: Floats  # (K, d)
    means: Floats  # (K, 1 + d)
    scores: Floats  # (K,)
    levels: Floats  # (K,)
    prices: Floats  # (d,)
    open: Ints  # (K,)
    room: Floats  # (n,)
    rewards: Floats  # (M, K) this and the next two: see `SampleRoom`
    costs: Floats  # (M, K, d)
    spent: Floats  # (d,)


def params(
    problem: Problem,
    *,
    scale: float = 0.5,
    eta: float = 0.2,
    ridge: float = 1.0,
    guard: float = 0.05,
    prior: str | None = None,
    prior_hash: str | None = None,
    prior_most: float | None = None,
) -> LinearParams:
    """Options: scale, ridge and prior_most, positive; eta, at least 0; guard, from 0 to 1."""
    return linear_params(problem, scale, eta, ridge, guard, prior, prior_hash, prior_most)


def init(params: LinearParams, problem: Problem) -> ResolveState:
    return ResolveState(*new_linear(params, problem), *new_sample(problem))


def scratch(params: LinearParams, problem: Problem) -> ResolveScratch:
    return ResolveScratch(*linear_scratch(params, problem), *sample_room(problem))


@kernel
def learnt(state: ResolveState) -> LinearState:
    """Return the part of the state that `lin-ucb.price` has, too."""
    return LinearState(
        state.inverse,
        state.coefficients,
        state.squares,
        state.sums,
        state.tops,
        state.reports,
        state.earned,
        state.first,
        state.paced,
    )


@kernel
def common(scratch: ResolveScratch) -> LinearScratch:
    """Return the part of the scratch that `lin-ucb.price` has, too."""
    return LinearScratch(
        scratch.gains,
        scratch.uses,
        scratch.means,
        scratch.scores,
        scratch.levels,
        scratch.prices,
        scratch.open,
        scratch.room,
    )


@kernel
def value(params: LinearParams, state: ResolveState, scratch: ResolveScratch, now: Now) -> None:
    """Write what each arm is worth."""
    open_fitting(params, common(scratch), now)
    linear_bounds(params, learnt(state), common(scratch), now, False)
    for j in range(scratch.prices.shape[0]):
        scratch.prices[j] = state.base[j]
    score_open(params, learnt(state), common(scratch), now)


@kernel
def choose(
    params: LinearParams, state: ResolveState, scratch: ResolveScratch, now: Now, play: Play
) -> None:
    value(params, state, scratch, now)
    take_best(params, learnt(state), common(scratch), now, play)


@kernel
def probabilities(
    params: LinearParams, state: ResolveState, scratch: ResolveScratch, now: Now, out: Floats
) -> None:
    value(params, state, scratch, now)
    show_best(params, learnt(state), common(scratch), now, out)


@kernel
def update(
    params: LinearParams, state: ResolveState, scratch: ResolveScratch, now: Now, play: Play
) -> None:
    learn_linear(params, learnt(state), common(scratch), now, play)
    sample = PriceSample(state.memory, state.base, state.seen)
    if add_to_sample(sample, now) and params.pace.skips:
        room = SampleRoom(scratch.rewards, scratch.costs, scratch.spent)
        known = regression_of(learnt(state))
        solve_prices(known, sample, room, params.pace, params.least, params.most, now)
