"""Weights in a sum tree: draw in proportion to them and change one of them, each in O(log K).

`tree[leaf + i]` is arm i's weight, `tree[n] = tree[2n] + tree[2n + 1]`, so `tree[1]` is the sum of
all; `leaf` is the smallest power of two that is at least K. A parent is always recomputed from its
two children: nothing drifts.
"""

import numpy as np

from purse.compiler.kernel import kernel
from purse.kernels.random import U
from purse.types import Floats


def first_leaf(n_arms: int) -> int:
    """Return the index of the first leaf."""
    return 1 << (n_arms - 1).bit_length()


def ones(n_arms: int) -> Floats:
    """Return a tree, shape (2 leaf,), in which every arm weighs one."""
    leaf = first_leaf(n_arms)
    tree = np.zeros(2 * leaf)
    tree[leaf : leaf + n_arms] = 1.0
    while leaf > 1:
        tree[leaf // 2 : leaf] = tree[leaf : 2 * leaf : 2] + tree[leaf + 1 : 2 * leaf : 2]
        leaf //= 2
    return tree


@kernel
def find(tree: Floats, leaf: int, x: float) -> int:
    """Return the leaf (counted from 0) in which x falls, for 0 <= x < the sum, when the weights are
    laid end to end.
    """
    n, last = U(1), U(leaf)
    if last == U(4):  # so few arms: a branch, since one of them soon has nearly all the weight
        half = tree[2]
        n = U(6) + U(x - half >= tree[6]) if x >= half else U(4) + U(x >= tree[4])
    while n + n < last:
        # two levels at once: to look at both halves takes less time than to wait which one it is
        n *= U(4)
        half, first, third = tree[n >> U(1)], tree[n], tree[n + U(2)]
        upper = x >= half
        beyond = x - half
        right = (upper & (beyond >= third)) | ((x < half) & (x >= first))
        x = beyond if upper else x
        x -= (third if upper else first) if right else 0.0
        n += U(2) * U(upper) + U(right)
    if n < last:
        n += n
        n += U(x >= tree[n])
    # if the sum was rounded up, x may fall beyond the last arm that has weight
    while tree[n] == 0 and n > last:
        n -= U(1)
    return int(n) - leaf


@kernel
def put(tree: Floats, leaf: int, i: int, weight: float) -> None:
    """Give arm i a new weight."""
    n = U(leaf + i)
    tree[n] = weight
    while n > U(1):
        weight += tree[n ^ U(1)]
        n >>= U(1)
        tree[n] = weight


@kernel
def rebuild(tree: Floats, leaf: int) -> None:
    """Recompute all sums after the leaves were written."""
    for n in range(leaf - 1, 0, -1):
        tree[n] = tree[2 * n] + tree[2 * n + 1]
