"""Rounds that may pass, and campaigns that answer every ask that they can."""

from __future__ import annotations

from typing import Any

import pytest

from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import in_memory
from purse.errors import AskRefused, InvalidInput
from tests.support.campaigns import refusal
from tests.support.paths import FRUGAL
from tests.support.soak import scale

TERMS: dict[str, Any] = {
    "arms": {"small": "0.1", "large": "0.5", "middle": "0.2"},
    "budget": 20,
    "horizon": 500,
    "policy": FRUGAL,
}


def made(**changes: Any) -> Campaign:
    return Campaign.create("test", storage=in_memory(), **{**TERMS, **changes})


def test_rounds_may_pass_where_there_is_a_horizon() -> None:
    campaign = made()
    passed = campaign.ask(arms=["large"])
    assert (passed.skipped, passed.arm, passed.held) == (True, None, ("0",))
    assert campaign.ask().arm == "middle"
    status = campaign.status()
    assert (status.rounds, status.counts["skipped"]) == (2, 1)
    assert "tickets: 1 held, 1 skipped" in str(status)
    assert "skip" not in campaign.terms.as_dict()
    assert made(skip=True).terms.as_dict().keys() == campaign.terms.as_dict().keys()


@pytest.mark.parametrize(
    ("policy", "horizon"),
    [(FRUGAL, 500), (FRUGAL, None), ("lagrange-bwk", 500), ("bobw-primal-dual", 500),
     ("lin-ucb.price", 500), ("replan", 500)],
)  # fmt: skip
def test_no_round_passes_where_none_may(policy: str, horizon: int | None) -> None:
    """The ticket has the probability that was foreseen, and audits and copies agree."""
    campaign = made(policy=policy, horizon=horizon, skip=False, budget=6)
    free = made(policy=policy, horizon=horizon, budget=6)
    assert campaign.terms.policy == policy + ":skip=0" * (policy in (FRUGAL, "replan"))
    skipped = 0
    masks = [["large"], None, ["large", "middle"], ["middle"], ["large"]]
    for turn in range(scale(60, 200)):
        arms = masks[turn % 5]
        try:
            chances = campaign.probabilities(arms=arms)
            ticket = campaign.ask(arms=arms)
        except AskRefused:
            break
        assert ticket.arm in (arms or TERMS["arms"])
        assert ticket.probability == pytest.approx(chances[str(ticket.arm)])
        assert sum(chances.values()) == pytest.approx(1)
        campaign.tell(ticket, int(turn % 3 == 0), "0.01" if turn % 2 else "0.1")
        other = free.ask(arms=arms)
        skipped += other.skipped
        if not other.skipped:
            free.tell(other, int(turn % 3 == 0), "0.01" if turn % 2 else "0.1")
    assert turn > 20
    assert campaign.status().counts["skipped"] == 0
    assert policy == "replan" or (skipped > 0) == (horizon is not None)
    assert campaign.audit(full=True).findings == ()
    assert campaign.terms.checked() == campaign.terms


def test_the_cheapest_arm_takes_the_chance_of_a_round_that_would_pass() -> None:
    """`bobw-primal-dual` draws "none" like an arm; the rest of its chances go to the cheapest."""
    campaign, free = made(policy="bobw-primal-dual", skip=False), made(policy="bobw-primal-dual")
    open_chances, chances = free.probabilities(), campaign.probabilities()
    passes = 1 - sum(open_chances.values())
    assert passes > 0.1
    assert chances == {**open_chances, "small": pytest.approx(open_chances["small"] + passes)}
    arms = ["large", "middle"]
    assert campaign.probabilities(arms=arms)["middle"] > campaign.probabilities(arms=arms)["large"]


def test_with_exploration_too() -> None:
    campaign = made(skip=False, explore=0.2)
    for _ in range(20):
        chances = campaign.probabilities()
        ticket = campaign.ask()
        assert ticket.probability == pytest.approx(chances[str(ticket.arm)])
    assert campaign.audit().findings == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"skip": True, "horizon": None}, "skip=True: needs a horizon: without one no round may"),
        ({"skip": 1.5}, "skip=1.5: must be True or False"),
        ({"skip": 0}, "skip=0: must be True or False"),
        ({"skip": "no"}, "skip='no': must be True or False"),
        ({"skip": False, "policy": f"{FRUGAL}:skip=1"}, "must not have the option skip if skip is"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(InvalidInput, lambda: made(**changes))


def test_terms_are_the_same_when_they_are_given_again() -> None:
    storage = in_memory()
    for _ in range(2):
        campaign = Campaign.create("test", storage=storage, exist_ok=True, **TERMS, skip=False)
        assert campaign.terms.policy == f"{FRUGAL}:skip=0"
