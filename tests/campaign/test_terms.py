"""What a campaign may be: its terms, and how they are refused."""

from __future__ import annotations

import math
from dataclasses import replace
from inspect import signature
from typing import Any

import pytest

from purse import Campaign, InvalidInput
from purse.errors import CampaignExists, NotFound
from tests.support import storages
from tests.support.campaigns import TERMS, made, refusal
from tests.support.storages import MemoryHarness


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"arms": []}, ("arms=[]", "must say the most", "{'small': 1, 'large': 1}")),
        ({"arms": "red"}, ("arms='red'", "must say the most")),
        ({"arms": ["red", "green"]}, ("arms=['red', 'green']", "{'small': 1, 'large': 1}")),
        ({"arms": None}, ("arms=None", "must say the most")),
        ({"arms": {}}, ("arms={}", "must say the most")),
        ({"arms": {"red": 1, 7: 1}}, ("arms=7", "name")),
        ({"arms": {"red": 1, "": 1}}, ("arms=''", "name")),
        ({"arms": {"red": -1, "green": 2}}, ("arms='-1'", "must not be negative")),
        ({"arms": {"red": 0, "green": 2}, "cost_min": None}, ("arms=0", "something")),
        ({"arms": {"red": "lots"}}, ("arms='lots'", "number")),
        ({"arms": {"red": [1, 2]}}, ("arms=[[1, 2]]", "(1, 1)")),
        (
            {"arms": ["red"], "resources": ["USD", "calls"]},
            ("{'small': {'USD': 1, 'calls': 1}, 'large': {'USD': 1, 'calls': 1}}",),
        ),
        ({"arms": {"red": {"USD": 1}}}, ("'USD'", "units")),
        ({"cost_min": 0}, ("cost_min=0", "positive")),
        ({"cost_min": 2}, ("cost_min=2", "cost_max=1")),
        ({"cost_min": "0.1234567891"}, ("cost_min='0.1234567891'", "nine decimals")),
        ({"budget": 0}, ("budget=0", "positive")),
        ({"budget": math.nan}, ("budget=nan", "number")),
        ({"budget": "lots"}, ("budget='lots'", "number")),
        ({"budget": [1, 2]}, ("budget=[1, 2]", "1")),
        ({"budget": {"dollars": 5}}, ("'dollars'", "units")),
        ({"resources": []}, ("resources=[]", "names")),
        ({"resources": ["a", "a"]}, ("resources=", "different")),
        ({"horizon": 0}, ("horizon=0", "1")),
        ({"policy": "unifrom"}, ("'unifrom'", "'uniform'")),
        ({"policy": 3}, ("policy=3",)),
        ({"policy": "uniform:beta=1"}, ("beta", "uniform")),
        ({"seed": -1}, ("seed=-1", "0")),
        ({"expires_after": 0}, ("expires_after=0", "above 0")),
        ({"expires_after": "soon"}, ("expires_after='soon'", "number")),
        ({"capacity": 1}, ("capacity=1",)),
        ({"capacity": 10_001}, ("capacity=10001",)),
        (
            {"cost_ceiling": "0.5"},
            ("cost_ceiling=['0.5']: must be at least the most of arm 'red'",),
        ),
        ({"cost_ceiling": [1, 2, 3]}, ("cost_ceiling=[1, 2, 3]",)),
        ({"cooldown": 0}, ("cooldown=0",)),
        ({"cooldown": "soon"}, ("cooldown='soon'",)),
        ({"cooldown": -1}, ("cooldown=-1",)),
        (
            {"reward_range": (1, 1)},
            ("reward_range=(1, 1): must be two numbers, the lower one first",),
        ),
        ({"reward_range": 5}, ("reward_range=5",)),
        ({"reward_range": (0, math.inf)}, ("reward_range",)),
        ({"reward_within": 0, "missing_reward": 0}, ("reward_within=0",)),
        (
            {"reward_within": 60},
            ("reward_within=60: needs missing_reward, what a reward counts as",),
        ),
        ({"missing_reward": 0}, ("missing_reward=0: needs reward_within",)),
        ({"missing_reward": 2, "reward_within": 1}, ("missing_reward=2",)),
        (
            {"missing_reward": "none", "reward_within": 1},
            ("missing_reward='none': must be a number",),
        ),
        (
            {"policy": "budgeted-thompson", "explore": 0.05},
            ("explore=", "can state its probabilities", "budgeted-thompson"),
        ),
        ({"explore": 0}, ("explore=0", "above 0")),
        ({"explore": 0.6}, ("explore=0.6", "at most 0.5")),
        ({"explore": "uniform:0.1"}, ("explore='uniform:0.1'", "must be a number")),
        ({"explore": True}, ("explore=True", "must be a number")),
        ({"features": ["a", "a"]}, ("different names",)),
        ({"features": 65}, ("features=65",)),
        ({"features": {"a": (3, 1)}}, ("low below its high",)),
        ({"every": "6h", "carry": "some"}, ("carry='some'",)),
        ({"every": "6h", "carry": 4}, ("carry=4",)),
        ({"carry": "all"}, ("carry='all': needs every",)),
        ({"time_zone": "Europe/Berlin"}, ("time_zone='Europe/Berlin': needs every",)),
        *(
            ({"alerts": alerts}, ("alerts=",))
            for alerts in ("80%", ["80"], ["0%"], ["101%"], ["80%", "80%"], ["paused"], [8])
        ),
    ],
)
def test_bad_terms_are_refused_in_one_line_that_names_the_field(
    changes: dict[str, Any], parts: tuple[str, ...]
) -> None:
    harness = storages.MemoryHarness()
    message = refusal(InvalidInput, made, harness, **changes)
    assert all(part in message for part in parts), message
    assert harness.memory.names() == []


def test_these_are_all_terms() -> None:
    """A term more is a decision."""
    assert list(signature(Campaign.create).parameters) == [
        "name", "arms", "budget", "cost_min", "resources", "horizon", "policy", "seed",
        "expires_after", "cooldown", "reward_within", "missing_reward", "reward_range", "explore",
        "capacity", "cost_ceiling", "features", "account", "every", "time_zone", "carry", "alerts",
        "storage", "token", "exist_ok",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "-a", "a" * 101, 7, None])
def test_names_are_short_and_plain(name: Any) -> None:
    assert "name=" in refusal(InvalidInput, MemoryHarness().create, name, **TERMS)


def test_a_name_is_taken_once() -> None:
    harness = storages.MemoryHarness()
    made(harness)
    assert "'test'" in refusal(CampaignExists, made, harness)
    assert "'other'" in refusal(NotFound, Campaign.open, "other", storage=harness.memory)
    assert "storage='redis://here'" in refusal(
        InvalidInput, Campaign.open, "test", storage="redis://here"
    )


def test_terms_by_name_and_by_position_are_the_same() -> None:
    by_name = made(
        arms={"red": {"hours": 2, "euros": 1}, "green": {"euros": 3, "hours": 4}},
        resources=["euros", "hours"],
        budget={"hours": 3, "euros": "10.5"},
        cost_min={"green": {"hours": "0.2", "euros": 0.1}, "red": [0.3, 0.4]},
    )
    by_position = made(
        arms={"red": [1, 2], "green": [3, 4]},
        resources=["euros", "hours"],
        budget=["10.5", 3],
        cost_min=[[0.3, 0.4], [0.1, "0.2"]],
    )
    assert replace(by_name.terms, id="") == replace(by_position.terms, id="")
    assert by_name.terms.id != by_position.terms.id
    assert by_name.terms.budget == (10_500_000_000, 3_000_000_000)
    assert by_name.terms.cost_min == ((300_000_000, 400_000_000), (100_000_000, 200_000_000))
    assert made(arms={"red": 1, "green": "2.5"}).terms.cost_max == (
        (1_000_000_000,),
        (2_500_000_000,),
    )
    assert (
        by_name.name,
        by_name.terms.arms,
        by_name.terms.expires_after,
    ) == ("test", ("red", "green"), 3_600_000)


def test_the_least_cost_comes_from_the_largest() -> None:
    large = {"USD": "0.05", "calls": 1}
    arms = {"small": {"USD": "0.01", "calls": 1}, "large": large, "free": {"USD": 0, "calls": 1}}
    several = {"budget": [5, 100], "resources": ["USD", "calls"]}
    terms = made(MemoryHarness(), **several, arms=arms, cost_min=None).terms
    assert terms.cost_min == ((10_000, 1_000_000), (50_000, 1_000_000), (0, 1_000_000))
