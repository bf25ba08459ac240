"""A policy learns again when an arm costs more than it can know, or when an arm was added."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from purse import Campaign, InvalidInput
from purse.campaign.run import teacher
from purse.campaign.run.learner import Learner, learn_all
from tests.support.campaigns import made
from tests.support.storages import MemoryHarness, StorageHarness

POLICIES = ("replan", "exp3++.bwk", "uniform", "primal-dual-bwk")


def handed_over(campaign: Any) -> list[int]:
    """The entries with which another policy took over."""
    return [entry.seq for entry in campaign.journal() if entry.kind == "handed_over"]


def taught(campaign: Any) -> list[list[Any]]:
    """What the policy in charge knows of arms that the terms do not say."""
    rows: list[list[Any]] = campaign.storage.level(campaign.name)[-1].head.taught
    return rows


def until(condition: Callable[[], bool]) -> None:
    """Wait for another thread."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("policy", POLICIES)
def test_an_arm_without_a_place_joins_and_is_pulled(policy: str) -> None:
    campaign = made(policy=policy, budget=200, cost_min=None)
    for _ in range(20):
        campaign.tell(campaign.ask(), 0.1, "0.9")
    campaign.add_arm("blue", cost_max="0.5")
    arms = set()
    for _ in range(60):
        ticket = campaign.ask()
        arms.add(ticket.arm)
        campaign.tell(ticket, 1 if ticket.arm == "blue" else 0.1, ticket.held[0])
    assert "blue" in arms
    assert len(handed_over(campaign)) == 1
    assert taught(campaign) == [[2, [1_000_000], [10**9]]]  # the bounds of any other arm
    assert campaign.audit().findings == ()


def test_a_dearer_model_and_a_cheaper_price_need_no_ceiling() -> None:
    campaign = made(budget=100)
    campaign.set_arm("red", cost_max=3)
    assert campaign.ask(arms=["red"]).held == ("3",)
    assert taught(campaign) == [[0, [100_000_000], [4 * 10**9]]]  # 1 doubled until it covers 3
    campaign.set_arm("red", cost_max="0.05")
    assert campaign.ask(arms=["red"]).held == ("0.05",)
    assert taught(campaign) == [[0, [50_000_000], [10**9]]]
    campaign.set_arm("red", cost_min="0.1", cost_max=1)
    campaign.ask()
    assert taught(campaign) == []
    assert len(handed_over(campaign)) == 3
    with pytest.raises(InvalidInput, match="cost_min=2, cost_max=1 units"):
        campaign.set_arm("red", cost_min=2, cost_max=1)
    with pytest.raises(InvalidInput, match="cost_min=0: must be positive"):
        campaign.set_arm("red", cost_min=0)
    assert campaign.audit().findings == ()


def test_what_is_set_back_is_learnt_as_what_is_possible() -> None:
    """100 was typed for 0.10; set back, the policy is the one that was told of the most, 1."""
    wrong, right = made(budget=1000, policy="exp3++.bwk"), made(budget=1000, policy="exp3++.bwk")
    for campaign, cost in ((wrong, 100), (right, 1)):
        for number in range(30):
            ticket = campaign.ask(arms=["red" if number % 2 else "green"])
            campaign.tell(ticket, 0.5, cost if number == 7 else "0.1")
            if number == 20:
                campaign.set_arm("red", cost_max=1)
    assert [wrong.ask().probability for _ in range(5)] == [
        right.ask().probability for _ in range(5)
    ]
    assert wrong.audit().findings == right.audit().findings == ()


def test_a_long_journal_is_learnt_beside_the_asks(
    harness: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The policy of before plays on until the next one has learnt, in this process and in others;
    then one entry says so.
    """
    monkeypatch.setattr(teacher, "_FEW", 10)
    waits: list[bool] = []
    campaign = made(harness, budget=1000, policy="exp3++.bwk")
    other = Campaign.open("test", storage=harness.storage())
    for _ in range(20):
        campaign.tell(campaign.ask(), 0.5, "0.5")
    other.ask()

    def slowly(*values: Any) -> Learner:
        until(lambda: bool(waits))
        return learn_all(*values)

    monkeypatch.setattr(teacher, "learn_all", slowly)
    campaign.tell(campaign.ask(arms=["red"]), 0.5, 2)
    for each in (campaign, other, campaign):
        assert each.ask(arms=["red"]).held == ("2",)  # the hold is that of the bill at once
    assert handed_over(campaign) == taught(campaign) == []
    waits.append(True)
    until(lambda: bool(campaign.ask() and handed_over(campaign)))
    assert taught(campaign) == [[0, [100_000_000], [2 * 10**9]]]
    for _ in range(3):
        other.ask()
    assert len(handed_over(campaign)) == 1
    again = Campaign.open("test", storage=harness.storage())
    assert again.probabilities() == other.probabilities() == campaign.probabilities()
    assert campaign.audit().findings == ()


def test_an_arm_is_asked_for_once_the_policy_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teacher, "_FEW", 0)
    go: list[bool] = []

    def slowly(*values: Any) -> Learner:
        until(lambda: bool(go))
        return learn_all(*values)

    monkeypatch.setattr(teacher, "learn_all", slowly)
    campaign = made(MemoryHarness(), budget=100)
    campaign.add_arm("blue", cost_max=1)
    assert {campaign.ask().arm for _ in range(20)} == {"red", "green"}
    with pytest.raises(Exception, match="the policy is learning about these arms: ask again"):
        campaign.ask(arms=["blue"])
    go.append(True)
    until(lambda: bool(campaign.ask() and handed_over(campaign)))
    assert campaign.ask(arms=["blue"]).arm == "blue"
    assert campaign.audit().findings == ()
