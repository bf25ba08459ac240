r"""MRCB: a cautious m-UCB; truncated confidence bounds of reward over cost, with a radius close to
nothing.

The rule (Xia, Qin, Ma, Yu and Liu, 2016) for one play a round: m-UCB with alpha = sqrt(kappa).

Options: kappa=2e-4, which a published implementation uses.

Guarantee: the paper proves regret sublinear in B for i.i.d. rewards and costs, and O(log B) for
certain kappa. At the default neither shows at a budget that one meets: the policy is all but
greedy, and on some paths it never comes back to the best arm. Measured at B = 10^4 on
`bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]`, means of 100 paths: regret 3,572 with
kappa=2e-4, 37 with kappa=0.0625.

Departures from the paper: the paper pulls the set of L arms with the largest sum of upper bounds
per sum of lower bounds; here L = 1.

Needs nothing. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("mrcb", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: Y. Xia, T. Qin, W. Ma, N. Yu, T.-Y. Liu. Budgeted multi-armed bandits with multiple
plays. IJCAI 2016.
"""

from purse.kernels import number
from purse.policies import m_ucb
from purse.types import Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "mrcb", True, 1, 1
SOURCE = "Xia et al., IJCAI 2016, for one play, as in code of Heyden et al. (OmegaUCB)"
init, scratch, choose = m_ucb.init, m_ucb.scratch, m_ucb.choose
update, probabilities = m_ucb.update, m_ucb.probabilities


def params(problem: Problem, *, kappa: float = 2e-4) -> m_ucb.MUcbParams:
    return m_ucb.MUcbParams(number("kappa", kappa, above=0))
