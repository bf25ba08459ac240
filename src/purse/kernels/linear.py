r"""Bounds on what an arm is worth in a context, and the arm that is chosen by them.

The bounds of `optimism` on `regression`'s predictions. Of arm i with N_i reports, in context x:
w^2 = x'Vx the leverage, which is 1 / (1 + N_i) without features, so that m = 1 / w^2 - ridge counts
the reports that speak of x. What is left pays for N pulls of the arm, see `affordable`.

    L      = scale ln(1 + N / (n^2 max{1, m}))                n numbers of a context
    width  = sqrt(2 L v) w + L top w^2 / 3                    v = (squares + top^2 / 4) / (N_i + 1)
    u(i)   = r^ + width                      between 0 and 1, top = 1
    l_j(i) = c^_j / (1 + width_j / c^_j)     between the declared bounds, top the largest cost seen

An arm without a report has u = 1 - 1 / (1 + sqrt(N)), the reward of a rival that makes a look break
even, and l_j = sqrt(max{least_j, g_j / 100} g_j) / (1 + sqrt(L) + L) with g_j = most_j times the
geometric mean of what the first report on each arm cost of its most_j (1/2 before any). What is
learnt of n coefficients serves each context only in part, so that N counts an n^2-th. A prediction
of a cost counts as a hundredth of the arm's mean cost at least.

An arm is worth u(i) - sum_j price_j l_j(i). The best one is played, unless `guard` finds it too
risky: then the safe arm is.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from purse.base.validation import number
from purse.compiler.kernel import attach, kernel
from purse.kernels.distributions import normal
from purse.kernels.guard import (
    COSTS,
    REPORTS,
    REWARD,
    ArmMeans,
    LossStakes,
    find_safe,
    is_too_risky,
)
from purse.kernels.index_rules import OUT, find_largest
from purse.kernels.masks import is_allowed
from purse.kernels.optimism import (
    PRIOR,
    TINY,
    learn_share,
    lower_cost,
    optimism,
    untried_cost,
    untried_reward,
    usual_share,
)
from purse.kernels.pace_price import Pace, add_to_pace, new_pace, new_paced, pace_prices
from purse.kernels.prior import start_of
from purse.kernels.regression import Regression, add_report, leverage, predict, regression_of
from purse.types import SKIP, STOP, Floats, Ints, Now, Play, Problem

_THIRD = 1 / 3
set_base: Any = None  # these are bound by `linear_rule`
value: Any = None
SAMPLED = False
_LEAST_PART = 0.01  # of its mean cost that an arm is predicted to cost at least


class LinearParams(NamedTuple):
    """The parameters of a policy with this core."""

    pace: Pace
    scale: float
    eta: float
    ridge: float
    guard: float
    horizon: float  # infinity without a horizon
    parts: Floats  # (d,) 1 / budget
    least: Floats  # (K, d)
    most: Floats  # (K, d)
    start: Regression  # what is known at the beginning; no kernel reads it


class _LinearState(NamedTuple):
    """The regressions learnt so far."""

    inverse: Floats  # (K, n, n) this and the next five: see `Regression`
    coefficients: Floats  # (K, 1 + d, n)
    squares: Floats  # (K, 1 + d)
    sums: Floats  # (K, 1 + d)
    tops: Floats  # (K, 1 + d)
    reports: Floats  # (K,)
    paid: Floats  # (K, 2 + d) reports, rewards and costs, without those of a prior: see `guard`
    first: Floats  # (2,) see `learn_share`
    paced: Floats  # (2 + d,) see `pace_price`


class _LinearScratch(NamedTuple):
    """Room to work in."""

    gains: Floats  # (K,) u
    uses: Floats  # (K, d) l
    means: Floats  # (K, 1 + d) of reward and costs
    scores: Floats  # (K,) and, before there are any, leverages
    levels: Floats  # (K,) L
    prices: Floats  # (d,)
    open: Ints  # (K,) 1 for an arm that may be played
    room: Floats  # (n,)
    lost: Floats  # (K,)


def linear_params(
    problem: Problem,
    scale: float,
    eta: float,
    ridge: float,
    guard: float,
    prior: str | None,
    prior_hash: str | None,
    prior_most: float | None,
) -> LinearParams:
    """Return the parameters that all policies with this core have, checked."""
    near = number("ridge", ridge, above=0)
    return LinearParams(
        new_pace(problem),
        number("scale", scale, above=0),
        number("eta", eta, low=0),
        near,
        number("guard", guard, low=0, high=1),
        math.inf if problem.horizon is None else float(problem.horizon),
        1 / (problem.budget * problem.unit_scale),
        problem.cost_min * problem.unit_scale,
        problem.cost_max * problem.unit_scale,
        start_of(problem, prior, prior_hash, prior_most, near),
    )


def new_linear(params: LinearParams, problem: Problem) -> _LinearState:
    """Return the state before any report: a prior counts as reports, not as rounds or money."""
    model = Regression(*(array.copy() for array in params.start))
    first = np.zeros(2)
    for i in np.flatnonzero(model.reports):
        learn_share(first, model.sums[i, 1:] / model.reports[i], params.most[i])
    paid = np.zeros((problem.n_arms, COSTS + problem.n_resources))
    return _LinearState(*model, paid, first, new_paced(params.pace, problem))


def linear_scratch(params: LinearParams, problem: Problem) -> _LinearScratch:
    """Allocate the room to work in."""
    k, d = problem.n_arms, problem.n_resources
    gains, scores, levels, lost = np.zeros((4, k))
    uses, means, prices = np.zeros((k, d)), np.zeros((k, 1 + d)), np.zeros(d)
    opened, room = np.zeros(k, np.int64), np.zeros(problem.context_shape[1])
    return _LinearScratch(gains, uses, means, scores, levels, prices, opened, room, lost)


@kernel
def _context_row(now: Now, i: int) -> int:
    return min(i, now.context.shape[0] - 1)


@kernel
def _open_fitting(params: LinearParams, scratch: Any, now: Now) -> None:
    """Open the allowed arms, and of these only those that fit, if any does."""
    n_arms, d = params.most.shape
    some = False
    for i in range(n_arms):
        fits = is_allowed(now, i)
        for j in range(d):
            fits &= params.most[i, j] <= now.left[j] * (1 + TINY)
        scratch.open[i] = fits
        some |= fits
    if not some:
        for i in range(n_arms):
            scratch.open[i] = is_allowed(now, i)


@kernel
def _affordable(params: LinearParams, scratch: Any, i: int, round_part: float) -> float:
    """N: the pulls of arm i, at its mean cost, that a K-th of what is left pays for.

    `round_part` is the part of the rounds left that one takes; `prices` has 1 / left.
    """
    part = round_part
    for j in range(params.least.shape[1]):
        cost = max(scratch.means[i, 1 + j], params.least[i, j])
        part = max(part, cost * scratch.prices[j])
    return 1 / (part * params.least.shape[0])


@kernel
def _set_bounds(params: LinearParams, state: Any, scratch: Any, now: Now, sampled: bool) -> None:
    """Write u and l of each arm, and its mean reward and costs.

    If `sampled`, each width is multiplied by a standard normal number: Thompson sampling.
    """
    model = regression_of(state)
    n_arms, d = params.most.shape
    share = usual_share(state.first)
    key = now.key
    times = 1.0
    _set_levels(params, model, scratch, now, share)
    for i in range(n_arms):
        if model.reports[i] > 0:
            x = now.context[_context_row(now, i)]
            level, square = scratch.levels[i], scratch.scores[i]
            part = 1 / (model.reports[i] + 1)
            if sampled:
                times, _, key = normal(key)
            width = times * _signal_width(model, i, 0, 1.0, level, square, part)
            scratch.gains[i] = min(1.0, max(0.0, predict(model, i, 0, x) + width))
            for j in range(d):
                cost = _predicted_cost(model, scratch, i, j, x)
                if sampled:
                    times, _, key = normal(key)
                top = model.tops[i, 1 + j]
                width = times * _signal_width(model, i, 1 + j, top, level, square, part)
                cost = lower_cost(cost, width) if width > 0 else cost - width
                scratch.uses[i, j] = min(params.most[i, j], max(params.least[i, j], cost))
        else:
            _untried_bounds(params, scratch, now, i, scratch.gains[i], share)


@kernel
def _set_levels(
    params: LinearParams, model: Regression, scratch: Any, now: Now, share: float
) -> None:
    """Write the means of each arm, N to `gains`, its leverage to `scores`, and L.

    A loop for each step, because an arm's steps wait for each other and those of several arms do
    not.
    """
    n_arms, d = params.most.shape
    round_part = 1 / now.rounds_left
    for j in range(d):
        scratch.prices[j] = 1 / max(now.left[j], TINY)
    for i in range(n_arms):
        tried = model.reports[i] > 0
        part = 1 / max(1.0, model.reports[i])
        for s in range(1 + d):
            guess = 0.5 if s == 0 else share * params.most[i, s - 1]
            scratch.means[i, s] = model.sums[i, s] * part if tried else guess
    for i in range(n_arms):
        scratch.gains[i] = _affordable(params, scratch, i, round_part)
    for i in range(n_arms):
        scratch.scores[i] = leverage(model, i, now.context[_context_row(now, i)])
    for i in range(n_arms):
        scratch.levels[i] = _level_at(params, now, i, scratch.gains[i], scratch.scores[i])


@kernel
def _level_at(params: LinearParams, now: Now, i: int, pulls: float, square: float) -> float:
    """L of an arm with a report, in a context of this leverage."""
    n = float(now.context.shape[1])
    speaking = max(1.0, 1 / square - params.ridge + now.pending[i])
    return optimism(params.scale, pulls, n * n * speaking)


@kernel
def _signal_width(
    model: Regression, i: int, s: int, top: float, level: float, square: float, part: float
) -> float:
    """Return the width of signal s of an arm whose reports are 1 / part - 1, at this leverage."""
    variance = (model.squares[i, s] + PRIOR * top * top) * part
    return math.sqrt(2 * level * variance * square) + level * top * square * _THIRD


@kernel
def _predicted_cost(model: Regression, scratch: Any, i: int, j: int, x: Floats) -> float:
    return max(predict(model, i, 1 + j, x), _LEAST_PART * scratch.means[i, 1 + j])


@kernel
def _untried_bounds(
    params: LinearParams, scratch: Any, now: Now, i: int, pulls: float, share: float
) -> None:
    level = optimism(params.scale, pulls, float(now.pending[i]))
    scratch.gains[i] = untried_reward(pulls / (1 + now.pending[i]))
    for j in range(scratch.uses.shape[1]):
        guess = share * params.most[i, j]
        scratch.uses[i, j] = untried_cost(params.least[i, j], guess, level)


@kernel
def _score_open(params: LinearParams, state: Any, scratch: Any, now: Now) -> None:
    """Write what each open arm is worth; others are `OUT`. The base of the prices must be there."""
    pace_prices(params.pace, state.paced, now, params.eta, scratch.prices)
    for i in range(scratch.scores.shape[0]):
        score = scratch.gains[i]
        for j in range(scratch.prices.shape[0]):
            score -= scratch.prices[j] * params.pace.rates[j] * scratch.uses[i, j]
        scratch.scores[i] = score if scratch.open[i] else OUT


@kernel
def _safe_instead(params: LinearParams, state: Any, scratch: Any, now: Now, arm: int) -> int:
    """Return the safe arm if `arm` is too risky, else `arm`."""
    if params.guard == 0:
        return arm
    reports = state.reports
    arms = ArmMeans(reports, scratch.means, state.squares)
    safe = find_safe(arms, params.parts, scratch.open)
    if safe < 0 or safe == arm:
        return arm
    stakes = LossStakes(
        params.guard, params.horizon, now.rounds_left, 1.0, params.pace.budget, now.left
    )
    risky = is_too_risky(
        arms, stakes, state.paid, scratch.uses, now.pending, params.most, scratch.lost, safe, arm
    )
    return safe if risky else arm


@kernel
def _take_best(params: LinearParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    """Write the arm with the largest score, or the safe one; let the round pass if no arm is
    worth its price and it may.
    """
    arm, _ = find_largest(now, scratch.scores)
    play.probs[0] = 1.0
    if arm < 0:
        play.arms[0] = SKIP if now.masked else STOP
    elif params.pace.skips and scratch.scores[arm] < 0:
        play.arms[0] = SKIP
    else:
        play.arms[0] = _safe_instead(params, state, scratch, now, arm)


@kernel
def _show_best(params: LinearParams, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    arm, _ = find_largest(now, scratch.scores)
    for i in range(out.shape[0]):
        out[i] = 0.0
    if arm >= 0 and not (params.pace.skips and scratch.scores[arm] < 0):
        out[_safe_instead(params, state, scratch, now, arm)] = 1.0


@kernel
def learn_linear(params: LinearParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    """Learn from a report."""
    i = play.arms[0]
    if state.reports[i] == 0:
        learn_share(state.first, play.costs[0], params.most[i])
    x = now.context[_context_row(now, i)]
    add_report(regression_of(state), i, x, scratch.room, play.rewards[0], play.costs[0])
    add_to_pace(params.pace, state.paced, play.rewards[0], play.costs[0])
    state.paid[i, REPORTS] += 1
    state.paid[i, REWARD] += play.rewards[0]
    for j in range(play.costs.shape[1]):
        state.paid[i, COSTS + j] += play.costs[0, j]


@kernel
def _no_base(state: Any, prices: Floats) -> None:
    for j in range(prices.shape[0]):
        prices[j] = 0.0


def _value(params: LinearParams, state: Any, scratch: Any, now: Now) -> None:
    _open_fitting(params, scratch, now)
    _set_bounds(params, state, scratch, now, SAMPLED)
    set_base(state, scratch.prices)
    _score_open(params, state, scratch, now)


def _choose(params: LinearParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    value(params, state, scratch, now)
    _take_best(params, state, scratch, now, play)


def _share(params: LinearParams, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    value(params, state, scratch, now)
    _show_best(params, state, scratch, now, out)


def linear_rule(set_base: Callable[..., None] = _no_base, *, sampled: bool = False) -> Any:
    """Return choose and probabilities.

    set_base   (state, prices) writes the base of the prices (d,)
    sampled    whether rewards and costs are sampled: then the probabilities are not known
    """
    parts = attach(_value, set_base=set_base, SAMPLED=sampled)
    return attach(_choose, value=parts), attach(_share, value=parts)
