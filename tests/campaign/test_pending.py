"""Policies that count open tickets, in campaigns: the same choices as in memory."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis.stateful import invariant

from purse import AskRefused, InvalidInput, Policy
from purse.campaign.api.results import CampaignTicket
from purse.campaign.campaign import Campaign
from purse.campaign.terms.terms import Terms
from purse.lab import Ticket
from purse.policies import replan
from tests.support.machine_verbs import CampaignMachine
from tests.support.soak import SOAK, scale
from tests.support.storages import MemoryHarness, StorageHarness
from tests.system.test_campaign_machine import run

ARMS = ["red", "green", "blue", "white", "black"]


TERMS: dict[str, Any] = {
    "arms": dict(zip(ARMS, [1, "0.5", "0.8", 1, "0.3"], strict=True)),
    "budget": 40,
    "cost_min": "0.01",
    "policy": "replan",
    "seed": 3,
}


SEVERAL: dict[str, Any] = {
    **TERMS,
    "budget": [40, 30],
    "arms": dict(
        zip(ARMS, [[1, 1], ["0.5", 1], ["0.8", "0.2"], [1, "0.3"], ["0.3", "0.9"]], strict=True)
    ),
    "horizon": 150,
}


def made(harness: StorageHarness | None = None, name: str = "test", **changes: Any) -> Campaign:
    terms = {**TERMS, **changes}
    campaign: Campaign = (harness or MemoryHarness()).create(name, **terms)
    return campaign


def in_memory(terms: dict[str, Any]) -> Policy:
    facts = {name: value for name, value in terms.items() if name not in ("arms", "resources")}
    facts |= {"cost_max": list(terms["arms"].values()), "stop": "fit"}
    return Policy(n_arms=len(ARMS), n_resources=len(terms.get("resources", "1")), **facts)


def open_of(campaign: Campaign) -> list[int]:
    return list(campaign.storage.overview(campaign.name).head.open)


def foreseen(campaign: Campaign) -> list[float]:
    """The chances of all arms; none where no arm may be chosen."""
    try:
        return list(campaign.probabilities().values())
    except AskRefused:
        return []


def chosen(tickets: list[CampaignTicket]) -> list[tuple[Any, ...]]:
    return [(ticket.t, ticket.arm, ticket.probability, ticket.held) for ticket in tickets]


def pulls(tickets: list[Any]) -> list[int]:
    arms = [ticket.arm for ticket in tickets]
    return [arms.count(arm) for arm in (ARMS if isinstance(arms[0], str) else range(len(ARMS)))]


@pytest.mark.parametrize(
    "terms",
    [TERMS, {**SEVERAL, "resources": ["euros", "hours"]}],
    ids=["one resource", "two resources and a horizon"],
)
def test_a_campaign_chooses_as_a_policy_in_memory_does(terms: dict[str, Any]) -> None:
    """With reports in any order and with voids; every few turns from another process."""
    harness, live, rng = MemoryHarness(), in_memory(terms), random.Random(1)
    campaign = made(harness, **terms)
    out: list[tuple[Ticket, CampaignTicket]] = []
    most = 0
    for turn in range(scale(180, 300)):
        if turn % 7 == 0:
            campaign = harness.open("test")
        if rng.random() < 0.6:
            try:
                expected = live.ask()
            except AskRefused:
                with pytest.raises(AskRefused):
                    campaign.ask()
            else:
                ticket = campaign.ask()
                assert (ticket.t, ticket.probability) == (expected.t, expected.probability)
                assert ticket.arm == ARMS[expected.arm]
                out.append((expected, ticket))
        elif out:
            expected, ticket = out.pop(rng.randrange(len(out)))
            if rng.random() < 0.2:
                live.void(expected)
                campaign.void(ticket)
            else:
                reward = float(rng.random() < 0.2 * expected.arm)
                cost = [f"{0.01 + rng.random() * float(held) * 0.9:.4f}" for held in ticket.held]
                live.tell(expected, reward, cost)
                campaign.tell(ticket, reward, cost)
        assert open_of(campaign) == ([0] * 5 if not out else pulls([pair[0] for pair in out]))
        most = max(most, *open_of(campaign))
        if turn % 10 == 0 and (chances := foreseen(campaign)):
            assert chances == live.probabilities().tolist()
    assert live.t > 60
    assert most > 2
    assert campaign.audit().findings == ()


def test_asks_before_any_report_spread_over_the_arms() -> None:
    assert pulls(made(arms=dict.fromkeys(ARMS, 1)).ask_many(10)) == [2] * 5


def test_one_ask_for_ten_is_ten_asks_for_one_also_in_another_process() -> None:
    whole, harness = made(), MemoryHarness()
    made(harness)
    singles = [harness.open("test").ask() for _ in range(10)]
    assert chosen(whole.ask_many(10)) == chosen(singles)
    assert whole.audit().ok
    assert harness.open("test").audit().ok


def test_terms_say_whether_the_policy_counts() -> None:
    terms, others = made().terms, made(policy="uniform").terms
    assert (terms.pending, others.pending) == (True, False)
    assert terms.as_dict()["pending"] is True
    for each in (terms, others):
        assert Terms.from_dict(json.loads(json.dumps(each.as_dict()))).checked() == each
    for wrong in (replace(others, pending=True), replace(terms, pending=1)):
        with pytest.raises(InvalidInput, match="not the terms of a campaign"):
            wrong.checked()


def test_a_journal_without_a_count_stays_without(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(replan, "PENDING", False)
        before = made()
        tickets = before.ask_many(6)
        before.tell(tickets[5], 1, "0.2")
    file = io.StringIO()
    before.export(file)
    assert "pending" not in file.getvalue()
    file.seek(0)
    campaign = Campaign.restore(file, storage=MemoryHarness().storage())
    assert (campaign.terms.pending, campaign.terms.restored_from) == (False, before.terms.id)
    assert campaign.audit() == before.audit()
    assert campaign.audit().ok
    assert chosen([campaign.ask()]) == chosen([before.ask()])
    assert open_of(campaign) == []


class CountingMachine(CampaignMachine):
    """The machine of all campaigns, with the count."""

    @invariant()
    def counts_agree(self) -> None:
        assert open_of(self.campaign) == self.ledger.open()


@pytest.mark.parametrize("kind", ["memory", "sqlite"] if SOAK else ["memory"])
def test_no_sequence_of_calls_breaks_the_count(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    run(CountingMachine, make_harness(kind), "replan", 2)
