r"""LinTS.Price: `lin-ucb.price` with sampled rewards and costs instead of bounds.

The rule (ours). In the place of the upper bound on the reward of an arm with a report stands

    r^ + g width          g standard normal, drawn for each arm and each number

and likewise for its costs. All else is as in `lin-ucb.price`. Two rounds at the same time are not
sure to try the same arm, which helps if many tickets are open.

Options: scale=0.125 (of the optimism: half the width of `lin-ucb.price`), eta=0.2, ridge=1,
guard=0.05, and a prior as `lin-ucb.price` has it.

Guarantee: none is proved for budgets.

Departures from the paper: there is no paper. Linear Thompson sampling is from Agrawal and Goyal
(2013).

The probability of an arm is not known: a ticket has that of the draw given the samples, 1.

Needs what `lin-ucb.price` needs. O(K n^2) a round, n numbers of a context with the constant.

>>> import purse
>>> world = purse.worlds.linear_contexts(horizon=2000, seed=1)
>>> budget = 0.2 * 2000 * world.cost_means.max()
>>> run = purse.simulate("lin-ts.price", world, budget, n_paths=4)
>>> bool(run.gain.mean() > 1.1 * purse.lab.theory.contexts.lp_without_contexts(world, budget))
True
"""

from functools import partial

from purse.kernels import linear
from purse.policies import lin_ucb_price

NAME, PLAYS, CONTEXT, PENDING, VERSION = "lin-ts.price", 1, True, True, 2
PERIOD = ("paid",)  # what the guard counts begins again with a period's money
init, scratch, update = linear.new_linear, linear.linear_scratch, linear.learn_linear
choose, _ = linear.linear_rule(sampled=True)
params = partial(lin_ucb_price.params, scale=0.125)
