from bisect import bisect_right
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from purse.kernels.sumtree import find, first_leaf, ones, put, rebuild

STEADY = settings(deadline=None, derandomize=True, max_examples=150)
# their sums are exact in any order
WHOLE = st.lists(st.integers(0, 2**20), min_size=1, max_size=70).filter(any)
REAL = st.lists(st.one_of(st.just(0.0), st.floats(1e-300, 1e12)), min_size=1, max_size=70).filter(
    any
)


def tree_of(weights: list[float]) -> tuple[np.ndarray, int]:
    leaf = first_leaf(len(weights))
    tree = np.zeros(2 * leaf)
    tree[leaf : leaf + len(weights)] = weights
    rebuild(tree, leaf)
    return tree, leaf


def parents_are_exact_sums(tree: np.ndarray, leaf: int) -> bool:
    return all(tree[n] == tree[2 * n] + tree[2 * n + 1] for n in range(1, leaf))


@pytest.mark.parametrize("n_arms", [1, 2, 3, 5, 8, 13, 100])
def test_ones_weigh_every_arm_alike(n_arms: int) -> None:
    tree = ones(n_arms)
    leaf = first_leaf(n_arms)
    assert tree.shape == (2 * leaf,)
    assert tree[leaf:].tolist() == [1.0] * n_arms + [0.0] * (leaf - n_arms)
    assert tree[1] == n_arms
    assert parents_are_exact_sums(tree, leaf)
    assert [find(tree, leaf, x + 0.5) for x in range(n_arms)] == list(range(n_arms))


def walk(tree: np.ndarray, leaf: int, x: float) -> int:
    """Go down level by level, as the tree is meant."""
    n = 1
    while n < leaf:
        n *= 2
        if x >= tree[n]:
            x -= tree[n]
            n += 1
    while n > leaf and tree[n] == 0:
        n -= 1
    return n - leaf


@STEADY
@given(REAL, st.lists(st.floats(0, 1, exclude_max=True), min_size=20, max_size=20))
def test_find_goes_where_a_walk_level_by_level_ends(weights: list[float], us: list[float]) -> None:
    tree, leaf = tree_of(weights)
    assert [find(tree, leaf, u * tree[1]) for u in us] == [
        walk(tree, leaf, u * tree[1]) for u in us
    ]


@STEADY
@given(WHOLE, st.data())
def test_find_agrees_with_cumulative_sums(weights: list[int], data: st.DataObject) -> None:
    tree, leaf = tree_of(weights)
    ends = list(accumulate(weights))
    assert tree[1] == ends[-1]
    edges = [x for end in ends for x in (end - 1, end) if 0 <= x < ends[-1]]
    for x in [0, *edges, data.draw(st.floats(0, ends[-1], exclude_max=True))]:
        assert find(tree, leaf, float(x)) == bisect_right(ends, x)


@STEADY
@given(REAL, st.lists(st.tuples(st.integers(0, 69), st.floats(0, 1e12)), max_size=20))
def test_put_leaves_the_tree_that_a_rebuild_would(
    weights: list[float], changes: list[tuple[int, float]]
) -> None:
    tree, leaf = tree_of(weights)
    for i, weight in changes:
        weights[i % len(weights)] = weight
        put(tree, leaf, i % len(weights), weight)
    assert parents_are_exact_sums(tree, leaf)
    assert tree.tobytes() == tree_of(weights)[0].tobytes()


@STEADY
@given(REAL, st.floats(0, 1, exclude_max=True))
@example([0.0, 0.0, 0.0, 1.9144287109375, 99511627777.0, 1e12], 0.0)  # the sum is rounded up
def test_only_arms_with_weight_are_found(weights: list[float], share: float) -> None:
    tree, leaf = tree_of(weights)
    for x in (0.0, share * tree[1], np.nextafter(tree[1], 0)):
        if x < tree[1]:
            assert tree[leaf + find(tree, leaf, x)] > 0
