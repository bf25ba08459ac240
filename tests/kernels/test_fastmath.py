import math
from decimal import Decimal, localcontext
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from purse.compiler.jit import bind
from purse.kernels.fastmath import _EDGE, _LOWEST, exp, fma, log, series_log, times_exp


@bind
def fill_exp(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = exp(x[i])


@bind
def fill_times_exp(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = times_exp(3.0, x[i])


@bind
def fill_log(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = log(x[i])


@bind
def one_fma(a: Any, b: Any, c: Any) -> float:
    return fma(a, b, c)


def filled(fill: Any, x: np.ndarray) -> np.ndarray:
    out = np.zeros(len(x))
    fill(x, out)
    return out


def exact_exp(x: np.ndarray) -> list[Decimal]:
    with localcontext() as context:
        context.prec = 40
        return [Decimal(float(value)).exp() for value in x]


def points() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    # where the table's next entry begins
    middles = (random.integers(-130_000, 130_000, 4_000) + 0.5) * (math.log(2) / 128)
    return {
        "everywhere": random.uniform(-708, 709, 8_000),
        "near_zero": np.concatenate(
            [
                random.normal(0, 1, 3_000),
                random.normal(0, 1e-3, 1_000),
                10.0 ** -np.arange(1, 320),
                -(10.0 ** -np.arange(1, 320)),
            ]
        ),
        "between_table_entries": np.concatenate(
            [middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf)]
        ),
        "ends": np.concatenate(
            [
                [-708.0, np.nextafter(-708, 0), 0.0, -0.0, np.nextafter(709, 0)],
                np.arange(-708.0, 709.0),
            ]
        ),
    }


@pytest.mark.parametrize("where", points())
def test_exp_is_within_one_unit_in_the_last_place(where: str) -> None:
    x = points()[where]
    for got, exact in zip(filled(fill_exp, x).tolist(), exact_exp(x), strict=True):
        assert abs(Decimal(got) - exact) < Decimal(math.ulp(float(exact)))


def test_exp_of_zero_is_one_and_log_of_one_is_zero() -> None:
    assert exp(0.0) == exp(-0.0) == 1.0
    assert log(1.0) == log(1) == 0.0


@pytest.mark.parametrize("x", [-708.0, -708.0000001, -709.0, -745.0, -1e6, -1e308, -math.inf])
def test_exp_stays_at_its_lowest_value_below_708(x: float) -> None:
    assert exp(x) == exp(_LOWEST)
    assert exp(x) == pytest.approx(math.exp(-708), rel=1e-15)


def test_times_exp_errs_by_the_next_term_of_its_series() -> None:
    x = np.concatenate([np.linspace(-0.5, 0.5, 4_001), np.geomspace(1e-12, 0.5, 500)])
    for value, got, exact in zip(
        x.tolist(), filled(fill_times_exp, x).tolist(), exact_exp(x), strict=True
    ):
        next_term = abs(value) ** 7 / 5040 / (1 - abs(value) / 8)
        assert abs(Decimal(got) / 3 - exact) <= Decimal(next_term) + Decimal(math.ulp(float(exact)))


def log_points() -> dict[str, np.ndarray]:
    random = np.random.default_rng(4)
    # where the table's next entry begins
    edges = (_EDGE + (np.arange(129) << np.int64(45))).view(np.float64)
    small = 10.0 ** -np.arange(1, 17)
    near_one = [
        1 + random.normal(0, 1e-2, 3_000),
        1 + random.normal(0, 1e-6, 1_000),
        1 + small,
        1 - small,
        [np.nextafter(1, 0), np.nextafter(1, 2)],
    ]
    return {
        "everywhere": np.concatenate(
            [np.exp(random.uniform(-708, 709, 6_000)), 2.0 ** np.arange(-1022, 1024)]
        ),
        "mantissas": random.uniform(0.5, 2, 6_000),
        "near_one": np.concatenate(near_one),
        "between_table_entries": np.concatenate(
            [
                edges,
                np.nextafter(edges, 2),
                np.nextafter(edges, 0),
                4 * edges,
                np.nextafter(edges, 0) / 8,
            ]
        ),
        "integers": np.concatenate(
            [np.arange(2.0, 5_000.0), np.arange(5_000.0, 1e6, 199.0), [1e6]]
        ),
        "ends": np.array(
            [
                np.finfo(float).tiny,
                np.nextafter(np.finfo(float).tiny, 1),
                np.finfo(float).max,
                np.nextafter(np.finfo(float).max, 0),
            ]
        ),
    }


@pytest.mark.parametrize("where", log_points())
def test_log_is_within_one_unit_in_the_last_place(where: str) -> None:
    x = log_points()[where]
    with localcontext() as context:
        context.prec = 40
        for got, value in zip(filled(fill_log, x).tolist(), x.tolist(), strict=True):
            exact = Decimal(value).ln()
            assert abs(Decimal(got) - exact) < Decimal(math.ulp(float(exact)))


def test_log_never_falls() -> None:
    x = np.sort(np.concatenate(list(log_points().values())))
    assert (np.diff(filled(fill_log, x)) >= 0).all()
    assert (np.diff(filled(fill_log, np.arange(1.0, 1e6))) > 0).all()


def as_written(kernel: Any) -> Any:
    """The function in plain Python, with fused multiply-adds in exact arithmetic: what any machine
    should give.
    """

    def exact_fma(a: float, b: float, c: float) -> np.float64:
        return np.float64(float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))))

    return FunctionType(kernel.py_func.__code__, {**kernel.py_func.__globals__, "fma": exact_fma})


@pytest.mark.parametrize(
    ("kernel", "fill", "sign"), [(exp, fill_exp, -1), (log, fill_log, 1)], ids=["exp", "log"]
)
def test_products_are_fused_where_it_is_written_and_nowhere_else(
    kernel: Any, fill: Any, sign: int
) -> None:
    x = sign * np.arange(1.0, 2_001.0) / 7
    with np.errstate(over="ignore"):
        for one in (kernel, as_written(kernel)):
            assert filled(fill, x).tobytes() == np.array([one(value) for value in x]).tobytes()


def test_fma_rounds_once() -> None:
    random = np.random.default_rng(3)
    for a, b, sign in zip(
        random.normal(size=2_000), random.normal(size=2_000), random.normal(size=2_000), strict=True
    ):
        for c in (-float(a * b), float(sign)):
            assert one_fma(a, b, c) == float(Fraction(float(a)) * Fraction(float(b)) + Fraction(c))


@pytest.mark.parametrize("x", [1e-300, 0.1, 0.705, 0.9999, 1.0, 1 + 1e-9, 1.4099, 2.0, 1e6, 1e300])
def test_a_series_for_the_logarithm(x: float) -> None:
    assert series_log(x) == pytest.approx(math.log(x), rel=1e-14, abs=1e-15)
