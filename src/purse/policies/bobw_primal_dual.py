r"""Primal-dual for both worlds: EXP3.P on reward less cost at prices that follow what is spent, for
i.i.d. rounds and for an adversary.

The rule (Castiglioni, Celli and Kroer, 2022). Budgets are rescaled to one, B, for T rounds, as
`purse.kernels.primal_dual` says, and costs c_j with them; rho = B / T; with a horizon,
doing nothing is one more action, which pays and costs nothing. In every round

    y_t           = (r_t - sum_j lambda_t(j) c_{t,j} + 1/rho) / (1 + 1/rho)
    p_{t+1}         from y_t and p_t by EXP3.P for T rounds
    lambda_{t+1}  = the point of {lambda >= 0, sum_j lambda(j) <= 1/rho} that is nearest to
                    lambda_t - eta (rho - c_t),   lambda_1 = 0

where y_t, in [0, 1], is what the action brought. Nothing is done, to the end, once some resource
cannot pay the largest cost any more.

Options: eta=None (1 / (rho sqrt(d T))) or a positive number; delta=0.05, as in EXP3.P.

Guarantee: in i.i.d. worlds the gain falls short of the optimum of the linear program on the true
means by O~((1/rho) sqrt(K T)); against an adversary it is at least rho times that of the best fixed
distribution over actions, less as much; both with high probability.

The part of the prices in it is sqrt(d T) / rho, by the bound of online gradient descent with this
eta; 1 / sqrt T would leave sqrt(T) (1 / rho^2 + d) / 2.

Departures from the paper: it leaves the learner of arms and eta open, and takes EXP3.P as an
example; the paper itself was not read. Without a horizon T is the most rounds that can be paid for,
doing nothing is no action, and play goes on until a pull cannot be paid. A late report meets
today's prices.

Needs B and T, or c_min; takes any number of resources. O(K + d^2) a round with the exps of EXP3.P.

>>> import purse
>>> world = purse.worlds.routing(
...     quality=[0.55, 0.75, 0.9], prices=[0.02, 0.1, 0.6], prompts=20000
... )
>>> learnt = purse.simulate("bobw-primal-dual", world, budget=4000, n_paths=4, seed=0)
>>> chance = purse.simulate("uniform", world, budget=4000, n_paths=4, seed=0)
>>> bool(learnt.gain.mean() > 1.05 * chance.gain.mean())
True

Reference: M. Castiglioni, A. Celli, C. Kroer. Online learning with knapsacks: the best of both
worlds. ICML 2022.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.kernels import exp3_p, kernel, number, rounds_of
from purse.kernels.exp3_p import Exp3PParams, Exp3PState, learn_action, new_learner, tuned
from purse.kernels.primal_dual import apply_skipped_rounds, common_budget, project, rounds_passed
from purse.types import SKIP, Floats, Ints, Now, Play, Problem

NAME, PLAYS, VERSION = "bobw-primal-dual", 1, 1
SOURCE = "Castiglioni et al., ICML 2022, as in a course at its first author's university"
scratch = exp3_p.scratch
ONE_PULL = 1 - 1e-12  # the largest cost, as a policy may see it of a purse that holds just that


class BobwParams(NamedTuple):
    n_arms: int
    primal: Exp3PParams  # of the arms and, with a horizon, of doing nothing
    factors: Floats  # (d,) of the costs
    rho: float
    eta: float


class BobwState(NamedTuple):
    gains: Floats  # (actions,)
    chances: Floats  # (actions,) p, doing nothing last
    weights: Floats  # (actions,)
    age: Ints  # (1,) reports
    prices: Floats  # (d,) lambda
    booked: Ints  # (1,) rounds


def params(problem: Problem, *, eta: float | None = None, delta: float = 0.05) -> BobwParams:
    rounds = rounds_of(problem, NAME)
    budget, factors = common_budget(problem, rounds)
    rho = budget / rounds
    if eta is None:
        eta = 1 / (rho * math.sqrt(problem.n_resources * rounds))
    primal = tuned(problem.n_arms + (problem.horizon is not None), 1.0, rounds, delta)
    return BobwParams(problem.n_arms, primal, factors, rho, number("eta", eta, above=0))


def init(params: BobwParams, problem: Problem) -> BobwState:
    learner = new_learner(params.primal.n_arms)
    return BobwState(*learner, np.zeros(problem.n_resources), np.zeros(1, np.int64))


@kernel
def waits(params: BobwParams, left: Floats) -> bool:
    """Return whether nothing is done any more."""
    if params.primal.n_arms > params.n_arms:
        for j in range(left.shape[0]):
            if left[j] < ONE_PULL:
                return True
    return False


@kernel
def choose(params: BobwParams, state: BobwState, scratch: Any, now: Now, play: Play) -> None:
    exp3_p.choose(params, state, scratch, now, play)
    if waits(params, now.left):
        play.arms[0] = SKIP
        play.probs[0] = 1.0


@kernel
def update(params: BobwParams, state: BobwState, scratch: Any, now: Now, play: Play) -> None:
    passed = rounds_passed(state.booked, now.t)
    # a price that falls round by round, and stops at 0, falls as in one step
    idle = max(0, passed - 1) * params.eta * params.rho
    pace = min(1, passed) * params.rho
    worth = play.rewards[0]
    for j in range(state.prices.shape[0]):
        cost = params.factors[j] * play.costs[0, j]
        price = max(0.0, state.prices[j] - idle)
        worth -= price * cost
        state.prices[j] = price - params.eta * (pace - cost)
    project(state.prices, 1 / params.rho)
    learner = Exp3PState(state.gains, state.chances, state.weights, state.age)
    apply_skipped_rounds(passed, 1 / (1 + params.rho), params.n_arms, params.primal, learner)
    gain = (params.rho * worth + 1) / (params.rho + 1)
    learn_action(params.primal, learner, play.arms[0], play.probs[0], gain)


@kernel
def probabilities(
    params: BobwParams, state: BobwState, scratch: Any, now: Now, out: Floats
) -> None:
    exp3_p.probabilities(params, state, scratch, now, out)
    if waits(params, now.left):
        for i in range(params.n_arms):
            out[i] = 0.0
