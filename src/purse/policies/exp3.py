r"""EXP3: exponential weights on reward, blind to what a pull costs; the yardstick for what looking
at costs is worth.

The rule (Auer, Cesa-Bianchi, Freund and Schapire, 2002), for T rounds:

    p_t(i)     = (1 - gamma) w_t(i) / sum_j w_t(j) + gamma / K
    w_{t+1}(i) = w_t(i) exp(gamma 1{i = i_t} r_t(i) / (K p_t(i)))

    gamma      = min(1, sqrt(K ln K / ((e - 1) T)))
    T          = the horizon if there is one, else ceil(B / c_min), the most rounds that the
                 budget can pay for

This is EXP3.BwK if every pull costs 1, and runs on its kernels.

Options: gamma=None (above) or a number in [0, 1].

Guarantee: over T rounds the expected reward falls short of any fixed arm's, in the same rounds, by
at most 2 sqrt((e - 1) T K ln K), whatever the rewards. Of a budget that says something only if
all costs are one constant; else a cheap arm, which buys more rounds, is worth no more to it than a
dear one.

Departures from the paper: it has a number of rounds and no budget; here play goes on until the
budget is gone. gamma is tuned to T, which bounds the best arm's gain, and is 0 for a single arm.

Needs the horizon, or B and c_min (for gamma); plays any number of resources. O(log K) a round.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.6], costs=[0.9, 0.3])
>>> run = purse.simulate("exp3", world, budget=3000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > run.pulls[:, 1].mean())
True

Reference: P. Auer, N. Cesa-Bianchi, Y. Freund, R. E. Schapire. The nonstochastic multiarmed bandit
problem. SIAM Journal on Computing 32, 2002.
"""

from typing import Any

from purse.kernels import kernel, number, rounds_of, sumtree
from purse.policies import exp3_bwk
from purse.policies.exp3_bwk import Exp3BwKParams, Exp3BwKState, gamma_of, learn
from purse.types import Now, Play, Problem

NAME, PLAYS, SOURCE = "exp3", 1, "from memory"
init, choose, probabilities = exp3_bwk.init, exp3_bwk.choose, exp3_bwk.probabilities


def params(problem: Problem, *, gamma: float | None = None) -> Exp3BwKParams:
    n_arms = problem.n_arms
    gamma = (
        gamma_of("theorem", n_arms, rounds_of(problem, NAME), 1.0)
        if gamma is None
        else number("gamma", gamma, low=0, high=1)
    )
    return Exp3BwKParams(n_arms, sumtree.first_leaf(n_arms), gamma, gamma / n_arms)


@kernel
def update(params: Exp3BwKParams, state: Exp3BwKState, scratch: Any, now: Now, play: Play) -> None:
    learn(params, state, play.arms[0], play.probs[0], play.rewards[0], 1.0)
