r"""LinUCB.Price: linear bounds on each arm's reward and costs in the context, and one price for
money.

The rule (ours). `purse.kernels.linear` has the upper bound u(i) on the reward of arm i in the
context of the round, and the lower bounds l_j(i) on its costs. `purse.kernels.pace_price` has the
prices lambda_j, in rounds of pace, from what is overspent so far.

    play   the arm with the largest u(i) - sum_j lambda_j l_j(i) T / b_j
    skip   the round if that is below 0 and there is a horizon
    guard  the cheapest arm in its place, if the gain could fall to less than 95% of what that
           arm alone brings (`purse.kernels.guard`)

Without a horizon no round passes, and the price is what was earned per cost so far.

Options: scale=0.5 (of the optimism), eta=0.2 (of the price), ridge=1, guard=0.05 (0: none);
prior='prior.npz' (what a log has taught, see `purse.lab.prior_from_log`), prior_most (reports of an
arm that it counts at most), prior_hash (the SHA-256 that the file must have).

Guarantee: none is proved.

Departures from the paper: there is no paper. Linear bounds are LinUCB's (Li et al., 2010; Abbasi-
Yadkori et al., 2011), the price is dual averaging (Xiao, 2010) with AdaGrad's scale (Duchi et al.,
2011), as in primal-dual contextual bandits with knapsacks (Agrawal and Devanur, 2016).

Only arms whose largest cost is left are played, if there are any. Open tickets count as reports in
the optimism.

Needs the budgets; a horizon, declared features and bounds on each arm's own costs if they are
known. O(K n^2) a round, n numbers of a context with the constant.

>>> import purse
>>> world = purse.worlds.linear_contexts(horizon=2000, seed=1)
>>> budget = 0.2 * 2000 * world.cost_means.max()
>>> run = purse.simulate("lin-ucb.price", world, budget, n_paths=4)
>>> bool(run.gain.mean() > 1.1 * purse.lab.theory.contexts.lp_without_contexts(world, budget))
True
"""

from purse.kernels import linear
from purse.types import Problem

NAME, PLAYS, CONTEXT, PENDING, VERSION = "lin-ucb.price", 1, True, True, 2
PERIOD = ("paid",)  # what the guard counts begins again with a period's money
init, scratch, update = linear.new_linear, linear.linear_scratch, linear.learn_linear
choose, probabilities = linear.linear_rule()


def params(
    problem: Problem,
    *,
    scale: float = 0.5,
    eta: float = 0.2,
    ridge: float = 1.0,
    guard: float = 0.05,
    prior: str | None = None,
    prior_hash: str | None = None,
    prior_most: float | None = None,
) -> linear.LinearParams:
    return linear.linear_params(problem, scale, eta, ridge, guard, prior, prior_hash, prior_most)
