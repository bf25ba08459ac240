r"""Bounded epsilon-first: epsilon-first where each arm may be pulled only so often.

The rule (after Tran-Thanh, Stein, Rogers and Jennings, 2014), with constant costs c(i) and caps
L(i) that are known: that of epsilon-first, whose code it runs, on the arms with pulls left; C =
sum_i c(i) over the arms with L(i) > 0.

So the exploitation is the greedy bounded knapsack: the best arm until its cap or the budget ends
it, then the next. When there is no arm left the game ends.

Options: epsilon="theory" or a number in [0, 1]; learn="first" (exploration only) or "always" (r
goes on learning).

Guarantee: the paper states regret O(B^(2/3)) against the best that the caps allow
(`knapsack.bounded`), for i.i.d. rewards and a tuned epsilon; not checked for "theory", which is the
choice of epsilon-first and knows nothing of caps.

Departures from the paper: only its outline is at hand (explore uniformly with epsilon B, then fill
a bounded knapsack greedily by the estimates), so how exploration passes over arms whose caps are
reached, and the default of epsilon, are ours.

Needs the costs, the caps and B. O(K) a round. Pulls are counted as they are reported: a live policy
with several tickets out can hand out more of them than a cap allows; with one ticket out at a time,
and in simulations, caps hold.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])
>>> policy = "bounded-epsilon-first:epsilon=0.1"
>>> run = purse.simulate(policy, world, budget=1100, caps=[10**6, 2000], n_paths=2, seed=0)
>>> run.pulls
array([[ 625, 2000],
       [ 625, 2000]])

Reference: L. Tran-Thanh, S. Stein, A. Rogers, N. R. Jennings. Efficient crowdsourcing of unknown
experts using bounded multi-armed bandits. Artificial Intelligence 214, 2014.
"""

from purse.policies import epsilon_first
from purse.types import Problem

NAME, PLAYS, RESOURCES, CAPS = "bounded-epsilon-first", 1, 1, True
SOURCE = "Tran-Thanh et al., Artificial Intelligence 214, 2014, its abstract alone"
init, scratch, choose = epsilon_first.init, epsilon_first.scratch, epsilon_first.choose
update, probabilities = epsilon_first.update, epsilon_first.probabilities


def params(
    problem: Problem, *, epsilon: float | str = "theory", learn: str = "first"
) -> epsilon_first.EpsilonFirstParams:
    return epsilon_first.params_for(NAME, problem, epsilon, learn)
