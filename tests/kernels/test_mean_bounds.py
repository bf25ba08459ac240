import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.compiler.jit import bind
from purse.kernels.mean_bounds import _upper, log_term_of, lower, lower_between, upper_between
from purse.types import Floats

SOME = settings(max_examples=300, deadline=None, derandomize=True)
means = st.one_of(
    st.floats(0, 1),
    st.floats(-15, 0).map(lambda x: 10**x),
    st.floats(-15, 0).map(lambda x: 1 - 10**x),
)
counts = st.floats(0, 8).map(lambda x: float(int(10**x)))
terms = st.floats(math.log(2), 40)


def divergence(p: float, m: float) -> float:
    found = p * math.log(p / m) if p > 0 else 0.0
    return found + ((1 - p) * math.log((1 - p) / (1 - m)) if p < 1 else 0.0)


def bisected(p: float, n: float, term: float) -> float:
    """The lower bound by halving, until two numbers are neighbours."""
    level = (term + math.log(math.sqrt(n))) / n
    low, high = 0.0, p
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if divergence(p, middle) >= level else (low, middle)
    return high


@SOME
@given(means, counts, terms)
def test_bounds_are_those_that_bisection_finds(p: float, n: float, term: float) -> None:
    assert lower(p, n, term) == pytest.approx(bisected(p, n, term), rel=1e-9, abs=1e-12)
    assert _upper(p, n, term) == pytest.approx(1 - bisected(1 - p, n, term), rel=0, abs=1e-12)


def test_nothing_is_known_before_the_first_report() -> None:
    for mean in (0.0, 0.3, 1.0):
        assert lower(mean, 0.0, 3.0) == 0
        assert _upper(mean, 0.0, 3.0) == 1
        assert lower_between(mean, 0.0, 3.0, 0.1, 0.7) == pytest.approx(0.1)
        assert upper_between(mean, 0.0, 3.0, 0.1, 0.7) == pytest.approx(0.7)
    assert lower(0.0, 50.0, 3.0) == 0
    assert _upper(1.0, 50.0, 3.0) == 1
    assert lower(1e-310, 50.0, 3.0) == 0  # too small for a logarithm


@SOME
@given(means, counts, terms)
def test_bounds_hold_the_mean_between_them(p: float, n: float, term: float) -> None:
    low, high = lower(p, n, term), _upper(p, n, term)
    assert 0 <= low <= p + 1e-12
    assert p - 1e-12 <= high <= 1
    assert lower(p, n, term + 1) <= low + 1e-12
    assert _upper(p, n, term + 1) >= high - 1e-12
    if p > 1e-12:
        assert low > 0


def test_bounds_in_another_range() -> None:
    """Values in [2, 6] of mean 3 are values in [0, 1] of mean 1/4; a constant is known."""
    low, high = lower(0.25, 30.0, 4.0), _upper(0.25, 30.0, 4.0)
    assert lower_between(3.0, 30.0, 4.0, 2.0, 6.0) == pytest.approx(2 + 4 * low, rel=1e-14)
    assert upper_between(3.0, 30.0, 4.0, 2.0, 6.0) == pytest.approx(2 + 4 * high, rel=1e-14)
    assert lower_between(0.4, 0.0, 4.0, 0.4, 0.4) == 0.4
    assert upper_between(0.4, 0.0, 4.0, 0.4, 0.4) == 0.4
    # what was reported outside is taken as the end of the range
    assert lower_between(7.0, 30.0, 4.0, 2.0, 6.0) == pytest.approx(2 + 4 * lower(1.0, 30.0, 4.0))


def test_the_confidence_is_shared_by_all_intervals() -> None:
    assert log_term_of(0.95, 1) == pytest.approx(math.log(40))
    assert log_term_of(0.9, 6) == pytest.approx(math.log(2 * 6 / 0.1))


def test_the_average_of_the_factors_is_as_large_as_the_bounds_need() -> None:
    """exp(n kl(p, m)) is at most 2 sqrt(n) times the average over q, for sums of any size.

    The average is B(s + 1/2, n - s + 1/2) / (pi m^s (1 - m)^(n - s)), so m falls out.
    """
    for n in (1, 2, 3, 7, 50, 1000, 100_000):
        for s in np.linspace(0, n, 2001):
            p = s / n
            most = sum(x * n * math.log(x) for x in (p, 1 - p) if x > 0)
            average = math.lgamma(s + 0.5) + math.lgamma(n - s + 0.5) - math.lgamma(n + 1)
            lost = most - average + math.log(math.pi)
            assert lost <= math.log(2 * math.sqrt(n)) + 1e-9


@pytest.mark.parametrize("kind", ["coin", "rare", "spread"])
def test_the_mean_seldom_ever_lies_outside(kind: str) -> None:
    """300 series of 300 values, looked at after each; delta is 0.2."""
    rng, shape = np.random.default_rng(5), (300, 300)
    mean = {"coin": 0.5, "rare": 0.03, "spread": 0.25}[kind]
    values: Floats = np.where(rng.random(shape) < mean, 1.0, 0.0)
    if kind == "spread":
        values = rng.beta(0.5, 1.5, shape)
    so_far = np.minimum(1, np.cumsum(values, axis=1) / np.arange(1, 301))
    term = log_term_of(0.8, 1)
    low, high = bind(lower), bind(_upper)  # 180,000 times
    wrong = sum(
        any(
            not low(p, float(n), term) <= mean <= high(p, float(n), term)
            for n, p in enumerate(series, 1)
        )
        for series in so_far.tolist()
    )
    assert wrong <= 0.2 * 300
    assert wrong > 0 or kind != "coin"  # the bounds are no wider than they must be
