r"""EXP3.P: exponential weights on reward plus a bonus for what was seldom looked at, so that the
regret is small with high probability.

The rule (Bubeck and Cesa-Bianchi, 2012, after Auer et al., 2002), for T rounds, blind to costs:

    p_t(i) = (1 - gamma) exp(eta G_{t-1}(i)) / sum_j exp(eta G_{t-1}(j)) + gamma / K
    G_t(i) = G_{t-1}(i) + (1{i = i_t} x_t(i) + beta) / p_t(i)          for every arm; x = r

    beta  = sqrt(ln(K / delta) / (K T))
    eta   = 0.95 sqrt(ln K / (K T))
    gamma = 1.05 sqrt(K ln K / T), and 1 (play uniformly) if that is above 1/2
    T     = the horizon if there is one, else ceil(B / c_min)

EXP3.P.BwK is the same rule on another x. Both run on `purse.kernels.exp3_p`.

Options: delta=0.05, the probability with which the guarantee may fail.

Guarantee: with probability 1 - delta the reward over T rounds falls short of any fixed arm's, in
the same rounds, by at most 5.15 sqrt(T K ln(K / delta)), whatever the rewards. Of a budget that
says something only if all costs are one constant.

Departures from the paper: it has rounds and no budget; here play goes on until the budget is gone.

Needs the horizon, or B and c_min; plays any number of resources. O(K) a round with one exp.

>>> import purse
>>> policy = purse.Policy("exp3.p", n_arms=2, budget=100, cost_min=0.5, seed=1)
>>> ticket = policy.ask()
>>> policy.tell(ticket, reward=1, cost=0.5)
True
>>> bool(policy.probabilities()[ticket.arm] > 0.5)
True

Reference: S. Bubeck, N. Cesa-Bianchi. Regret analysis of stochastic and nonstochastic multi-armed
bandit problems. Foundations and Trends in Machine Learning 5, 2012, section 3.2.
"""

from typing import Any

from purse.kernels import exp3_p, kernel, rounds_of
from purse.kernels.exp3_p import Exp3PParams, Exp3PState, learn_action, new_learner, tuned
from purse.types import Now, Play, Problem

NAME, PLAYS, SOURCE = "exp3.p", 1, "from memory"
scratch, choose, probabilities = exp3_p.scratch, exp3_p.choose, exp3_p.probabilities


def params(problem: Problem, *, delta: float = 0.05) -> Exp3PParams:
    return tuned(problem.n_arms, 1.0, rounds_of(problem, NAME), delta)


def init(params: Exp3PParams, problem: Problem) -> Exp3PState:
    return new_learner(params.n_arms)


@kernel
def update(params: Exp3PParams, state: Exp3PState, scratch: Any, now: Now, play: Play) -> None:
    learn_action(params, state, play.arms[0], play.probs[0], play.rewards[0])
