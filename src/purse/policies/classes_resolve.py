r"""Classes, resolved: a mean of each class and arm, and the price at which the classes seen so far
would spend the even pace.

The rule (ours, after UCB-ALP). The class z of a round is the first column of its context that is 1,
and a context without one is a class of its own; so one-hot columns are classes. Reward and cost of
arm i in class z have ridge means r^(z, i), c^(z, i) and bounds r+(z, i), c-(z, i), as
`purse.kernels.regression` says, with a context that is 1 alone. In rounds of pace,
u = c T / b:

    base    the least lambda in [0, 1] at which
                sum_z f(z) u^(z, i(z)) <= t,    i(z) = argmax_i r^(z, i) - lambda u^(z, i), or
                nothing if that is below 0
    lambda  base + eta S / sqrt(Q), kept in [0, 1], as `purse.kernels.pace_price` says
    i_t     argmax_i r+(z, i) - lambda u-(z, i); below 0 the round passes

f(z) counts the reports on class z up to round t. The base is found by 30 bisections with every
report at first, and from 64 on with every 8th. Without a horizon no round passes, and the price is
what was earned per cost.

Options: alpha=1, of the bounds; eta=0.3. With alpha=0.5 it gains up to 2% more in some thousand
rounds, and may leave the best arm of a class for good: on a world of three classes it loses 4% of
the optimum in 200,000 rounds, and with alpha=1 0.2%.

Guarantee: none is proved. With equal costs, known frequencies and the program solved for what is
left, UCB-ALP loses O(log T) but for boundary cases, and O(sqrt(T)) there (its abstract).

Departures from the paper: costs differ and are learnt and frequencies are counted, for which the
paper has versions of its own; one price takes the place of a linear program in each round.

Scale: with few and large classes, or hundreds of them. If they are many and small, one-hot
columns in a linear policy learn faster, since all classes share the constant there.

Needs the budget; a horizon or not. O(K) a round, and O(30 Z K) with every 8th report, Z classes.

>>> import purse
>>> live = purse.Policy(
...     "classes.resolve", n_arms=2, budget=100, cost_min=0.1, horizon=400,
...     features={"source": ("code", "chat")},
... )
>>> live.tell(live.ask(context={"source": "chat"}), reward=1, cost=0.5)
True

Reference: H. Wu, R. Srikant, X. Liu, C. Jiang. Algorithms with logarithmic or sublinear regret for
constrained contextual bandits. NeurIPS 2015.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.errors import InvalidInput
from purse.kernels import cold, kernel, number, total
from purse.kernels.pace_price import (
    Pace,
    add_to_pace,
    new_pace,
    new_paced,
    pace_prices,
    worthwhile_rule,
)
from purse.kernels.regression import (
    add_report,
    least_cost,
    leverage,
    new_regression,
    predict,
    regression_of,
    upper_reward,
)
from purse.types import Floats, Now, Play, Problem

NAME, PLAYS, RESOURCES, CONTEXT, SOURCE = "classes.resolve", 1, 1, True, "ours"
RIDGE = 1.0
EARLY, EVERY, HALVINGS = 64, 8, 30  # reports, reports, and bisections


class ClassesParams(NamedTuple):
    pace: Pace
    alpha: float
    eta: float
    cost_min: Floats  # (K,)
    cost_max: Floats  # (K,)


class ClassesState(NamedTuple):
    inverse: Floats  # (Z K, 1, 1) this and the next five: see `Regression`
    coefficients: Floats  # (Z K, 2, 1)
    squares: Floats  # (Z K, 2)
    sums: Floats  # (Z K, 2)
    tops: Floats  # (Z K, 2)
    reports: Floats  # (Z K,)
    seen: Floats  # (Z,) f
    base: Floats  # (1,)
    paced: Floats  # (3,) see `pace_price`


class ClassesScratch(NamedTuple):
    prices: Floats  # (1,) lambda
    scores: Floats  # (K,) r+ - lambda u-
    means: Floats  # (Z K, 2) reward, and cost in rounds of pace
    gains: Floats  # (1,) room for the regression


def params(problem: Problem, *, alpha: float = 1.0, eta: float = 0.3) -> ClassesParams:
    if problem.per_arm:
        raise InvalidInput(f"{NAME} needs one context for all arms; this problem has one for each")
    return ClassesParams(
        new_pace(problem),
        number("alpha", alpha, low=0),
        number("eta", eta, above=0),
        problem.cost_min[:, 0] * problem.unit_scale[0],
        problem.cost_max[:, 0] * problem.unit_scale[0],
    )


def init(params: ClassesParams, problem: Problem) -> ClassesState:
    n_classes = problem.n_features + 1
    model = new_regression(n_classes * problem.n_arms, 2, 1, RIDGE)
    return ClassesState(*model, np.zeros(n_classes), np.zeros(1), new_paced(params.pace, problem))


def scratch(params: ClassesParams, problem: Problem) -> ClassesScratch:
    n_means = (problem.n_features + 1) * problem.n_arms
    return ClassesScratch(
        np.zeros(1), np.zeros(problem.n_arms), np.zeros((n_means, 2)), np.zeros(1)
    )


@kernel
def class_of(context: Floats) -> int:
    """Return the class of a context (1, n): its first column that is 1, and the constant is the
    last.
    """
    z = 0
    while context[0, z] != 1.0:
        z += 1
    return z


@kernel
def score(params: ClassesParams, state: ClassesState, scratch: ClassesScratch, now: Now) -> None:
    """Write the index of each arm."""
    model = regression_of(state)
    scratch.prices[0] = state.base[0]
    pace_prices(params.pace, state.paced, now, params.eta, scratch.prices)
    price = scratch.prices[0] * params.pace.rates[0]
    n_arms = scratch.scores.shape[0]
    first = class_of(now.context) * n_arms
    one = now.context[0, now.context.shape[1] - 1 :]
    for i in range(n_arms):
        at = first + i
        width = math.sqrt(leverage(model, at, one))
        reward = upper_reward(model, at, one, width, params.alpha)
        low, high = params.cost_min[i], params.cost_max[i]
        cost = least_cost(model, at, 0, one, width, params.alpha, low, high)
        scratch.scores[i] = reward - price * cost


choose, probabilities = worthwhile_rule(score)


@kernel
def update(
    params: ClassesParams, state: ClassesState, scratch: ClassesScratch, now: Now, play: Play
) -> None:
    n_arms = scratch.scores.shape[0]
    z = class_of(now.context)
    one = now.context[0, now.context.shape[1] - 1 :]
    at = z * n_arms + play.arms[0]
    add_report(regression_of(state), at, one, scratch.gains, play.rewards[0], play.costs[0])
    add_to_pace(params.pace, state.paced, play.rewards[0], play.costs[0])
    state.seen[z] += 1
    reports = int(total(state.seen))
    if params.pace.skips and (reports < EARLY or reports % EVERY == 0):
        set_means(params, state, scratch, one)
        state.base[0] = solve_base(state.seen, scratch.means, float(now.t))


@cold
def set_means(
    params: ClassesParams, state: ClassesState, scratch: ClassesScratch, one: Floats
) -> None:
    """Write r^(z, i) and u^(z, i)."""
    model = regression_of(state)
    n_arms = scratch.scores.shape[0]
    for at in range(scratch.means.shape[0]):
        i = at % n_arms
        scratch.means[at, 0] = min(1.0, max(0.0, predict(model, at, 0, one)))
        cost = min(params.cost_max[i], max(params.cost_min[i], predict(model, at, 1, one)))
        scratch.means[at, 1] = params.pace.rates[0] * cost


@cold
def solve_base(counts: Floats, means: Floats, rounds: float) -> float:
    """Return the least price in [0, 1] at which rounds of these classes, (Z,), cost at
    most `rounds`.
    """
    if spending(counts, means, 0.0) <= rounds:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        price = 0.5 * (low + high)
        if spending(counts, means, price) <= rounds:
            high = price
        else:
            low = price
    return high


@kernel
def spending(counts: Floats, means: Floats, price: float) -> float:
    """Return the cost of rounds of these classes, (Z,), at a price, by the means (Z K, 2)."""
    n_arms = means.shape[0] // counts.shape[0]
    spent = 0.0
    for z in range(counts.shape[0]):
        best, cost = 0.0, 0.0
        for at in range(z * n_arms, (z + 1) * n_arms):
            worth = means[at, 0] - price * means[at, 1]
            if worth > best:
                best, cost = worth, means[at, 1]
        spent += counts[z] * cost
    return spent
