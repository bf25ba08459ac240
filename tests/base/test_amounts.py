from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.base.amounts import LARGEST, UNIT, text, to_units, unit_array
from purse.errors import InvalidInput

STEADY = settings(deadline=None, derandomize=True)
UNITS = st.integers(-LARGEST, LARGEST)
WITHIN_FLOATS = st.integers(-(2**50), 2**50)  # where nine decimals survive in a float
ALLOWED = "must be a number with at most nine decimals, up to 4,611,686,018"


@pytest.mark.parametrize(
    ("value", "units"),
    [
        (0.1, 100_000_000),
        (3, 3 * UNIT),
        (-2, -2 * UNIT),
        (0, 0),
        ("25.00", 25 * UNIT),
        ("0.000000001", 1),
        ("-0.000000001", -1),
        ("1e-9", 1),
        ("1E3", 1000 * UNIT),
        ("0.1000000000000", 100_000_000),
        (Decimal("0.3"), 300_000_000),
        (Fraction(1, 4), 250_000_000),
        (np.float64(0.1), 100_000_000),
        (np.float32(0.5), 500_000_000),
        (np.int32(4), 4 * UNIT),
        (np.uint8(200), 200 * UNIT),
        (np.array(0.25), 250_000_000),
    ],
)
def test_amounts_of_all_kinds(value: Any, units: int) -> None:
    got = to_units("cost", value)
    assert got == units
    assert type(got) is int


@pytest.mark.parametrize(
    ("value", "units"),
    [
        (1.4, 1),
        (1.6, 2),
        (0.4, 0),
        (-1.6, -2),
        (0.5, 0),
        (1.5, 2),
        (2.5, 2),
        (1e9 / 3, 333_333_333),
    ],
)
def test_floats_go_to_the_nearest_unit_and_ties_to_the_even_one(value: float, units: int) -> None:
    assert to_units("cost", value / 1e9) == units


NAN, INF = float("nan"), float("inf")
REFUSED: dict[str, list[Any]] = {
    "floats": [NAN, INF, -INF, np.float64("nan"), np.float32("inf"), 1e300, 1.7e308],
    "truth values": [True, False, np.True_, np.False_],
    "words": ["", "abc", "1,5", "0x10", "nan", "sNaN", "inf", "-Infinity"],
    "other spellings": ["1_0", " 1", "1\n", "٣", "1٣", "1e٣", "+", "."],
    "bytes": [b"1", bytearray(b"1"), memoryview(b"1")],
    "next to nothing below 0": [-1e-300, -4e-10, np.float32(-1e-30)],
    "things": [None, object(), [1], 1j, {}],
    "ten decimals": ["0.0000000001", "1.1234567891", "-0.1234567899", "1e-10"],
    "more decimals": [f"0.1{'0' * 29}1", f"1.{'0' * 28}1", "1e-2000000"],
    "long decimals": [Decimal("0.12345678901"), Decimal(f"0.{'3' * 9}{'0' * 30}3")],
    "large numbers": [4_611_686_019, -4_611_686_019, 4.7e9, Decimal(5_000_000_000), 10**30],
    "large texts": ["4611686018.5", "1e50000", "1e999999", "1e99999999999999999999"],
}


def more_than_nothing(value: float) -> bool:
    """Whether a number is not one below 0 that would be rounded to 0."""
    return not -1e-9 < value < 0


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_amount_is_refused(kind: str) -> None:
    for value in REFUSED[kind]:
        with pytest.raises(InvalidInput, match=ALLOWED):
            to_units("cost", value)


@pytest.mark.parametrize(
    "values",
    [
        *([0.5, value] for value in REFUSED["floats"]),
        np.array([0.5, -1e-300]),
        ["1_0", "2"],
        [True],
        [True, 2],
        [True, 0.5],
        np.ones(2, bool),
    ],
)
def test_what_is_no_amount_is_refused_in_arrays(values: Any) -> None:
    with pytest.raises(InvalidInput, match=ALLOWED):
        unit_array("cost", values)


def test_largest_amount_is_allowed() -> None:
    assert to_units("cost", text(LARGEST)) == LARGEST
    assert to_units("cost", text(-LARGEST)) == -LARGEST
    with pytest.raises(InvalidInput):
        to_units("cost", text(LARGEST + 1))


@STEADY
@given(UNITS)
def test_text_and_decimals_round_trip(units: int) -> None:
    written = text(units)
    assert written == text(np.int64(units))
    assert to_units("cost", written) == units
    assert to_units("cost", Decimal(written)) == units
    assert Fraction(written) == Fraction(units, UNIT)
    assert "e" not in written.lower()
    assert "." not in written or not written.endswith(("0", "."))


@STEADY
@given(st.integers(-(LARGEST // UNIT), LARGEST // UNIT))
def test_whole_amounts_are_exact_as_int_and_as_float(whole: int) -> None:
    assert to_units("cost", whole) == to_units("cost", float(whole)) == whole * UNIT


@STEADY
@given(WITHIN_FLOATS)
def test_floats_with_nine_decimals_are_exact_up_to_a_million(units: int) -> None:
    assert to_units("cost", units / UNIT) == units


@STEADY
@given(st.floats(-1e6, 1e6).filter(more_than_nothing))
def test_a_float_is_moved_by_half_a_unit(value: float) -> None:
    # the product itself errs by 1/16
    assert abs(Fraction(to_units("cost", value)) - Fraction(value) * UNIT) <= Fraction(9, 16)


@STEADY
@given(
    st.lists(UNITS, min_size=1, max_size=20),
    st.lists(st.floats(-4.6e9, 4.6e9).filter(more_than_nothing), max_size=20),
)
def test_unit_array_equals_to_units_of_each(units: list[int], floats: list[float]) -> None:
    for values in (
        floats,
        np.array(floats, np.float32),
        [text(u) for u in units],
        [Decimal(text(u)) for u in units],
        [u // UNIT // 2 for u in units],
        np.array([u // UNIT // 2 for u in units]),
    ):
        assert unit_array("cost", values).tolist() == [to_units("cost", value) for value in values]


@pytest.mark.parametrize(
    "values",
    [[1, "0.5"], [Decimal("0.1"), 0.25, "3"], [0.1, 2], [0.1, "0.2"], [1 / 3, "0.5"], [1e-10, "1"]],
    ids=str,
)
def test_unit_array_of_mixed_kinds_equals_to_units_of_each(values: list[Any]) -> None:
    assert unit_array("cost", values).tolist() == [to_units("cost", value) for value in values]


@pytest.mark.parametrize(
    "values",
    [0.5, "0.5", [0.5], [[1, 2, 3]], [["1"], ["2"]], np.zeros((2, 3, 4)), np.zeros((0, 3)), []],
)
def test_unit_array_keeps_the_shape(values: Any) -> None:
    units = unit_array("cost", values)
    assert units.shape == np.shape(values)
    assert units.dtype == np.int64


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0], [1.0, 2.0]], r"^cost=.*must be a rectangular array of numbers"),
        (["1", "0.0000000001"], r"^cost='0\.0000000001': must be"),
        ([1, None], r"^cost=None: must be"),
        ([[1.0, INF]], r"^cost=inf: must be"),
    ],
)
def test_a_message_names_field_and_value(values: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        unit_array("cost", values)
