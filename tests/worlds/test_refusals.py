"""What worlds do not take: the message names the field, its value and what is allowed."""

from __future__ import annotations

import re
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds

AMOUNT = "must be a number with at most nine decimals, up to 4,611,686,018"
FINITE = "must be a finite number"
LONG = "must be a whole number from 1 to 1000000000000"
POSITIVE = "must be positive, at least 1e-9"
SHARE = "must lie between 0 and 1"
PART = "must be a number at least 0 and at most 1"
ABOVE = "must be a number above 0"
ONE_AXIS = "must have 1 dimension and at least one entry"
TWO_AXES = "must have 2 dimensions and at least one entry"
RECTANGULAR = "must be a rectangular array of numbers"
USED = "must not be negative, and each arm needs a resource that it always uses"
BIDS = "bids=[0.1, 0.3, 0.5]: must have a bid that can win at a positive price"
INNER = "bernoulli:rewards=[.9,.6,.3],costs=[.6,.5,.4]"
UP = [[1, 1, 1], [0, 1, 1]]

Rows = list[tuple[str, list[Any], str]]

# the costs of two arms
COSTS: Rows = [
    ("costs", [[1, 0], [1e-10, 1]], f"costs=0: {POSITIVE}"),
    ("costs", [[1, -1]], f"costs=-1: {POSITIVE}"),
    ("costs", [[1, nan]], f"costs=nan: {AMOUNT}"),
    ("costs", [[1, "x"]], f"costs='x': {AMOUNT}"),
    ("costs", [[[1], [1, 2]]], RECTANGULAR),
]
# the costs of one arm between two bounds
BOUNDED: Rows = [
    ("costs", [[0.05], [1.2]], "must lie between cost_min=0.1 and cost_max=1"),
    ("costs", [[nan]], f"costs=nan: {AMOUNT}"),
    ("costs", [[0.5, 0.5]], "costs of shape (2,) do not match rewards of 1 arms"),
    ("costs", [0.5], "costs of shape () do not match rewards of 1 arms"),
    ("costs", [[[0.5, 0.5]]], "must be one mean for each arm: this world has one resource"),
    ("cost_min", [0, -0.1], POSITIVE),
    ("cost_min", [nan], AMOUNT),
    ("cost_max", [inf, "much"], AMOUNT),
    ("cost_max", [0.05], "cost_min=0.1: must be at most cost_max=0.05"),
]
# for each world what it takes, and then bad values of a field; where the message names the value
# of the field it is written without both
REFUSED: dict[str, tuple[dict[str, Any], Rows]] = {
    "ad_slots": (
        {"clicks": [0.1], "values": [0.5], "prices": [0.1], "views": 10},
        [
            ("values", [[0.5, 0.5]], "values has 2 arms, and clicks has 1"),
            ("prices", [[0.1, 0.2]], "costs of shape (2,) do not match rewards of 1 arms"),
        ],
    ),
    "atoms": (
        {"probabilities": [[0.5, 0.5]], "rewards": [[1, 0]], "costs": [[1, 1]]},
        [
            ("probabilities", [[[0.7, 0.7]]], "probabilities=[[1.4]]: must sum to 1 for each arm"),
            ("probabilities", [[[1.5, -0.5]]], f"probabilities=1.5: {SHARE}"),
            ("probabilities", [[[nan, 1]]], f"probabilities=nan: {FINITE}"),
            ("probabilities", [[0.5, 0.5], []], TWO_AXES),
            ("probabilities", [[[1]]], "probabilities (1, 1, 1), rewards (1, 1, 2) and costs"),
            ("rewards", [[[1, -1]]], f"rewards=-1.0: {SHARE}"),
            ("rewards", [[[]]], TWO_AXES),
            ("costs", [[[1, 0]]], f"costs=0: {POSITIVE}"),
            ("costs", [[[1, 1, 1]]], "costs of shape (1, 3) do not match rewards of shape (1, 2)"),
            ("costs", [[1, 1]], "costs of shape (2,) do not match rewards of shape (1, 2)"),
            ("costs", [np.ones((1, 2, 1, 1))], "costs of shape (1, 2, 1, 1) do not match rewards"),
            ("costs", [np.ones((1, 2, 0))], "costs of shape (1, 2, 0) do not match rewards"),
            ("costs", [[[[0, 0], [1, 1]]]], f"costs=0: {USED}"),
        ],
    ),
    "auction": (
        {
            **{"bids": [0.1, 0.3, 0.5], "rivals": [0.2, 0.3, 0.6, 0]},
            **{"chances": [0.4, 0.3, 0.2, 0.1], "conversion": 0.25, "auctions": 1000},
        },
        [
            ("bids", [[0.1, 0]], "must be positive"),
            ("bids", [[], [[0.1]]], ONE_AXIS),
            ("bids", [[0.1, 0.19]], "must have a bid that can win at a positive price"),
            ("rivals", [[0.1, 0.2, 0.3, -0.1]], "must not be negative"),
            ("rivals", [[0.1, 0.2]], "chances has 4 entries, and rivals has 2"),
            ("rivals", [[0, 0, 0, 0]], BIDS),
            ("chances", [[0.4, 0.3, 0.2, 0.2]], "must sum to 1, and not to 1.1"),
            ("chances", [[1.4, 0, 0, -0.4]], f"chances=1.4: {SHARE}"),
            ("conversion", [1.5, nan], PART),
            ("auctions", [0], "must be a whole number from 1 up"),
        ],
    ),
    "bernoulli": (
        {"rewards": [0.5, 0.5], "costs": [1, 1]},
        [
            ("rewards", [[1.1, 0.5]], f"rewards=1.1: {SHARE}"),
            ("rewards", [[-0.1, 0.5]], f"rewards=-0.1: {SHARE}"),
            ("rewards", [[nan, 0.5]], f"rewards=nan: {FINITE}"),
            ("rewards", [[inf, 0.5]], f"rewards=inf: {FINITE}"),
            ("rewards", [["high", 0.5]], RECTANGULAR),
            ("rewards", [[[0.5, 0.5]], [], 0.5], ONE_AXIS),
            *COSTS,
            ("costs", [[1, inf]], f"costs=inf: {AMOUNT}"),
            ("costs", [[1, "0.0000000001"]], f"costs='0.0000000001': {AMOUNT}"),
            ("costs", [[1, 1, 1]], "costs of shape (3,) do not match rewards of 2 arms"),
            ("costs", [1], "costs of shape () do not match rewards of 2 arms"),
            ("costs", [np.ones((2, 0))], "costs of shape (2, 0) do not match rewards of 2 arms"),
            ("costs", [[[0, 0], [1, 1]]], f"costs=0: {USED}"),
            ("costs", [[[-1, 1], [1, 1]]], f"costs=-1: {USED}"),
        ],
    ),
    "beta": (
        {"rewards": [0.5], "costs": [0.5], "concentration": 4, "cost_min": 0.1},
        [
            ("rewards", [[-1e-9]], f"rewards=-1e-09: {SHARE}"),
            *BOUNDED,
            ("concentration", [0, -4, nan, inf, "tight", [4]], ABOVE),
            # beyond it floats cannot tell the cells apart
            ("concentration", [1e10], f"{ABOVE} and at most 1e+09"),
        ],
    ),
    "class_contexts": ({"classes": 2}, [("classes", [0], "must be a whole number from 1 to 256")]),
    "corrupted": (
        {"rewards": [0.9, 0.1], "costs": [0.5, 0.5], "rounds": 3, "fake_rewards": [0.1, 0.9]},
        [
            ("rounds", [0, -3, 1.5, nan, True, "many", 5 * 10**18], LONG),
            ("fake_rewards", [[0.1]], "fake_rewards has 1 arms, and rewards has 2"),
            ("fake_rewards", [[0.1, 1.1]], f"fake_rewards=1.1: {SHARE}"),
            ("rewards", [[-0.1, 0.5]], f"rewards=-0.1: {SHARE}"),
            ("costs", [[1]], "costs of shape (1,) do not match rewards of 2 arms"),
        ],
    ),
    "drifting": (
        {"rounds": 3, "rewards": [[0.9, 0.1], [0.1, 0.9]], "costs": [0.5, 0.5]},
        [
            ("rounds", [0, -1, 1.5, nan, "long", [1, 2]], LONG),
            ("rewards", [[[0.1, 0.5]]], "must have at least two rows"),
            ("rewards", [[[1, 0], [0, -1e-9]]], f"rewards=-1e-09: {SHARE}"),
            ("costs", [[1]], "costs of shape (1,) do not match rewards of shape (2, 2)"),
            ("costs", [[[1, 1], [1, -1]]], f"costs=-1: {POSITIVE}"),
        ],
    ),
    "linear_contexts": (
        {},
        [
            ("arms", [0], "must be a whole number from 1"),
            ("features", [257], "must be a whole number from 1 to"),
            ("rows", [0], "must be a whole number from 1 up"),
            ("rows", [10**6], "must be at most 200,000 for 5 arms"),
            ("seed", [-1], "must be a whole number from 0 up"),
            ("strength", [2], "must be"),
        ],
    ),
    "logistic_contexts": ({}, [("horizon", [0], "must be a whole number from 1 up")]),
    "moving_costs": (
        {"efficiencies": [0.5], "segments": 5, "costs": [[0.5], [1]]},
        [
            (
                "efficiencies",
                [[1.5]],
                "efficiencies=1.5: must be at least 0, and times any cost at most 1",
            ),
            ("efficiencies", [[-0.5]], "efficiencies=-0.5: must be at least 0"),
            ("costs", [[[0.5, 1]]], "costs has 2 arms, and efficiencies has 1"),
        ],
    ),
    "outages": (
        {"world": INNER, "up": UP, "segments": 3},
        [
            ("up", [[[1, 1]], [[1, 2, 0]]], "must be rows of 3 entries, 0 or 1, one for each arm"),
            ("up", [[[1, 0, 0], [0, 0, 0]]], "must have an arm that is up in each segment"),
            ("up", ["down"], "must be a row of 0 and 1 for each segment"),
            ("segments", [[3, 1, 2]], "segments has 3 lengths, and up has 2 rows"),
            ("segments", [0], LONG),
            ("segments", [None], f"up has 2 segments, and {INNER} has 1 phases; pass segments=..."),
        ],
    ),
    "pricing": (
        {"prices": [1], "chances": [0.5], "customers": 10},
        [
            ("prices", [[1, 2]], "chances has 1 entries, and prices has 2"),
            ("prices", [[0]], "must be positive"),
            ("chances", [[1.5]], f"chances=1.5: {SHARE}"),
            ("customers", [0], "must be a whole number from 1 up"),
        ],
    ),
    "routing": (
        {"quality": [0.5], "prices": [0.1], "prompts": 5},
        [("prompts", [-1], "must be a whole number from 1 up")],
    ),
    "routing_contexts": (
        {"strengths": [0.5], "prices": [1], "prompts": 9},
        [("steepness", [-1], "must be a number at least 0 and at most 100")],
    ),
    "similar_costs": (
        {"n_arms": 2, "budget": 100, "cost_min": 0.5},
        [
            ("cost_min", [0.6], "must be a number"),
            ("n_arms", [1], "must be a whole number from 2"),
            ("best", [2], "must be a whole number from 0 to 1"),
        ],
    ),
    "spend_or_save": (
        {"budget": 100},
        [
            ("budget", [1, 10.5, nan, "10"], "must be a whole number from 2 to 1000000000000"),
            ("cost_min", [0, -0.1, 1.1, nan], f"{ABOVE} and at most 1"),
            ("later", [-0.1, 1.1, nan, "yes"], PART),
            ("fixed_costs", [1, None], "must be True or False"),
        ],
    ),
    "switching": (
        {"segments": [1, 2], "rewards": [[1, 0], [0, 1]], "costs": [1, 1]},
        [
            ("segments", [[1, 2, 3]], "segments has 3 lengths, and rewards has 2 segments"),
            ("segments", [[]], "segments has 0 lengths, and rewards has 2 segments"),
            ("segments", [[0, 2]], f"segments=0: {LONG}"),
            ("segments", [[1, -2]], f"segments=-2: {LONG}"),
            ("segments", [[1, 1.5]], f"segments=1.5: {LONG}"),
            ("segments", [[1, nan]], f"segments=nan: {LONG}"),
            ("segments", ["long"], LONG),
            ("segments", [[[1], [2, 3]]], f"segments=[1]: {LONG}"),
            ("rewards", [[[1, 0], [0, 1.2]]], f"rewards=1.2: {SHARE}"),
            ("rewards", [[[1, 0], [0, nan]]], f"rewards=nan: {FINITE}"),
            ("rewards", [[1, 0], [[], []]], TWO_AXES),
            *COSTS,
            ("costs", [[1, 1, 1]], "costs of shape (3,) do not match rewards of shape (2, 2)"),
            ("costs", [[[1, 1]]], "costs of shape (1, 2) do not match rewards of shape (2, 2)"),
            ("costs", [np.ones((2, 2, 0))], "costs of shape (2, 2, 0) do not match rewards"),
        ],
    ),
    "table": (
        {"rewards": [[1, 0]], "costs": [[1, 1]]},
        [
            ("rewards", [[[1.5, 0]]], f"rewards=1.5: {SHARE}"),
            ("rewards", [[1, 0], []], TWO_AXES),
            ("costs", [[[1, 0]]], f"costs=0: {POSITIVE}"),
            ("costs", [[[1, 1]] * 2], "costs of shape (2, 2) do not match rewards of shape (1, 2)"),
            ("shuffle", ["yes"], "must be True or False"),
            ("sample", [1], "must be True or False"),
            ("features", [[[1], [2]]], "features of shape (2, 1) do not match 1 rows of 2 arms"),
            ("features", [[[inf]]], f"features=inf: {FINITE}"),
            ("features", [3], ONE_AXIS),
            ("horizon", [2], "must be a whole number from 1 to 1"),
        ],
    ),
    "theorem2": (
        {"n_arms": 5, "budget": 100, "cost_min": 0.5},
        [
            ("n_arms", [0, 2.5, "five"], "must be a whole number from 1 to 10000000"),
            ("budget", [0, -1, nan, [100]], ABOVE),
            ("budget", [0.62], "must be at least 4 scale² K c = 0.625"),
            ("scale", [4], "budget=100: must be at least 4 scale² K c = 160"),
            ("cost_min", [0, -0.5, inf, "low"], ABOVE),
            ("scale", [-1, nan, None], "must be a number at least 0"),
            ("best", [5, -1, 0.5], "must be a whole number from 0 to 4"),
        ],
    ),
    "theorem5": (
        {"budget": 100},
        [
            ("budget", [0.99, -5, nan, inf, "100", True], "must be a number at least 1"),
            ("budget", [5e9], AMOUNT),
            ("alpha", [-0.1, 1.1, nan, "half"], PART),
            ("best", [2, -1, 0.5, "first"], "must be a whole number from 0 to 1"),
        ],
    ),
    "two_point": (
        {"rewards": [0.5], "costs": [0.5], "cost_min": 0.1},
        [
            ("rewards", [[1.5]], f"rewards=1.5: {SHARE}"),
            ("rewards", [[nan]], f"rewards=nan: {FINITE}"),
            ("rewards", [[]], ONE_AXIS),
            *BOUNDED,
        ],
    ),
    "two_worlds": (
        {"budget": 100},
        [
            ("world", [3, 0, "second"], "must be a whole number from 1 to 2"),
            ("budget", [0, 10.5, nan], LONG),
            ("cost_min", [0, -0.1, 1.1, nan], f"{ABOVE} and at most 1"),
        ],
    ),
}


@pytest.mark.parametrize(
    ("name", "field", "values", "message"),
    [(name, *row) for name, (_, rows) in REFUSED.items() for row in rows],
)
def test_a_bad_value_is_refused_by_name(
    name: str, field: str, values: list[Any], message: str
) -> None:
    for value in values:
        said = f"{field}={value!r}: {message}" if message.startswith("must") else message
        with pytest.raises(purse.InvalidInput, match="^" + re.escape(said)):
            worlds.function(name)(**REFUSED[name][0] | {field: value})


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_table_begins_with_is_taken(name: str) -> None:
    assert worlds.function(name)(**REFUSED[name][0]).n_arms > 0


def test_a_table_is_shuffled_or_sampled() -> None:
    with pytest.raises(purse.InvalidInput, match="shuffle and sample: a table has one of them"):
        worlds.table([[1]], [1], shuffle=True, sample=True)


@pytest.mark.parametrize(
    ("name", "option", "hint"),
    [
        ("bernoulli", "reward", "did you mean 'rewards'?"),
        ("corrupted", "false_rewards", "did you mean 'fake_rewards'?"),
        ("misleading_ratio", "x", "there are none"),
        ("same_costs", "budget", "there are none"),
    ],
)
def test_an_unknown_option_is_told_the_nearest(name: str, option: str, hint: str) -> None:
    with pytest.raises(purse.InvalidInput) as caught:
        worlds.make(f"{name}:{option}=1", budget=10)
    assert str(caught.value) == f"unknown option of {name} {option!r}; {hint}"


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("bernoulli:rewards=[.5]", ["costs"]),
        ("beta:rewards=[.5],costs=[.5]", ["concentration", "cost_min"]),
        ("table", ["rewards", "costs"]),
        ("theorem2", ["n_arms", "cost_min"]),
    ],
)
def test_what_is_missing_is_named(text: str, needs: list[str]) -> None:
    name, write = text.split(":")[0], ",".join(f"{field}=..." for field in needs)
    with pytest.raises(purse.InvalidInput) as caught:
        worlds.make(text, budget=10)
    assert str(caught.value) == f"{name} needs {', '.join(needs)}; write {name}:{write}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bernouli:rewards=[.5],costs=[1]", "unknown world 'bernouli'; did you mean 'bernoulli'?"),
        ("qqqqq", "unknown world 'qqqqq'; known: ad_slots, atoms"),
        ("draw", "unknown world 'draw'"),
        (
            "two_worlds:2",
            "cannot read 'two_worlds:2'; write name or name:option=value,option=value",
        ),
        ("two_worlds:world=", "cannot read 'two_worlds:world='"),
        ("two_worlds:world=1+1", "cannot read 'two_worlds:world=1+1'"),
        ("spend_or_save:fixed_costs=yes", "fixed_costs='yes': must be True or False"),
        ("theorem2:n_arms=5,cost_min=.5,scale=2", "budget=10: must be at least 4 scale² K c = 40"),
        ("theorem2:n_arms=5,cost_min=.5,scale=1e200", "scale=1e+200: must be "),
        ("theorem2:n_arms=2,cost_min=1e-12", "cost_min=1e-12: must be at least 1e-9"),
        ("spend_or_save:cost_min=1e-12", "cost_min=1e-12: must be at least 1e-9"),
        ("two_worlds:cost_min=1e-12", "cost_min=1e-12: must be at least 1e-9"),
        ("spend_or_save:budget=1e19", "budget=1e+19: must be "),
        ("two_worlds:budget=1e19", "budget=1e+19: must be "),
        (f"switching:segments={10**19},rewards=[[.5]],costs=[1]", f"segments={10**19}: {LONG}"),
        (f"drifting:rounds={10**16},rewards=[[0],[1]],costs=[1]", f"rounds={10**16}: {LONG}"),
    ],
)
def test_text_that_cannot_be_used_says_what_to_write(text: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match="^" + re.escape(message)):
        worlds.make(text, budget=10)
