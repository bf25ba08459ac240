"""Rule `fit`: what does not fit is not chosen."""

from __future__ import annotations

from typing import Any

import pytest

from purse import AskRefused, BudgetExhausted, Campaign
from purse.errors import BudgetHeld
from tests.support.campaigns import made, refusal

TERMS: dict[str, Any] = {
    "arms": {"cheap": "0.02", "dear": "0.9"},
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


def test_a_refusal_says_whether_waiting_helps() -> None:
    campaign = made(**TERMS, budget="0.03")
    first = campaign.ask()
    assert first.arm == "cheap"
    message = refusal(BudgetHeld, campaign.ask)
    assert "'cheap' may cost 0.02 units and 0.01 is left; 0.02 is held" in message
    campaign.tell(first, 1, "0.02")
    message = refusal(BudgetExhausted, campaign.ask)
    assert message == "'cheap' may cost 0.02 units and 0.01 is left"
