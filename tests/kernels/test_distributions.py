import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from purse.compiler.jit import bind
from purse.kernels.distributions import (
    _AREA,
    _EDGES,
    _HEIGHTS,
    _LAYERS,
    _SQUEEZE,
    _TAIL,
    gamma,
    gamma_setup,
    normal,
)
from purse.kernels.random import POLICY, SIDE, U, at, bits, stream, uniform
from tests.kernels.test_random import BAND, excess

WORD = 2**64
SURPRISE = 1.95  # the Kolmogorov-Smirnov distance times sqrt(n) is larger once in a thousand


@bind
def fill_normals(key: Any, out: Any, digits: Any) -> None:
    for i in range(out.shape[0]):
        out[i], digits[i], key = normal(key)


@bind
def fill_gammas(key: Any, mould: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        out[i], key = gamma(key, mould)


def key_of(seed: int, t: int = 1) -> U:
    return U(at(U(stream(seed, 0, POLICY)), t))


def normals(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    out, digits = np.zeros(n), np.zeros(n)
    fill_normals(key_of(seed), out, digits)
    return out, digits


def distance(sample: np.ndarray, cumulative: np.ndarray) -> float:
    """Kolmogorov-Smirnov, times sqrt(n)."""
    n = len(sample)
    steps = np.arange(n + 1) / n
    cumulative = np.sort(cumulative)
    return float(max((steps[1:] - cumulative).max(), (cumulative - steps[:-1]).max()) * np.sqrt(n))


class Plain:
    """The two methods written out, on the numbers 0, 1, 2, .. of a key."""

    def __init__(self, key: U) -> None:
        self.key, self.used = key, 0

    def uniform(self) -> float:
        self.used += 1
        return uniform(self.key, self.used - 1)

    def normal(self) -> tuple[float, float]:
        def f(x: float) -> float:
            return math.exp(-x * x / 2)

        while True:
            word = int(bits(self.key, self.used))
            self.used += 1
            layer, digits, point = word % 256, (word >> 8) % 256 / 256, word >> 16
            wide, narrow = _EDGES[layer], _EDGES[layer + 1]
            x = (point - 2**48 if point >= 2**47 else point) / 2**47 * wide
            if abs(x) < narrow:
                return x, digits
            if layer == 0:
                while True:
                    over, other = (
                        -math.log(1 - self.uniform()) / _TAIL,
                        -math.log(1 - self.uniform()),
                    )
                    if 2 * other > over * over:
                        return math.copysign(_TAIL + over, x), digits
            if f(wide) + self.uniform() * (f(narrow) - f(wide)) < f(x):
                return x, digits

    def gamma(self, shape: float) -> float:
        d = shape - 1 / 3
        while True:
            x, u = self.normal()
            s = x / (3 * math.sqrt(d))
            if s <= -0.5 or u < _SQUEEZE * d * s**4:
                u += self.uniform() / 256
            exponent = (
                d * (4.5 * s * s + 1 - (1 + s) ** 3 + 3 * math.log(1 + s)) if s > -1 else -math.inf
            )
            if 1 - u < math.exp(exponent):
                return d * (1 + s) ** 3


def numbers_used(before: U, after: U) -> int:
    return (int(after) - int(before)) * pow(int(SIDE), -1, WORD) % WORD


def test_slabs_have_one_area_and_end_at_the_top() -> None:
    heights = np.append(np.exp(-(_EDGES[1:-1] ** 2) / 2), 1.0)
    assert len(_EDGES) == _LAYERS + 1
    assert _EDGES[1] == _TAIL
    assert (np.diff(_EDGES) < 0).all()
    assert _EDGES[0] * heights[0] == pytest.approx(_AREA, rel=1e-14)
    assert _TAIL * heights[0] + math.sqrt(math.pi / 2) * math.erfc(
        _TAIL / math.sqrt(2)
    ) == pytest.approx(_AREA, rel=1e-14)
    assert _HEIGHTS[1:] == pytest.approx(heights, rel=1e-14)
    assert _EDGES[1:-1] * np.diff(heights) == pytest.approx(_AREA, rel=1e-10)


def test_normals_follow_the_method_number_by_number() -> None:
    key = key_of(4)
    plain, here = Plain(key), key
    for _ in range(5000):
        x, digits, here = normal(U(here))
        wanted = plain.normal()
        assert (x, digits) == (pytest.approx(wanted[0], rel=1e-14), wanted[1])
        assert numbers_used(key, here) == plain.used
    assert plain.used > 5050  # some needed more than one number


@pytest.mark.parametrize("shape", [1.0, 1.25, 3.0, 40.0, 1e6])
def test_gammas_follow_the_method_number_by_number(shape: float) -> None:
    key = key_of(5)
    plain, here = Plain(key), key
    for _ in range(2000):
        x, here = gamma(U(here), np.array(gamma_setup(shape)))
        assert x == pytest.approx(plain.gamma(shape), rel=1e-12)
        assert numbers_used(key, here) == plain.used


def test_normals_are_normal() -> None:
    x, _ = normals(1, 1_000_000)
    assert (
        abs(excess(np.bincount((stats.norm.cdf(x) * 1000).astype(np.int64), minlength=1000))) < BAND
    )
    assert distance(x, stats.norm.cdf(x)) < SURPRISE
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((x**power).mean() - mean) < BAND * math.sqrt(variance / len(x))


def test_the_tail_is_as_heavy_as_it_should_be_and_has_its_shape() -> None:
    x, _ = normals(2, 4_000_000)
    for side in (x, -x):
        far = side[side > _TAIL]
        chance = stats.norm.sf(_TAIL)
        assert abs(len(far) - len(x) * chance) < BAND * math.sqrt(len(x) * chance)
        assert distance(far, 1 - stats.norm.sf(far) / chance) < SURPRISE


def test_the_digits_that_are_left_do_not_depend_on_the_normal() -> None:
    x, digits = normals(3, 1_000_000)
    cells = (stats.norm.cdf(x) * 16).astype(np.int64) * 256 + (digits * 256).astype(np.int64)
    assert set(digits) == {i / 256 for i in range(256)}
    assert abs(excess(np.bincount(cells, minlength=4096))) < BAND


@pytest.mark.parametrize("shape", [1.0, 1.1, 2.0, 5.5, 30.0, 1e3, 1e6])
def test_gammas_are_gammas(shape: float) -> None:
    sample = np.zeros(200_000)
    fill_gammas(key_of(6), np.array(gamma_setup(shape)), sample)
    assert sample.min() > 0
    assert distance(sample, stats.gamma.cdf(sample, shape)) < SURPRISE
    assert abs(sample.mean() - shape) < BAND * math.sqrt(shape / len(sample))
    assert abs(sample.var() / shape - 1) < BAND * math.sqrt((2 + 6 / shape) / len(sample))


def test_the_quick_test_accepts_nothing_that_the_full_one_would_not() -> None:
    s = np.concatenate([np.linspace(-0.5, -1e-2, 2000), np.linspace(1e-2, 20, 20_000)])
    ratio = -(4.5 * s**2 + 1 - (1 + s) ** 3 + 3 * np.log1p(s)) / s**4
    assert (np.diff(ratio) < 0).all()
    assert 16 * (3 * math.log(2) - 2) == pytest.approx(ratio[0])
    assert ratio[0] < _SQUEEZE < ratio[0] + 1e-4
