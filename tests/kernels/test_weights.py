from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.kernels.weights import (
    Mixture,
    _mixed_arm,
    _mixed_probability,
    largest,
    pick,
    smallest,
    total,
)

STEADY = settings(deadline=None, derandomize=True, max_examples=200)
UNIT = st.floats(0, 1, exclude_max=True)
VALUES = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=40)
WEIGHTS = st.lists(st.floats(0, 1e6), min_size=1, max_size=40).filter(
    lambda weights: sum(weights) > 0
)


def plain_pick(x: float, weights: list[float]) -> int:
    return next((i for i, end in enumerate(accumulate(weights)) if end > x), len(weights) - 1)


def plain_mixed_arm(
    u: float, cap: float, explore: float, equal: bool, rates: list[float], weights: list[float]
) -> int:
    if u >= explore:
        return plain_pick((u - explore) * (1 / (1 - explore)) * sum(weights), weights)
    return min(int(u / cap), len(weights) - 1) if equal else plain_pick(u, rates)


@STEADY
@given(WEIGHTS, UNIT)
def test_pick_agrees_with_cumulative_sums(weights: list[float], u: float) -> None:
    for x in (u * sum(weights), *list(accumulate(weights))[:5]):
        assert pick(x, np.array(weights)) == plain_pick(x, weights)


@STEADY
@given(VALUES)
def test_largest_smallest_and_total(values: list[float]) -> None:
    array = np.array(values)
    assert largest(array) == max(values)
    assert smallest(array) == min(values)
    from_left = 0.0
    for value in values:
        from_left += value
    assert total(array) == from_left


@STEADY
@given(WEIGHTS, UNIT, st.just(0.0) | st.floats(1e-12, 1), st.booleans())
def test_mixed_arm_explores_below_the_threshold_and_exploits_above(
    weights: list[float], u: float, explore: float, equal: bool
) -> None:
    n = len(weights)
    shares = [(i + 1) * 2 / (n * (n + 1)) for i in range(n)]
    cap = explore / n if equal else 1.0
    rates = [explore * share for share in shares]
    # a float of NumPy, as live policies have it: 1 - explore may be 0
    mixture = Mixture(cap, np.float64(explore), equal, float(sum(weights)))
    got = _mixed_arm(u, mixture, np.array(rates), np.array(weights))
    assert got == plain_mixed_arm(u, cap, explore, equal, rates, weights)


@pytest.mark.parametrize("equal", [True, False])
def test_mixed_arm_comes_with_its_probability(equal: bool) -> None:
    weights, mixture, n = np.array([1.0, 0.0, 3.0]), Mixture(0.1, 0.3, equal, 4.0), 2000
    rates = np.array([0.1, 0.1, 0.1]) if equal else np.array([0.05, 0.2, 0.05])
    drawn = [_mixed_arm((i + 0.5) / n, mixture, rates, weights) for i in range(n)]
    chances = [_mixed_probability(i, mixture, rates, weights) for i in range(3)]
    assert np.bincount(drawn, minlength=3) / n == pytest.approx(chances, abs=3 / n)
    assert chances == pytest.approx(rates + 0.7 * weights / 4)
