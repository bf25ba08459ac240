r"""EXP3++: exponential weights on reward that explore less where the gaps are clear; blind to what
a pull costs.

The rule (Seldin and Lugosi, 2017), with losses 1 - r. Each arm once, in order; then

    eta_t     = (1/2) sqrt(ln K / (t K))
    p_t(i)    = exp(-eta_t L_{t-1}(i)) / sum_j exp(-eta_t L_{t-1}(j))
    radius    = sqrt((alpha ln t + ln K) / (2 N(i)))
    UCB       = min(1, mean loss + radius),   LCB = max(0, mean loss - radius)
    gap_t(i)  = max(0, LCB(i) - min_j UCB(j))
    eps_t(i)  = min{1/(2K), (1/2) sqrt(ln K / (t K)), beta ln t / (t gap_t(i)^2)}
    p~_t(i)   = (1 - sum_j eps_t(j)) p_t(i) + eps_t(i)
    L_t(i)    = L_{t-1}(i) + 1{i = i_t} (1 - r_t(i)) / p~_t(i)

This is EXP3++.BwK if every pull costs 1, so that nothing is unsure about the cost (lam is
infinite in `purse.kernels.confidence`), and runs on its kernels.

Options: alpha=3; beta="theory" (256) or a number.

Guarantee: over T rounds the expected reward falls short of any fixed arm's, in the same rounds, by
at most 4 sqrt(T K ln K) + K whatever the rewards, and by O(sum_i (ln T)^2 / Delta(i)) for i.i.d.
rewards, with Delta the gaps in mean reward. Of a budget that says something only if all costs
are one constant.

Departures from the paper: it has rounds and no budget; here play goes on until the budget is gone.
The constant 4 is recalled.

Needs nothing: neither T nor B nor c_min; plays any number of resources. O(K) a round with one exp.

>>> import purse
>>> policy = purse.Policy("exp3++", n_arms=3, budget=100, cost_min=0.1, seed=0)
>>> for reward, cost in [(0.9, 0.1), (0.2, 0.9), (0.2, 0.3)]:
...     paid = policy.tell(policy.ask(), reward, cost)
>>> policy.probabilities().round(3)
array([0.333, 0.333, 0.333])

Reference: Y. Seldin, G. Lugosi. An improved parametrization and analysis of the EXP3++ algorithm
for stochastic and adversarial bandits. COLT 2017.
"""

import math

from purse.kernels import kernel
from purse.kernels.confidence import gap_bounds, quiet_until
from purse.policies import exp3pp_bwk
from purse.policies.exp3pp_bwk import Exp3PPBwKParams, Exp3PPBwKScratch, Exp3PPBwKState, learn
from purse.types import Now, Play, Problem

NAME, INITIAL_PULLS, PLAYS = "exp3++", True, 1
SOURCE = "Seldin and Lugosi, COLT 2017, as in SMPyBandits"
init, scratch = exp3pp_bwk.init, exp3pp_bwk.scratch
choose, probabilities = exp3pp_bwk.choose, exp3pp_bwk.probabilities
SPREAD = 0.5  # eps_t is at most SPREAD sqrt(ln K / (t K))


def params(
    problem: Problem, *, alpha: float = 3.0, beta: float | str = "theory"
) -> Exp3PPBwKParams:
    n_arms = problem.n_arms
    bounds = gap_bounds(1.0, alpha=alpha, beta=beta, lam=None, width="direct")
    bounds = bounds._replace(lam=math.inf)
    quiet = quiet_until(n_arms, bounds, SPREAD)
    log_ratio = math.log(n_arms) / n_arms
    return Exp3PPBwKParams(n_arms, 1.0, log_ratio, SPREAD, False, quiet, bounds)


@kernel
def update(
    params: Exp3PPBwKParams, state: Exp3PPBwKState, scratch: Exp3PPBwKScratch, now: Now, play: Play
) -> None:
    learn(params, state, now.t, play.arms[0], play.probs[0], play.rewards[0], 1.0)
