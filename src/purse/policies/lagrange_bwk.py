r"""LagrangeBwK: two learners play against each other, one for arms and one for the prices of
resources.

The rule (Immorlica, Sankararaman, Schapire and Slivkins, 2019). Budgets are rescaled to one, B, for
T rounds, as `purse.kernels.primal_dual` says, and costs c_j with them; with a horizon,
doing nothing is one more action, which pays and costs nothing. In every round

    q_t(j)  ~ exp(eta sum_{s<t} z c_{s,j} / (1 + z))           the prices of D resources: Hedge
    y_t     = (r_t + z - z sum_j q_t(j) c_{t,j}) / (1 + z)     what the action brought, in [0, 1]
    p_{t+1}   from y_t and p_t                                 the actions: EXP3.P for T rounds

with eta = sqrt(8 ln D / T) and

    form="stochastic"   z = T / B, and time is one of the resources, with c = B / T in every round
    form="adversarial"  z = T_0 / B, without time; T_0 = T^((1 + u) / 2) / (d + 1) with u drawn
                        once, uniformly from [0, 1]

y is the payoff r + 1 - z c_j of the game between the two, mixed by q and brought into [0, 1].
(d + 1) T_0 stands for a guess at what can be gained, between sqrt T and T.

Options: form="stochastic" or "adversarial"; delta=0.05, as in EXP3.P.

Guarantee: stochastic: in i.i.d. worlds the gain falls short of the optimum of the linear program on
the true means by at most O(T/B) (sqrt(T K ln(K T / delta)) + sqrt(T ln D)), with probability
1 - delta (Theorem 10.14 of the book). Adversarial: in expectation the gain is, up to lower terms,
at least a part 2 / ((d + 1) ln T) of that of the best fixed distribution over actions, whatever
rewards and costs (formula 157 of the book); no policy can do better than 1 / O(ln T).

Departures from the paper: the mixture of resources by q instead of one drawn from it. T_0 is drawn
as in public code of the journal version: a power of d + 1 from 1 up would lose a factor 1.4 to 2.9
more. Without a horizon T is the most rounds that can be paid for, and doing nothing is no action.

Needs B and T, or c_min; takes any number of resources. O(K + D) a round with D exps and those of
EXP3.P.

>>> import purse
>>> world = purse.worlds.routing(
...     quality=[0.55, 0.75, 0.9], prices=[0.02, 0.1, 0.6], prompts=20000
... )
>>> learnt = purse.simulate("lagrange-bwk", world, budget=4000, n_paths=4, seed=0)
>>> chance = purse.simulate("uniform", world, budget=4000, n_paths=4, seed=0)
>>> bool(learnt.gain.mean() > 1.05 * chance.gain.mean())
True

References: N. Immorlica, K. A. Sankararaman, R. Schapire, A. Slivkins. Adversarial bandits with
knapsacks. FOCS 2019; Journal of the ACM 69, 2022. A. Slivkins. Introduction to multi-armed bandits.
arXiv 1904.07272.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.kernels import U, at, choice, exp, exp3_p, kernel, largest, rounds_of, total, uniform
from purse.kernels.exp3_p import Exp3PParams, Exp3PState, learn_action, new_learner, tuned
from purse.kernels.primal_dual import apply_skipped_rounds, common_budget, rounds_passed
from purse.types import Floats, Ints, Now, Play, Problem

NAME, PLAYS, VERSION = "lagrange-bwk", 1, 1
SOURCE = "Immorlica et al., FOCS 2019, as in the book of Slivkins, chapter 10, and public code"
choose, probabilities = exp3_p.choose, exp3_p.probabilities
FORMS = ("stochastic", "adversarial")


class LagrangeParams(NamedTuple):
    n_arms: int
    primal: Exp3PParams  # of the arms and, with a horizon, of doing nothing
    factors: Floats  # (d,) of the costs
    timed: bool  # whether time has a price
    eta: float
    rounds: int  # T
    log_rounds: float
    budget: float  # B


class LagrangeState(NamedTuple):
    gains: Floats  # (actions,)
    chances: Floats  # (actions,) p, doing nothing last
    weights: Floats  # (actions,)
    age: Ints  # (1,) reports
    spent: Floats  # (d,) sums of c
    booked: Ints  # (1,) rounds


class LagrangeScratch(NamedTuple):
    prices: Floats  # (D,) q, time last
    chances: Floats  # (K,) used under a mask


def params(problem: Problem, *, form: str = "stochastic", delta: float = 0.05) -> LagrangeParams:
    timed = choice("form", form, FORMS) == "stochastic"
    rounds = rounds_of(problem, NAME)
    budget, factors = common_budget(problem, rounds)
    primal = tuned(problem.n_arms + (problem.horizon is not None), 1.0, rounds, delta)
    eta = math.sqrt(8 * math.log(problem.n_resources + timed) / rounds)
    told = rounds, math.log(rounds), budget
    return LagrangeParams(problem.n_arms, primal, factors, timed, eta, *told)


def init(params: LagrangeParams, problem: Problem) -> LagrangeState:
    learner = new_learner(params.primal.n_arms)
    return LagrangeState(*learner, np.zeros(problem.n_resources), np.zeros(1, np.int64))


def scratch(params: LagrangeParams, problem: Problem) -> LagrangeScratch:
    n_prices = problem.n_resources + params.timed
    return LagrangeScratch(np.zeros(n_prices), np.zeros(params.n_arms))


@kernel
def stake(key: U, params: LagrangeParams, t: int) -> float:
    """Return z, the same in all rounds of a path.

    It is drawn with the key of round 1, which is 1 - t rounds from that of round t.
    """
    if params.timed:
        return params.rounds / params.budget
    half = 0.5 * (1 + uniform(at(key, 1 - t), 1))
    return exp(half * params.log_rounds) / ((params.factors.shape[0] + 1) * params.budget)


@kernel
def set_prices(
    params: LagrangeParams, state: LagrangeState, prices: Floats, t: int, z: float
) -> None:
    for j in range(state.spent.shape[0]):
        prices[j] = params.eta / (1 + z) * z * state.spent[j]
    if params.timed:
        prices[len(state.spent)] = params.eta / (1 + z) * (t - 1)
    top = largest(prices)
    for j in range(prices.shape[0]):
        prices[j] = exp(prices[j] - top)
    scale = 1 / total(prices)
    for j in range(prices.shape[0]):
        prices[j] *= scale


@kernel
def update(
    params: LagrangeParams, state: LagrangeState, scratch: LagrangeScratch, now: Now, play: Play
) -> None:
    prices = scratch.prices
    z = stake(now.key, params, now.t)
    set_prices(params, state, prices, now.t, z)
    worth = z  # of a round that pays and costs nothing
    if params.timed:
        worth -= prices[len(state.spent)]
    nothing = worth / (1 + z)
    for j in range(state.spent.shape[0]):
        cost = params.factors[j] * play.costs[0, j]
        worth -= z * prices[j] * cost
        state.spent[j] += cost
    learner = Exp3PState(state.gains, state.chances, state.weights, state.age)
    passed = rounds_passed(state.booked, now.t)
    apply_skipped_rounds(passed, nothing, params.n_arms, params.primal, learner)
    gain = (play.rewards[0] + worth) / (1 + z)
    learn_action(params.primal, learner, play.arms[0], play.probs[0], gain)
