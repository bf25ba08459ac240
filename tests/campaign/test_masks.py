"""Asks that allow some arms only, and say what this call may cost."""

from __future__ import annotations

from typing import Any

import pytest

from purse import BudgetExhausted, Campaign, Conflict, InvalidInput
from purse.errors import BudgetHeld
from tests.support.campaigns import made, refusal
from tests.support.storages import MemoryHarness, StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"small": "0.2", "middle": "0.5", "large": 1},
    "budget": 100,
    "cost_min": "0.1",
    "policy": "exp3.bwk",
}


def asked(campaign: Campaign) -> dict[str, Any]:
    """The last entry of an ask."""
    body: dict[str, Any] = [entry for entry in campaign.journal() if entry.kind == "asked"][-1].body
    return body


def test_only_what_is_allowed_is_chosen_with_its_probability_under_the_mask() -> None:
    campaign = MemoryHarness().create("c", **TERMS)
    for turn in range(40):
        arms = [["large", "small"], ["middle"], ["small", "middle", "large"]][turn % 3]
        chances = campaign.probabilities(arms)
        ticket = campaign.ask(arms=arms)
        assert ticket.arm in arms
        assert ticket.probability == chances[ticket.arm]
        assert sum(chances.values()) == pytest.approx(1)
        campaign.tell(ticket, 1, "0.15")
    assert campaign.audit(full=True).ok


def test_a_maximum_of_this_call_is_what_is_held_and_what_overrun_is_counted_from() -> None:
    campaign = MemoryHarness().create("c", **TERMS)
    ticket = campaign.ask(arms={"large": "0.3"})
    assert (ticket.arm, ticket.held) == ("large", ("0.3",))
    receipt = campaign.tell(ticket, 1, "0.4")
    assert (receipt.spent, receipt.overrun) == (("0.3",), ("0.1",))
    mixed = campaign.ask_many(30, arms={"large": "0.25", "small": "0.1"})
    assert {(each.arm, each.held) for each in mixed} == {("large", ("0.25",)), ("small", ("0.1",))}
    assert campaign.audit(full=True).ok


def test_a_repeat_may_say_the_same_in_other_words(harness: StorageHarness) -> None:
    campaign = harness.create("c", **TERMS)
    first = campaign.ask("r", arms={"large": "0.30", "small": 0.1})
    assert harness.open("c").ask("r", arms={"small": "0.1", "large": "0.3"}) == first
    for other in (None, ["large", "small"], {"large": "0.3", "small": "0.2"}, {"large": "0.3"}):
        with pytest.raises(Conflict, match="used before for another request: 1 tickets of some"):
            harness.open("c").ask("r", arms=other)
    plain = harness.open("c").ask("p")
    assert harness.open("c").ask("p") == plain
    with pytest.raises(Conflict):
        harness.open("c").ask("p", arms=["large"])


def test_the_shorter_form_is_stored() -> None:
    campaign = MemoryHarness().create("c", **TERMS)
    campaign.ask(arms=["large"])
    assert asked(campaign)["mask"] == {"allowed": [2]}
    campaign.ask(arms=["large", "small"])
    assert asked(campaign)["mask"] == {"forbidden": [1]}
    campaign.ask(arms={"large": "0.3"})
    assert asked(campaign)["mask"] == {"allowed": [2], "most": [[2, [300_000_000]]]}
    campaign.ask()
    assert "mask" not in asked(campaign)


@pytest.mark.parametrize(
    ("arms", "text"),
    [
        ([], "must name at least one arm"),
        ({}, "must name at least one arm"),
        ("large", "must be a list of names"),
        (7, "must be a list of names"),
        (["huge"], "unknown arm in arms 'huge'"),
        ([1], "unknown arm in arms '1'"),
        ({"large": "1.1"}, "arms['large']=1.1: must be at most the arm's maximum, 1"),
        ({"large": -1}, "arms['large']=-1: must not be negative"),
        ({"large": "much"}, "arms['large']='much'"),
        ({"large": [1, 1]}, "must be one amount for each of the resources units"),
    ],
)
def test_a_mask_that_says_nothing_sensible(arms: Any, text: str) -> None:
    campaign = MemoryHarness().create("c", **TERMS)
    before = campaign.status().entries
    for call in (campaign.ask, campaign.probabilities):
        with pytest.raises(InvalidInput) as caught:
            call(arms=arms)
        assert text in str(caught.value)
    assert campaign.status().entries == before


def test_initial_pulls_come_back_to_arms_that_were_not_allowed(harness: StorageHarness) -> None:
    campaign = harness.create("c", **{**TERMS, "policy": "ucb-bv1"})
    seen = [campaign.ask(arms=["large", "middle"]).arm, campaign.ask(arms=["large"]).arm]
    assert seen == ["middle", "large"]
    third = harness.open("c").ask(arms=["large", "middle"])  # both have had theirs
    assert third.arm in ("large", "middle")
    campaign = harness.open("c")
    assert campaign.probabilities() == {"small": 1.0, "middle": 0.0, "large": 0.0}
    initial = campaign.ask()
    assert initial.arm == "small"
    campaign.void(initial)
    assert campaign.ask(arms=["large"]).arm == "large"
    assert campaign.ask().arm == "small"  # again
    assert campaign.audit(full=True).ok


def test_a_call_that_may_cost_little_fits_where_its_arm_does_not() -> None:
    campaign = made(budget="0.5")
    refusal(BudgetExhausted, campaign.ask)
    ticket = campaign.ask(arms={"green": "0.4"})
    assert ticket.held == ("0.4",)
    assert refusal(BudgetHeld, campaign.ask, arms={"red": "0.4"}).startswith("'red' may cost")
