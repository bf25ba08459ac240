"""Weights in a sum tree: draw in proportion to them and change one of them, each in O(log K).

`tree[leaf + i]` is arm i's weight, `tree[n] = tree[2n] + tree[2n + 1]`, so `tree[1]` is the sum of
all; `leaf` is the smallest power of two that is at least K. A parent is always recomputed from its
two children: nothing drifts.
"""

from __future__ import annotations

import numpy as np

from purse.compiler.jit import kernel
from purse.types import Floats


def first_leaf(n_arms: int) -> int:
    """Where the leaves begin."""
    return 1 << (n_arms - 1).bit_length()


def ones(n_arms: int) -> Floats:
    """(2 leaf,) Return a tree in which every arm weighs one."""
    leaf = first_leaf(n_arms)
    tree = np.zeros(2 * leaf)
    tree[leaf : leaf + n_arms] = 1.0
    while leaf > 1:
        tree[leaf // 2 : leaf] = tree[leaf : 2 * leaf : 2] + tree[leaf + 1 : 2 * leaf : 2]
        leaf //= 2
    return tree


@kernel
def find(tree: Floats, leaf: int, x: float) -> int:
    """The leaf (counted from 0) in which x falls, for 0 <= x < the sum, when the weights are laid
    end to end.
    """
    n = 1
    while n < leaf:
        n += n
        weight = tree[n]
        right = x >= weight
        x -= weight if right else 0.0
        n += right
    # where the sum was rounded up, x may fall beyond the last arm that has weight
    while tree[n] == 0 and n > leaf:
        n -= 1
    return n - leaf


@kernel
def put(tree: Floats, leaf: int, i: int, weight: float) -> None:
    """Give arm i a new weight."""
    n = leaf + i
    tree[n] = weight
    while n > 1:
        weight += tree[n ^ 1]
        n >>= 1
        tree[n] = weight


@kernel
def rebuild(tree: Floats, leaf: int) -> None:
    """Recompute all sums after the leaves were written."""
    for n in range(leaf - 1, 0, -1):
        tree[n] = tree[2 * n] + tree[2 * n + 1]
