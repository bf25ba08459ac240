"""Numbers and words as text, beyond the examples in the docstrings."""

import math

import pytest

from purse.base.text import (
    format_budget,
    format_digits,
    format_gain,
    format_mean,
    format_rough,
    format_time,
    keep_on_line,
    set_minus,
    split_mean,
)


@pytest.mark.parametrize(
    ("number", "rough", "digits", "budget"),
    [
        (0.0, "0", "0", "0"),
        (0.012345, "0.012", "0.01235", "0.012345"),
        (12.345, "12", "12.35", "12.345"),
        (-3.7, "-4", "-3.7", "-3.7"),
        (999.96, "1,000", "1000", "999.96"),
        (1e6, "1,000,000", "1,000,000", "1,000,000"),
    ],
)
def test_each_rule_has_its_digits(number: float, rough: str, digits: str, budget: str) -> None:
    assert (format_rough(number), format_digits(number), format_budget(number)) == (
        rough,
        digits,
        budget,
    )


@pytest.mark.parametrize(
    ("mean", "high", "rough", "gain"),
    [
        (1234.5, 1357.2, "1,234 ± 123", "1,234 ± 123"),
        (12.345, 12.9, "12 ± 0.55", "12.35 ± 0.55"),
        (7.0, 7.0, "7 ± 0", "7"),
        (3.0, math.nan, "3", "3"),
        (1e12, 1e12 + 10, "1,000,000,000,000 ± 10", "1,000,000,000,000 ± 10"),
        (1e12, 1e12 + 1, "1,000,000,000,000 ± 1", "1,000,000,000,000"),
    ],
)
def test_a_mean_has_half_its_interval(mean: float, high: float, rough: str, gain: str) -> None:
    assert (format_mean(mean, high), format_gain(mean, high)) == (rough, gain)


@pytest.mark.parametrize(
    ("mean", "half", "texts"),
    [
        (1234.5678, 123.4, ("1,235", "± 123")),
        (1234.5678, 12.34, ("1,235", "± 12")),
        (1234.5678, 1.234, ("1,234.6", "± 1.2")),
        (1234.5678, 0.1234, ("1,234.57", "± 0.12")),
        (-0.4719, 0.0234, ("-0.472", "± 0.023")),
        (0.0001, 5.25, ("0.0", "± 5.2")),
        (12345678.9, 98765.4, ("12,345,679", "± 98,765")),
        (3e-8, 1.5e-9, ("0.0000000300", "± 0.0000000015")),
        (30.0, 0.0, ("30", "± 0")),
        (8.4857142857, 0.0, ("8.48571", "± 0")),
        (0.0, 0.0, ("0", "± 0")),
        (-4719.25, math.nan, ("-4,719.25", "")),
        (1 / 3, math.nan, ("0.333333", "")),
    ],
)
def test_a_mean_is_written_to_the_place_of_two_digits_of_half_its_interval(
    mean: float, half: float, texts: tuple[str, str]
) -> None:
    assert split_mean(mean, mean + half) == texts


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "0 s"), (0.4, "0 s"), (119, "119 s"), (120, "2 min"), (7_200, "2 h"), (200_000, "2 d")],
)
def test_a_time_is_in_the_largest_unit_that_it_has_two_of(seconds: float, text: str) -> None:
    assert format_time(seconds) == text


def test_signs_and_spaces_are_those_of_print() -> None:
    assert set_minus("-4") == "−4"
    assert keep_on_line("4 ± 1") == "4\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}1"
