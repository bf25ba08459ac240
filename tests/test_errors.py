import pytest

import purse
from purse.errors import (
    AskRefused,
    BudgetExhausted,
    HorizonReached,
    InvalidInput,
    PurseError,
    invalid,
    unknown,
)


def test_errors_have_the_parents_that_callers_catch() -> None:
    assert issubclass(InvalidInput, ValueError)
    assert issubclass(BudgetExhausted, AskRefused)
    assert issubclass(HorizonReached, AskRefused)
    assert not issubclass(PurseError, ValueError)


@pytest.mark.parametrize(
    ("value", "written"), [(-1, "-1"), ("x", "'x'"), (None, "None"), ([1, 2], "[1, 2]")]
)
def test_invalid_names_field_value_and_what_is_allowed(value: object, written: str) -> None:
    error = invalid("budget", value, "must be positive")
    assert isinstance(error, InvalidInput)
    assert str(error) == f"budget={written}: must be positive"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("exp3.bvk", "exp3.bwk"),
        ("exp3", "exp3.bwk"),
        ("unifrom", "uniform"),
        ("exp3++bwk", "exp3++.bwk"),
    ],
)
def test_unknown_suggests_the_nearest_name(name: str, nearest: str) -> None:
    error = unknown("policy", name, ["uniform", "exp3++.bwk", "exp3.bwk"])
    assert isinstance(error, InvalidInput)
    assert str(error) == f"unknown policy {name!r}; did you mean {nearest!r}?"


def test_unknown_lists_all_names_where_none_is_near() -> None:
    assert (
        str(unknown("policy", "zzz", iter(["fixed", "alpha"])))
        == "unknown policy 'zzz'; known: alpha, fixed"
    )


def test_unknown_says_when_there_is_nothing_to_choose_from() -> None:
    assert (
        str(unknown("option of uniform", "beta", ()))
        == "unknown option of uniform 'beta'; there are none"
    )


def test_a_notebook_shows_the_callers_lines_alone() -> None:
    with pytest.raises(InvalidInput) as caught:
        purse.worlds.make("no_such_world", 1)
    *lines, last = caught.value._render_traceback_()
    assert len(lines) == 1
    assert __file__ in lines[0]
    assert last.startswith("InvalidInput: unknown world 'no_such_world'")
