import keyword
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.base.spec import check_options, parse
from purse.errors import InvalidInput

STEADY = settings(deadline=None, derandomize=True)
WORDS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True).filter(
    lambda word: not keyword.iskeyword(word)
)
NUMBERS = st.one_of(
    st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none()
)
NAMES = st.sampled_from(["uniform", "exp3++.bwk", "ucb-bv1", "my/policy.py"])


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("uniform", "uniform", {}),
        ("uniform:", "uniform", {}),
        (" uniform : a = 1 , b = 2 ", "uniform", {"a": 1, "b": 2}),
        ("exp3++.bwk:beta=1,epsilon=printed", "exp3++.bwk", {"beta": 1, "epsilon": "printed"}),
        ("exp3.bwk:gamma=.5", "exp3.bwk", {"gamma": 0.5}),
        ("x:a=-1e-3", "x", {"a": -1e-3}),
        ("x:a='two words'", "x", {"a": "two words"}),
        ("x:a=True,b=None", "x", {"a": True, "b": None}),
        (
            "x:rewards=[.9,.6],costs=[[.8],[.3]]",
            "x",
            {"rewards": [0.9, 0.6], "costs": [[0.8], [0.3]]},
        ),
        ("x:a=(1,2),", "x", {"a": (1, 2)}),
        ("folder/mine.py:arm=2", "folder/mine.py", {"arm": 2}),
    ],
)
def test_parse_reads_name_and_options(text: str, name: str, options: dict[str, Any]) -> None:
    assert parse(text) == (name, options)


UNREADABLE = [
    "1",
    "a",
    "a=",
    "a=1;b=2",
    "a=1,,b=2",
    "*a",
    "**a",
    "a=f(1)",
    "a=b.c",
    "a=1+b",
    "a=[b]",
    ")",
    "a=1)+(2",
    "a=[1",
    *("a={[1]:2}", "a=1)(b=2", "a=1)#", "a=1,a=2", "a=__import__('os').getcwd()"),  # no code runs
]


@pytest.mark.parametrize("text", [*(f"x:{options}" for options in UNREADABLE), "x:a=lambda: 1"])
def test_parse_refuses_what_it_cannot_read(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    begins, _, allowed = str(caught.value).rpartition("; ")
    assert begins == f"cannot read {text!r}"
    assert allowed in (
        "write name or name:option=value,option=value",
        "the value of a must be a word, a number, a text in quotes, or a list of these",
    )


def test_a_value_that_is_no_value_is_named() -> None:
    with pytest.raises(InvalidInput, match="; the value of data must be a word, a number, a text"):
        parse("table:data=prompts.csv")


@STEADY
@given(
    NAMES,
    st.dictionaries(
        WORDS, st.one_of(NUMBERS, st.text(max_size=8), st.lists(NUMBERS, max_size=4)), max_size=4
    ),
)
def test_parse_reads_back_what_python_writes(name: str, options: dict[str, Any]) -> None:
    assert parse(name + ":" + ",".join(f"{key}={value!r}" for key, value in options.items())) == (
        name,
        options,
    )


def takes_two(problem: object, *, alpha: float = 3.0, gamma: str) -> None:
    """A function with options."""


def test_options_that_fit_pass() -> None:
    check_options("exp3", takes_two, {"gamma": "x"}, supplied=("problem",))
    check_options("exp3", takes_two, {"gamma": "x", "alpha": 1}, supplied=("problem",))


@pytest.mark.parametrize(
    ("options", "supplied", "message"),
    [
        ({"gama": 1}, ("problem",), "unknown option of exp3 'gama'; did you mean 'gamma'?"),
        ({"zz": 1}, ("problem",), "unknown option of exp3 'zz'; known: alpha, gamma"),
        ({"problem": 1}, ("problem",), "unknown option of exp3 'problem'; known: alpha, gamma"),
        ({"alpha": 1}, ("problem",), "exp3 needs gamma; write exp3:gamma=..."),
        ({}, (), "exp3 needs problem, gamma; write exp3:problem=...,gamma=..."),
        ({"b": 1}, ("problem", "alpha", "gamma"), "unknown option of exp3 'b'; there are none"),
    ],
)
def test_options_that_do_not_fit_are_explained(
    options: dict[str, Any], supplied: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidInput, match="^" + re.escape(message) + "$"):
        check_options("exp3", takes_two, options, supplied=supplied)


@pytest.mark.parametrize(
    "deep",
    ["-" * 20_000 + "1", "-" * 5_000 + "1", "[" * 20_000, "[" * 250 + "]" * 250, "1" * 5_000],
)
def test_deep_texts_are_refused_in_a_line(deep: str) -> None:
    with pytest.raises(InvalidInput, match=r"^cannot read .{100,130}; ") as refused:
        parse(f"uniform:a={deep}")
    assert len(str(refused.value)) < 300
