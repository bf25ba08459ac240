"""What a campaign may be: its terms, and how they are refused."""

import logging
import math
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from purse import Campaign, InvalidInput, Policy
from purse.campaign.terms.terms import Terms
from tests.support import storages
from tests.support.campaigns import TERMS, made, refusal
from tests.support.storages import MemoryHarness

SEVERAL = {"resources": ["USD", "calls"]}


# what the transcript of all verbs does not refuse
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"arms": None}, "arms=None: must say the most"),
    ({"arms": {"red": 1, 7: 1}}, "arms=7: must be a printable name"),
    ({"arms": {"red": 1, "": 1}}, "arms='': must be a printable name"),
    ({"arms": {"red": 0, "green": 2}, "cost_min": None}, "arms=0: must cost something"),
    ({"arms": {"red": "lots"}}, "arms='lots': must be a number"),
    ({"arms": {"red": [1, 2]}}, "arms=[[1, 2]]"),
    ({"arms": ["red"], **SEVERAL}, "such as {'small': {'USD': 1, 'calls': 1}, 'large': {'USD': 1"),
    ({"arms": {"red": {"USD": 1}}}, "unknown resource in arms 'USD'"),
    ({"cost_min": 0}, "cost_min=0: must be positive"),
    ({"cost_min": "0.1234567891"}, "cost_min='0.1234567891': must be a number with at most nine"),
    ({"budget": {"dollars": 5}}, "unknown resource in budget 'dollars'"),
    ({"capacity": 10_001}, "capacity=10001"),
    ({"cost_ceiling": [1, 2, 3]}, "cost_ceiling=[1, 2, 3]"),
    ({"cooldown": "soon"}, "cooldown='soon'"),
    ({"reward_range": 5}, "reward_range=5"),
    ({"reward_range": (0, math.inf)}, "reward_range"),
    ({"reward_within": 60}, "reward_within=60: needs missing_reward, what a reward counts as"),
    ({"missing_reward": "none", "reward_within": 1}, "missing_reward='none': must be a number"),
    ({"policy": "budgeted-thompson", "explore": 0.05}, "can state its probabilities, not budgeted"),
    ({"explore": "uniform:0.1"}, "explore='uniform:0.1': must be a number"),
    ({"explore": True}, "explore=True: must be a number"),
    ({"explore": 10**400}, "must be a number above 0 and at most 0.5"),
    ({"horizon": 1e30}, "must be a whole number from 1 to 9007199254740992"),
    ({"horizon": 10**400}, "must be a whole number from 1 to 9007199254740992"),
    ({"features": ["a", "a"]}, "different names"),
    ({"features": ["\ud800"]}, "features: must be text that UTF-8 has"),
    ({"every": "6h", "carry": "some"}, "carry='some'"),
    ({"every": "6h", "carry": 4}, "carry=4"),
    ({"carry": "all"}, "carry='all': needs every"),
    ({"until": "soon"}, "until='soon': must be a date such as '2027-12-31', or a time: '2027-12-"),
    ({"until": 2027}, "until=2027: must be a date"),
    ({"until": "9999-12-31"}, "until='9999-12-31': must be a date"),
    ({"until": "2027-01-14"}, "until='2027-01-15 00:00:00 UTC': must lie ahead"),
    ({"until": "1970-01-01T00:00Z"}, "until='1970-01-01 00:00:00 UTC': must lie ahead"),
    ({"until": "2027-12-31", "time_zone": "Berlin"}, "time_zone='Berlin': must be the name"),
    ({"alerts": ["80%", "80%"]}, "alerts=['80%', '80%']: must be different rules"),
    ({"alerts": [8]}, "alerts=8"),
]


@pytest.mark.parametrize(("changes", "words"), WRONG)
def test_bad_terms_are_refused_in_one_line_that_names_the_field(
    changes: dict[str, Any], words: str
) -> None:
    harness = storages.MemoryHarness()
    assert words in refusal(InvalidInput, made, harness, **changes)
    assert harness.memory.names() == []


def test_these_are_all_terms() -> None:
    """A term more is a decision."""
    assert list(signature(Campaign.create).parameters) == [
        "name", "arms", "budget", "prompt_tokens", "answer_tokens", "cost_min", "resources",
        "horizon", "skip", "policy", "seed",
        "expires_after", "cooldown", "reward_within", "missing_reward", "reward_range", "explore",
        "capacity", "cost_ceiling", "features", "map", "account", "every", "until", "time_zone",
        "carry", "alerts", "limits", "unlabelled", "storage", "token", "exist_ok",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["a b", "ä", "-a", "a" * 101, None])
def test_names_are_short_and_plain(name: Any) -> None:
    assert "name=" in refusal(InvalidInput, MemoryHarness().create, name, **TERMS)


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


def test_the_least_cost_comes_from_the_largest() -> None:
    large = {"USD": "0.05", "calls": 1}
    arms = {"small": {"USD": "0.01", "calls": 1}, "large": large, "free": {"USD": 0, "calls": 1}}
    several = {"budget": [5, 100], "resources": ["USD", "calls"]}
    terms = made(MemoryHarness(), **several, arms=arms, cost_min=None).terms
    assert terms.cost_min == ((10_000, 1_000_000), (50_000, 1_000_000), (0, 1_000_000))


TWO = {"budget": [25, 100], "resources": ["USD", "calls"]}


@pytest.mark.parametrize(
    ("changes", "rounds"),
    [
        ({}, "2,500"),
        ({**TWO, "arms": {"small": ["0.01", 1], "large": ["0.05", 1]}}, "100"),
        *(
            (known, "")
            for known in (
                {"policy": "uniform"},
                {"horizon": 50},
                {"every": "day"},
                {"until": "2127-01-01"},
            )
        ),
    ],
)
def test_one_line_of_the_log_says_that_a_planner_knows_no_end(
    changes: dict[str, Any], rounds: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "purse")
    terms = {"arms": {"small": "0.01", "large": "0.05"}, "budget": 25, "cost_min": None}
    harness = MemoryHarness()
    for _ in range(2):  # it is there the second time
        made(harness, exist_ok=True, **terms | {"policy": "replan"} | changes)
    assert len(caplog.messages) == bool(rounds)
    assert all(f"in {rounds} rounds or more." in message for message in caplog.messages)


@pytest.mark.parametrize("version", ["1", [1], 1.0, True, None, -1, 2**31, 10**30])
def test_a_version_of_a_policy_is_a_small_number(version: Any) -> None:
    terms = Terms.from_dict({**made().terms.as_dict(), "policy_version": version})
    with pytest.raises(InvalidInput, match="not the terms of a campaign"):
        terms.checked()


@pytest.mark.parametrize("policy", ["replan", "lin-ucb.price"])
def test_a_saved_policy_is_not_loaded(
    policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "policy.npz"
    live = Policy(policy, n_arms=2, budget=10, cost_min="0.1")
    live.tell(live.ask(), 1, 1)
    live.save(path)
    Policy.load(path)
    module = live._module
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    with pytest.raises(InvalidInput) as refused:
        Policy.load(path)
    assert "\n" not in str(refused.value)
    assert (
        f"version {module.VERSION - 1} of {policy} has learnt it, and this is version "
        f"{module.VERSION}, which cannot go on; load it with the purse that saved it, or begin a "
        "new policy"
    ) in str(refused.value)


def test_a_policy_without_versions_is_loaded(tmp_path: Path) -> None:
    live = Policy("uniform", n_arms=2, budget=10, cost_min="0.1")
    live.save(tmp_path / "policy.npz")
    assert Policy.load(tmp_path / "policy.npz").ask().arm == live.ask().arm
