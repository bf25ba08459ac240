"""Arms whose calls fail: cool-downs, probes and recovery, from the failures in the journal."""

import random
from collections import Counter
from typing import Any

import pytest

from purse.campaign.campaign import Campaign
from purse.campaign.ledger.cooldown import CoolDown
from purse.errors import ArmsCoolingDown, InvalidInput
from tests.support.soak import scale
from tests.support.storages import MemoryHarness, StorageHarness

QUALITY = {"a": 0.5, "b": 0.6, "c": 0.8}
TERMS: dict[str, Any] = {
    "arms": {"a": "0.01", "b": "0.02", "c": "0.03"},
    "budget": 1_000,
    "cost_min": "0.001",
    "policy": "replan",
}


def traffic(
    campaign: Campaign, harness: StorageHarness, down: Any, asks: int, every: int = 100
) -> tuple[Counter[str], Counter[str]]:
    """Tickets of each arm, and those of them that failed; one ask every so many ms."""
    rng, issued, failed = random.Random(0), Counter[str](), Counter[str]()
    for turn in range(asks):
        harness.clock += every
        ticket = campaign.ask()
        arm = ticket.arm
        issued[arm] += 1
        if arm in down(turn):
            failed[arm] += 1
            campaign.fail(ticket, 0, reason="503")
        else:
            campaign.tell(ticket, float(rng.random() < QUALITY[arm]), "0.005")
    return issued, failed


def probes(seconds: float) -> int:
    """Cool-downs of 1, 2, 4, ... s that fit into so many seconds."""
    count, length = 0, 1.0
    while seconds > 0:
        count, seconds, length = count + 1, seconds - length, min(2 * length, 300)
    return count


@pytest.mark.parametrize("policy", ["replan", "exp3++.bwk", "ucb-bv1"][: scale(1, 3)])
@pytest.mark.parametrize("begin", [0, scale(150, 400)], ids=["from the start", "later"])
def test_an_arm_that_is_down_gets_one_probe_per_cool_down(policy: str, begin: int) -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **{**TERMS, "policy": policy})
    asks = scale(200, 600)
    down = "a" if begin == 0 else "c"
    issued, failed = traffic(
        campaign, harness, lambda turn: {down} if turn >= begin else (), begin + asks
    )
    assert 1 <= failed[down] <= probes(asks / 10)
    assert failed.total() / (begin + asks) < 0.05
    assert issued.total() - failed.total() >= 0.95 * issued.total()
    assert campaign.audit(full=True).ok


def test_an_arm_that_works_again_is_used_again() -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS)
    traffic(campaign, harness, lambda turn: (), scale(100, 300))
    _, failed = traffic(campaign, harness, lambda turn: {"c"}, scale(100, 300))
    assert failed["c"] <= probes(scale(10, 30))
    issued, failed = traffic(campaign, harness, lambda turn: (), scale(150, 600))
    assert issued["c"] > scale(50, 200)
    assert campaign.status().cooling == ()
    assert campaign.audit(full=True).ok


def test_a_first_cool_down_that_is_longer_than_the_longest_stays_as_it_is() -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS, cooldown=600)
    for _ in range(3):
        campaign.fail(campaign.ask(arms=["c"]), 0)
        assert campaign.status().cooling[0].length == 600
        harness.clock += 600_000
    assert campaign.audit(full=True).ok


@pytest.mark.parametrize("cooldown", [1, 30, None])
def test_an_arm_rests_as_long_as_the_provider_wants(cooldown: int | None) -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **{**TERMS, "cooldown": cooldown})
    length = max(20, cooldown or 0)
    for cost in (0, None, 0):
        campaign.fail(campaign.ask(arms=["c"]), cost, rest=20)
        assert campaign.status().cooling[0].length == length
        harness.clock += 1_000 * length
    with pytest.raises(InvalidInput, match="rest=0: must be a number above 0"):
        campaign.fail(1, 0, rest=0)
    assert campaign.audit(full=True).ok


def test_the_first_of_several_arms_that_is_ready_is_what_the_refusal_names() -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS)
    campaign.fail(campaign.ask(arms=["a"]), 0)
    harness.clock += 400
    campaign.fail(campaign.ask(arms=["b"]), 0)
    with pytest.raises(ArmsCoolingDown) as error:
        campaign.ask(arms=["a", "b"])
    assert error.value.seconds == 0.6
    assert "'a' and 'b'" in str(error.value)
    assert campaign.ask().arm == "c"


def test_how_long_an_arm_is_not_allowed() -> None:
    cool = CoolDown(0, 1_000, 500, 7)
    assert [cool.wait(now) for now in (999, 1_000, 1_499, 1_500)] == [0, 500, 1, 0]
    probed = cool._replace(probe=8, probed=2_000)
    assert [probed.wait(now) for now in (1_999, 2_000, 302_000)] == [0, 500, 0]
    assert cool._replace(length=0).wait(1_200) == 0
