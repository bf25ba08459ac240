r"""Oracle: the arm with the best true mean efficiency in every round; the yardstick for knowing
everything on average.

The arms are ranked by E[reward] / E[cost], which only a simulated world can tell; of several
resources the one counts that a pull takes the largest part of its budget of. With m plays a round,
the m best; under a mask, the best of the allowed arms. A world whose means change over time has no
such arm, and a live problem does not know it: both are refused.

Guarantee: earns at least B e* - 1 and at most e* (B + 1) in expectation, with e* the best
efficiency and costs at most 1. Departures from the paper: not in the paper. Needs the truth. O(m) a
round; the kernels are those of `fixed`.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])
>>> purse.simulate("oracle", world, budget=30, n_paths=1).pulls
array([[  0, 100]])
"""

import numpy as np

from purse.errors import InvalidInput
from purse.policies import fixed
from purse.types import Problem

NAME = "oracle"
init, choose = fixed.init, fixed.choose
update, probabilities = fixed.update, fixed.probabilities


def params(problem: Problem) -> fixed.FixedParams:
    if problem.reward_means is None or problem.cost_means is None:
        raise InvalidInput(
            "oracle needs the true mean efficiency of each arm, which only a simulated "
            "world whose means do not change can tell"
        )
    spending = (problem.cost_means / problem.budget).max(axis=1)
    ranking = np.argsort(-problem.reward_means / spending, kind="stable")
    return fixed.FixedParams(ranking, problem.plays)
