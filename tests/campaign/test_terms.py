"""What a campaign may be: its terms, and how they are refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from purse import (
    Campaign,
    CampaignExists,
    InvalidInput,
    NoSuchCampaign,
)
from tests.support import storages
from tests.support.campaigns import TERMS, made, refusal
from tests.support.storages import MemoryHarness


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"arms": []}, ("arms=[]", "list of names")),
        ({"arms": "red"}, ("arms='red'", "list of names")),
        ({"arms": ["red", "red"]}, ("arms=", "different")),
        ({"arms": ["red", 7]}, ("arms=7", "name")),
        ({"arms": ["red", ""]}, ("arms=''", "name")),
        ({"arms": {"red": 1, "green": 2}}, ("cost_max=1", "left out")),
        ({"cost_max": None}, ("cost_max=None", "most")),
        ({"cost_max": -1}, ("cost_max",)),
        ({"cost_max": [-1, 2], "cost_min": None}, ("cost_max='-1'", "positive")),
        ({"cost_max": [0, 2], "cost_min": None}, ("cost_max='0'", "positive")),
        ({"cost_max": [1, 2, 3]}, ("cost_max=[1, 2, 3]", "2 arms")),
        ({"cost_max": {"red": 1}}, ("cost_max=", "'green'")),
        ({"cost_max": {"red": 1, "gren": 2}}, ("'gren'", "'green'")),
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
        ({"plays": 3}, ("plays=3", "2")),
        ({"horizon": 0}, ("horizon=0", "1")),
        ({"caps": 5}, ("caps", "uniform")),
        ({"costs": [1]}, ("costs=[1]", "2 arms")),
        ({"policy": "unifrom"}, ("'unifrom'", "'uniform'")),
        ({"policy": 3}, ("policy=3",)),
        ({"policy": "uniform:beta=1"}, ("beta", "uniform")),
        ({"seed": -1}, ("seed=-1", "0")),
        ({"expires_after": 0}, ("expires_after=0", "above 0")),
        ({"expires_after": "soon"}, ("expires_after='soon'", "number")),
        ({"on_expiry": "forget"}, ("on_expiry='forget'", "'presume'", "'release'")),
    ],
)
def test_bad_terms_are_refused_in_one_line_that_names_the_field(
    changes: dict[str, Any], parts: tuple[str, ...]
) -> None:
    harness = storages.MemoryHarness()
    message = refusal(InvalidInput, made, harness, **changes)
    assert all(part in message for part in parts), message
    assert harness.memory.names() == []


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "-a", "a" * 101, 7, None])
def test_names_are_short_and_plain(name: Any) -> None:
    assert "name=" in refusal(InvalidInput, MemoryHarness().create, name, **TERMS)


def test_a_name_is_taken_once() -> None:
    harness = storages.MemoryHarness()
    made(harness)
    assert "'test'" in refusal(CampaignExists, made, harness)
    assert "'other'" in refusal(NoSuchCampaign, Campaign.open, "other", storage=harness.memory)
    assert "storage='redis://here'" in refusal(
        InvalidInput, Campaign.open, "test", storage="redis://here"
    )


def test_terms_by_name_and_by_position_are_the_same() -> None:
    by_name = made(
        arms=["red", "green"],
        resources=["euros", "hours"],
        budget={"hours": 3, "euros": "10.5"},
        cost_min={"green": {"hours": "0.2", "euros": 0.1}, "red": [0.3, 0.4]},
        cost_max={"red": {"euros": 1, "hours": 2}, "green": {"euros": 3, "hours": 4}},
    )
    by_position = made(
        resources=["euros", "hours"],
        budget=["10.5", 3],
        cost_min=[[0.3, 0.4], [0.1, "0.2"]],
        cost_max=[[1, 2], [3, 4]],
    )
    assert replace(by_name.terms, id="") == replace(by_position.terms, id="")
    assert by_name.terms.id != by_position.terms.id
    assert by_name.terms.budget == (10_500_000_000, 3_000_000_000)
    assert by_name.terms.cost_min == ((300_000_000, 400_000_000), (100_000_000, 200_000_000))
    assert made(arms={"red": 1, "green": "2.5"}, cost_max=None).terms.cost_max == (
        (1_000_000_000,),
        (2_500_000_000,),
    )
    assert (
        by_name.name,
        by_name.terms.arms,
        by_name.terms.expires_after,
        by_name.terms.on_expiry,
    ) == ("test", ("red", "green"), 3_600_000, "presume")


def test_release_on_expiry_prints_the_weaker_promise() -> None:
    with pytest.warns(UserWarning, match="on_expiry='release'"):
        campaign = Campaign.create(
            "test", **TERMS, on_expiry="release", storage=MemoryHarness().memory
        )
    promise = campaign.status().promise
    assert promise is not None
    assert "overrun" in promise
    assert promise in str(campaign.status())
    assert made().status().promise is None


def test_the_least_cost_comes_from_the_largest_or_from_known_costs() -> None:
    large = {"USD": "0.05", "calls": 1}
    arms = {"small": {"USD": "0.01", "calls": 1}, "large": large, "free": {"USD": 0, "calls": 1}}
    several = {"budget": [5, 100], "resources": ["USD", "calls"], "cost_max": None}
    terms = made(MemoryHarness(), **several, arms=arms, cost_min=None).terms
    assert terms.cost_min == ((10_000, 1_000_000), (50_000, 1_000_000), (0, 1_000_000))
    known = made(MemoryHarness(), cost_min=None, costs=[0.25, 1], policy="kube").terms
    assert known.cost_min == known.costs
