"""Rule `fit`: what does not fit is not chosen."""

from __future__ import annotations

from typing import Any

import pytest

from purse import AskRefused, BudgetExhausted, BudgetHeld, Campaign
from tests.support.campaigns import made, refusal
from tests.support.storages import MemoryHarness

TERMS: dict[str, Any] = {
    "arms": {"cheap": "0.02", "dear": "0.9"},
    "cost_max": None,
    "cost_min": "0.001",
    "policy": "replan",
}


def play(campaign: Campaign, reward: dict[str, float]) -> int:
    """Ask and tell until there is no more; return the number of rounds."""
    rounds = 0
    try:
        while True:
            ticket = campaign.ask()
            campaign.tell(ticket, reward[ticket.arm or ""], ticket.held[0])
            rounds += 1
    except AskRefused:
        return rounds


@pytest.mark.parametrize("policy", ["replan", "exp3++.bwk", "ucb-bv1"])
def test_the_end_of_a_campaign_leaves_less_than_the_cheapest_maximum(policy: str) -> None:
    rich = {"cheap": 0.0, "dear": 1.0}
    campaign = made(**{**TERMS, "policy": policy}, budget=5)
    play(campaign, rich)
    assert float(campaign.status().purses[0].left) < 0.02
    assert campaign.audit(full=True).ok


def test_the_old_rule_leaves_money_behind() -> None:
    campaign = made(**{**TERMS, "policy": "ucb-bv1"}, budget=5, stop="hold")
    play(campaign, {"cheap": 0.0, "dear": 1.0})
    assert float(campaign.status().purses[0].left) > 0.02


def test_a_refusal_says_whether_waiting_helps() -> None:
    campaign = made(**TERMS, budget="0.03")
    first = campaign.ask()
    assert first.arm == "cheap"
    message = refusal(BudgetHeld, campaign.ask)
    assert "'cheap' may cost 0.02 units and 0.01 is left; 0.02 is held" in message
    campaign.tell(first, 1, "0.02")
    message = refusal(BudgetExhausted, campaign.ask)
    assert message == "'cheap' may cost 0.02 units and 0.01 is left"


def test_an_arm_at_its_cap_is_not_chosen() -> None:
    campaign = made(arms={"a": 1, "b": 1}, cost_max=None, budget=100, caps=[2, 3], policy="replan")
    arms = [campaign.ask().arm for _ in range(5)]
    assert sorted(map(str, arms)) == ["a", "a", "b", "b", "b"]
    assert "caps" in refusal(BudgetExhausted, campaign.ask)


def test_a_cap_and_tickets_that_expired_block_nothing() -> None:
    harness = MemoryHarness()
    terms = {"caps": [2, 50], "policy": "replan", "expires_after": 1, "budget": 100}
    campaign = made(harness, **terms)
    for _ in range(10):
        campaign.ask()
        harness.clock += 2_000
    for _ in range(20):
        ticket = campaign.ask()
        campaign.tell(ticket, 0.5, "0.2")
    assert campaign.audit(full=True).ok


def test_with_several_plays_those_are_left_out_that_do_not_fit() -> None:
    terms = {"arms": {"a": 1, "b": 2, "c": 3}, "cost_max": None, "plays": 2, "budget": "7.5"}
    campaign = made(**terms, policy="uniform")
    seen = []
    for _ in range(10):
        try:
            ticket = campaign.ask()
        except BudgetExhausted:
            break
        seen.append(len(ticket.arms))
        campaign.tell(ticket, [1] * len(ticket.arms), [0.5 * float(ticket.held[0])] * seen[-1])
    assert set(seen) == {1, 2}
    assert float(campaign.status().purses[0].left) < 1
    assert campaign.audit(full=True).ok


def test_a_report_on_fewer_plays_has_as_many_rewards_and_costs() -> None:
    terms = {"arms": {"a": 1, "b": 2}, "cost_max": None, "plays": 2, "budget": "1.5"}
    campaign = made(**terms, policy="uniform")
    ticket = campaign.ask()
    assert ticket.arms == ("a",)
    with pytest.raises(ValueError, match="has 1 of 2 plays, so it needs 1 rewards, not 2"):
        campaign.tell(ticket, [1, 1], [1, 1])
    assert campaign.settle(ticket, "0.5").state == "settled"
    assert campaign.reward(ticket, 1).state == "told"
    assert campaign.audit(full=True).ok
