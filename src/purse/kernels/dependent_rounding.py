r"""Dependent rounding: a number of arms, each with a given probability, from one pass and without
working memory.

Given probabilities p(1), .., p(n) in [0, 1] that sum to a whole number m, a set of exactly m arms
is drawn that holds arm i with probability p(i). Two arms at a time settle their mass between them:
with s = p(i) + p(j),

    s < 1     one of them leaves for good, the other takes s:           i takes it with probability
              p(i) / s
    s >= 1    one of them is in for good, the other keeps s - 1:        i is in with probability (1
              - p(j)) / (2 - s)

Neither changes the expected mass of an arm, and at least one of the two is settled. The arms settle
in order: the one that is still open against the next. The indicators are negatively correlated.

Reference: R. Gandhi, S. Khuller, S. Parthasarathy, A. Srinivasan. Dependent rounding and its
applications to approximation algorithms. Journal of the ACM 53(3), 2006.
"""

from purse.compiler.kernel import kernel
from purse.kernels.random import U, uniform
from purse.types import Floats, Ints


@kernel
def dependent_round(key: U, marginals: Floats, arms: Ints) -> None:
    """Write as many distinct arms as `arms` holds, which is what `marginals` must sum to; uses
    numbers 1 to n - 1 of the key.

    The sum may be off by what rounding brings. An arm of marginal 1 always comes, one of marginal 0
    never does.
    """
    count = 0
    still = 0  # the arm that is open, and its mass
    mass = marginals[0]
    for j in range(1, marginals.shape[0]):
        p = marginals[j]
        both = mass + p
        u = uniform(key, j)
        if both < 1:
            if u * both >= mass:
                still = j
            mass = both
        else:
            in_now = j
            if u * (2 - both) < 1 - p:
                in_now = still
                still = j
            if count < arms.shape[0]:  # always, unless the sum is wrong
                arms[count] = in_now
            count += 1
            mass = both - 1
    if count < arms.shape[0]:
        arms[count] = still
