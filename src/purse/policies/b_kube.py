r"""B-KUBE: KUBE with a cap on the pulls of each arm, as for workers with a few tasks each.

The rule (after Rangi and Franceschetti, 2018), with known constant costs c(i) and caps L(i): that
of KUBE, whose code it runs, with

    m(i) = min(floor(u / c(i)), L(i) - N(i)),   u <- u - m(i) c(i)     for the arms by falling D_t

with N the arm's pulls so far, and u what is left. Arms with L(i) > 0 are pulled once first, in
order. When no arm that has pulls left can be paid for, the game ends.

Guarantee: the paper states regret O(K log B / min Delta) against the best that the caps allow
(`knapsack.bounded`), for i.i.d. rewards; not checked for the rule as it stands here.

Departures from the paper: the rule is a reconstruction from its name, its setting and its bound.
The initial pulls leave out arms that cannot be paid for or whose cap is 0. Under a mask the initial
pull of a masked arm comes later.

Needs the costs and the caps, not B. O(K) a round and the number of places that arms move in the
order. N counts reports: a live policy with several tickets out can hand out more of them than a cap
allows; with one ticket out at a time, and in simulations, caps hold.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.6, 0.2], costs=[0.5, 0.3, 0.5])
>>> run = purse.simulate("b-kube", world, budget=60, caps=[50, 100, 10**6], n_paths=10, seed=0)
>>> run.pulls.max(axis=0)[:2]
array([ 50, 100])

Reference: A. Rangi, M. Franceschetti. Multi-armed bandit algorithms for crowdsourcing systems with
online estimation of workers' ability. AAMAS 2018.
"""

import numpy as np

from purse.kernels.known_costs import known_costs
from purse.policies import kube
from purse.types import Problem

NAME, PLAYS, RESOURCES, CAPS, SOURCE = "b-kube", 1, 1, True, "from memory"
init, scratch, choose = kube.init, kube.scratch, kube.choose
update, probabilities = kube.update, kube.probabilities


def params(problem: Problem) -> kube.KubeParams:
    priced = known_costs(problem, NAME)
    return kube.KubeParams(priced, np.flatnonzero(priced.caps))
