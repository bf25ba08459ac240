from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from purse.base import validation
from purse.errors import InvalidInput, shown

NAN, INF = float("nan"), float("inf")


def refusal(function: Any, *args: Any, **limits: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        function(*args, **limits)
    return str(caught.value)


@pytest.mark.parametrize("value", [0.25, 3, -1e300, np.float32(0.5), np.int64(7), Fraction(1, 2)])
def test_number_returns_a_float(value: Any) -> None:
    got = validation.number("beta", value)
    assert got == value
    assert type(got) is float


@pytest.mark.parametrize(
    "value",
    [True, np.True_, "1", None, [1.0], 1j, Decimal(1), np.array([1.0]), NAN, INF, -INF, 10**400],
    ids=lambda value: repr(value)[:20],
)
def test_number_refuses_what_is_no_finite_number(value: Any) -> None:
    said = refusal(validation.number, "beta", value)
    assert said == f"beta={shown(value)}: must be a finite number"


@pytest.mark.parametrize(
    ("limits", "good", "bad", "allowed"),
    [
        ({"above": 0}, [1e-300, 5], [0, -1, NAN], "must be a number above 0"),
        ({"low": 0}, [0, 5], [-1e-300], "must be a number at least 0"),
        ({"high": 1}, [1, -5], [1.0000001], "must be a number at most 1"),
        (
            {"low": 0, "high": 1},
            [0, 0.5, 1],
            [-0.1, 1.1, "0.5"],
            "must be a number at least 0 and at most 1",
        ),
        (
            {"above": 0, "high": 2.5},
            [0.1, 2.5],
            [0, 2.6],
            "must be a number above 0 and at most 2.5",
        ),
    ],
)
def test_number_holds_its_limits_and_says_them(
    limits: dict[str, float], good: list[float], bad: list[Any], allowed: str
) -> None:
    assert [validation.number("beta", value, **limits) for value in good] == good
    for value in bad:
        assert refusal(validation.number, "beta", value, **limits) == f"beta={value!r}: {allowed}"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (0.5, [0.5]),
        (1, [1.0]),
        ([0.5, 1], [0.5, 1.0]),
        ((), []),
        (np.array([[1, 2], [3, 4]]), [1.0, 2.0, 3.0, 4.0]),
        (np.float32(0.5), [0.5]),
    ],
)
def test_numbers_returns_a_list_of_floats(values: Any, expected: list[float]) -> None:
    got = validation.numbers("reward", values)
    assert got == expected
    assert all(type(value) is float for value in got)


@pytest.mark.parametrize(
    "values",
    [
        *("0.5", True, None, object(), [0.5, None], [[1], [1, 2]], NAN, [0.5, INF], 10**400),
        *(["0.5"], [True], [0.5, True], np.True_, np.array(["0.5"])),
    ],
    ids=lambda values: repr(values)[:20],
)
def test_numbers_refuses_what_is_no_finite_number(values: Any) -> None:
    said = refusal(validation.numbers, "reward", values)
    assert said == f"reward={shown(values)}: must be a number, or one for each play"


@pytest.mark.parametrize("value", [3, 3.0, 1e3, np.int8(3), np.float64(4.0), 2**70])
def test_integer_returns_an_int(value: Any) -> None:
    got = validation.integer("n_arms", value, low=1)
    assert got == value
    assert type(got) is int


@pytest.mark.parametrize(
    "value", [0, -1, 2.5, NAN, INF, True, np.True_, "3", None, [3], Decimal(3)]
)
def test_integer_refuses_everything_else(value: Any) -> None:
    assert (
        refusal(validation.integer, "n_arms", value, low=1)
        == f"n_arms={value!r}: must be a whole number from 1 up"
    )


@pytest.mark.parametrize("value", [1, 6, 2.5, "3"])
def test_integer_says_both_limits(value: Any) -> None:
    assert [validation.integer("plays", good, low=2, high=5) for good in (2, 5)] == [2, 5]
    assert (
        refusal(validation.integer, "plays", value, low=2, high=5)
        == f"plays={value!r}: must be a whole number from 2 to 5"
    )


@pytest.mark.parametrize("value", ["Hold", "", None, 1, ["hold"]])
def test_choice_names_the_words(value: Any) -> None:
    assert validation.choice("stop", "hold", ("exit", "hold")) == "hold"
    said = refusal(validation.choice, "stop", value, ("exit", "hold"))
    assert said == f"stop={value!r}: must be one of 'exit', 'hold'"
