import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from purse.compiler.jit import bind
from purse.kernels.pair_evidence import evidence, level_of, log_average, log_gamma

SOME = settings(max_examples=100, deadline=None, derandomize=True)
sums = st.tuples(st.floats(0, 1), st.integers(1, 3000)).map(
    lambda drawn: (drawn[0] * drawn[1], drawn[1] - drawn[0] * drawn[1])
)


@SOME
@given(st.floats(0.5, 1e6))
def test_log_gamma_is_that_of_c(z: float) -> None:
    assert log_gamma(z) == pytest.approx(math.lgamma(z), rel=1e-14, abs=2e-12)


def test_an_average_by_hand() -> None:
    """With Beta(1/2, 1/2) a one has probability 1/2, and another after it 3/4."""
    assert log_average(0.0, 0.0) == pytest.approx(0, abs=1e-11)
    assert math.exp(log_average(2.0, 0.0)) == pytest.approx(3 / 8)
    assert math.exp(log_average(2.0, 1.0)) == pytest.approx(3 / 8 / 6)


def of(
    own: tuple[float, float], other: tuple[float, float], ratio: float = 1, shift: float = 0
) -> float:
    return evidence(log_average(*own), *own, log_average(*other), *other, ratio, shift)


@SOME
@given(sums, sums, st.floats(0.1, 10), st.sampled_from([0.0, 0.05, -0.05]))
def test_the_hypothesis_is_taken_where_it_is_likeliest(
    own: tuple[float, float], other: tuple[float, float], ratio: float, shift: float
) -> None:
    """By thirds, until they are all the same; the likelihood has one maximum on the line."""
    assume(shift < ratio)
    assume(own[0] / sum(own) + shift > ratio * other[0] / sum(other))

    def unlikely(m: float) -> float:
        means = ((ratio * m - shift, own), (m, other))
        powers = ((p, n) for mean, (s, f) in means for p, n in ((mean, s), (1 - mean, f)))
        return -sum(n * math.log(max(p, 1e-300)) for p, n in powers if n > 0)

    low = max(other[0] / sum(other), shift / ratio)
    high = min(1.0, (own[0] / sum(own) + shift) / ratio)
    for _ in range(100):
        first, second = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, second) if unlikely(first) < unlikely(second) else (first, high)
    expected = log_average(*own) + log_average(*other) + unlikely((low + high) / 2)
    assert of(own, other, ratio, shift) == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_the_common_mean_is_the_likeliest() -> None:
    own, other = (60.0, 40.0), (30.0, 50.0)
    mean, spread = 0.5, 180 * math.log(0.5)
    assert (own[0] + other[0]) / 180 == mean
    assert of(own, other) == pytest.approx(log_average(*own) + log_average(*other) - spread)


def test_what_cannot_be_and_what_is_so_already() -> None:
    assert of((5.0, 5.0), (6.0, 4.0)) == 0
    assert of((5.0, 5.0), (5.0, 5.0)) == 0
    assert of((1.0, 9.0), (0.0, 10.0), 1.0, 1.0) == math.inf
    # of an arm without a report anything may be true, but for what its range excludes
    assert of((90.0, 10.0), (0.0, 0.0)) < 0
    assert of((90.0, 10.0), (0.0, 0.0), 0.5) > 30
    assert of((0.0, 1e5), (0.0, 1e5), 1.0, 0.1) > 1000  # both are near 0
    assert level_of(0.95, 4) == pytest.approx(math.log(80))


@pytest.mark.parametrize("kind", ["coin", "rare", "spread"])
def test_equal_arms_seldom_ever_beat_each_other(kind: str) -> None:
    """200 pairs of 150 values each, looked at after each; either may win with delta 0.1."""
    rng, shape = np.random.default_rng(9), (200, 150, 2)
    values = rng.beta(0.5, 1.5, shape) if kind == "spread" else rng.random(shape)
    if kind != "spread":
        values = np.where(values < (0.5 if kind == "coin" else 0.03), 1.0, 0.0)
    test, average = bind(evidence), bind(log_average)
    wrong = 0
    for path in values.cumsum(axis=1).tolist():
        for n, pair in enumerate(path, 1):
            (s, f), (s2, f2) = ((max(pair), n - max(pair)), (min(pair), n - min(pair)))
            if test(average(s, f), s, f, average(s2, f2), s2, f2, 1.0, 0.0) >= math.log(10):
                wrong += 1
                break
    assert wrong <= 0.2 * 200 + 2 * math.sqrt(0.2 * 0.8 * 200)
    assert wrong > 0 or kind != "coin"
