"""Policies that see the masks of earlier asks, in campaigns: counted by hand, and as in memory."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis.stateful import invariant

from purse import AskRefused, Policy
from purse.campaign.campaign import Campaign
from purse.campaign.ledger import masks
from purse.campaign.storage.connect import in_memory
from purse.campaign.terms.arms import Arms
from tests.engine.test_rules import space_saving
from tests.support.campaigns import exported
from tests.support.machine_verbs import CampaignMachine
from tests.support.paths import FRUGAL, MASKS_SEEN
from tests.support.soak import SOAK, scale
from tests.support.storages import MemoryHarness, StorageHarness
from tests.system.test_campaign_machine import run

ARMS = ["red", "green", "blue", "white", "black"]
TERMS: dict[str, Any] = {
    "arms": dict(zip(ARMS, [1, "0.5", "0.8", 1, "0.3"], strict=True)),
    "budget": 30,
    "cost_min": "0.01",
    "policy": MASKS_SEEN,
    "seed": 3,
}


def made(harness: StorageHarness | None = None, **changes: Any) -> Campaign:
    campaign: Campaign = (harness or MemoryHarness()).create("test", **{**TERMS, **changes})
    return campaign


def counts_of(campaign: Campaign) -> list[tuple[tuple[bool, ...], int]]:
    """Masks and their counts, row by row: the ask of round t counts t times."""
    head = campaign.storage.overview(campaign.name).head
    rows, n_arms = head.masks, Arms(campaign.terms, head.arms).n_places
    table, seen = np.zeros((16, n_arms), np.bool_), np.zeros(16, np.int64)
    masks.write(rows, [], table, seen)
    return [
        (tuple(map(bool, mask)), count) for mask, count in zip(table, seen.tolist(), strict=True)
    ]


def named(campaign: Campaign) -> list[tuple[str, int]]:
    """The same in words, without free rows: the first letters of the arms."""
    return [
        ("".join(name[0] if up else "-" for name, up in zip("RGBWK", mask, strict=False)), count)
        for mask, count in counts_of(campaign)
        if count
    ]


def test_masks_are_counted_as_they_were_asked_for() -> None:
    """Named arms, retired ones, those that cool down, and not those that lack money."""
    harness = MemoryHarness()
    campaign = made(harness, budget="2.9", capacity=6)
    assert campaign.terms.masks
    campaign.void(campaign.ask())
    assert named(campaign) == [("RGBWK", 1)]  # the sixth place has no arm
    campaign.add_arm("olive", cost_max="0.2")
    campaign.void(campaign.ask())
    assert named(campaign) == []  # both allowed all arms that are there, so no mask
    campaign.retire_arm("olive")
    assert named(campaign) == [("RGBWK", 1 + 2)]
    for _ in range(2):
        ticket = campaign.ask(arms=["green", "red"])
        campaign.void(ticket)
    assert named(campaign) == [("RGBWK", 1 + 2), ("RG---", 3 + 4)]
    ticket = campaign.ask(arms=["green"])
    campaign.fail(ticket, cost=0)
    campaign.void(campaign.ask(arms=["green", "red"]))  # green cools down
    assert named(campaign)[2:] == [("-G---", 5), ("R----", 6)]
    harness.clock += 1_000
    spent = campaign.ask(arms=["white"])
    campaign.tell(spent, 1, 1)
    spent = campaign.ask(arms=["red"])
    campaign.tell(spent, 1, 1)
    campaign.void(campaign.ask(arms=["red", "blue"]))  # 0.9 is left: red costs too much
    assert named(campaign)[3:] == [("R----", 6 + 8), ("---W-", 7), ("R-B--", 9)]
    before = named(campaign)
    with pytest.raises(AskRefused):
        campaign.ask(arms=["red"])
    campaign.probabilities(arms=["black"])
    assert named(campaign) == before
    assert campaign.audit().findings == ()


def test_a_silent_arm_that_is_left_out_is_masked() -> None:
    campaign = made(arms={"red": "0.01", "green": "0.01"}, cooldown=None)
    campaign.ask_many(20, arms=["red"])
    campaign.ask()
    assert [count for _, count in counts_of(campaign)[:2]] == [20 * 21 // 2, 21]
    assert counts_of(campaign)[1][0] == (False, True)


@pytest.mark.parametrize(
    ("policy", "every", "horizon"),
    [(MASKS_SEEN, None, None), (MASKS_SEEN, "6h", None), ("replan", None, 800)],
)
def test_a_campaign_sees_and_chooses_as_a_policy_in_memory_does(
    policy: str, every: str | None, horizon: int | None
) -> None:
    """With 26 masks, reports in any order, voids and periods; often from another process."""
    harness, rng = MemoryHarness(), random.Random(2)
    terms = {"policy": policy, "budget": 100 if horizon else 1_000, "horizon": horizon}
    campaign = made(harness, every=every, skip=horizon is not None, **terms)
    facts = {**terms, "seed": TERMS["seed"], "cost_min": TERMS["cost_min"]}
    live = Policy(n_arms=5, cost_max=list(TERMS["arms"].values()), stop="fit", **facts)
    out: list[tuple[Any, Any]] = []
    asked: list[tuple[bool, ...]] = []
    for turn in range(scale(150, 400)):
        if turn % 7 == 0:
            campaign = harness.open("test")
        if turn % 40 == 39 and every:
            harness.clock += 6 * 3_600_000
        allowed = sorted({*rng.choices(range(5), k=rng.choice([1, 2, 9])), rng.randrange(2)})
        expected = live.ask(allowed)
        ticket = campaign.ask(arms=[ARMS[arm] for arm in allowed])
        assert ticket.skipped == expected.skipped, turn
        asked.append(tuple(arm in allowed for arm in range(5)))
        if not ticket.skipped:
            chosen = ARMS[expected.arm], expected.probability
            assert (ticket.arm, ticket.probability) == chosen, turn
            out.append((expected, ticket))
        if out and rng.random() < 0.6:
            expected, ticket = out.pop(rng.randrange(len(out)))
            if rng.random() < 0.2:
                live.void(expected)
                campaign.void(ticket)
            else:
                reward = float(rng.random() < 0.2 * expected.arm)
                live.tell(expected, reward, "0.25")
                campaign.tell(ticket, reward, "0.25")
        if turn % 25 == 0:
            assert list(campaign.probabilities().values()) == live.probabilities().tolist()
    assert counts_of(campaign) == space_saving(asked)
    assert len(set(asked)) > 17
    assert (campaign.status().counts["skipped"] > 0) == (policy == "replan")
    assert campaign.audit(full=True).findings == ()
    check_copy(campaign)


def check_copy(campaign: Campaign) -> None:
    """A copy of the export has the same counts, and goes on alike."""
    storage = in_memory()
    storage.now = campaign.storage.now
    copy = Campaign.restore(exported(campaign), storage=storage)
    assert counts_of(copy) == counts_of(campaign)
    assert copy.ask(arms=ARMS[:3])[1:4] == campaign.ask(arms=ARMS[:3])[1:4]


def test_nothing_is_counted_for_a_policy_that_does_not_look() -> None:
    campaign = made(policy="uniform")
    campaign.ask(arms=["red"])
    assert "masks" not in campaign.terms.as_dict()
    assert '"masks"' not in campaign.storage.overview("test").levels[-1].text


def test_a_forged_count_is_found() -> None:
    campaign = made()
    campaign.ask(arms=["red"])
    head = campaign.storage.overview("test").levels[-1].text
    assert '["1",1]' in head
    with campaign.storage.db.writing() as session:
        forged = head.replace('["1",1]', '["1",2]')
        session.write([("UPDATE purse_levels SET head = ?", [(forged,)])])
    assert any("the head of" in finding for finding in campaign.audit(full=True).findings)


class CountingMachine(CampaignMachine):
    """The machine of all campaigns, with the counts."""

    @invariant()
    def counts_agree(self) -> None:
        rows = space_saving(self.ledger.masks, self.ledger.places)  # fewer than 16: none is lost
        assert sorted(counts_of(self.campaign)) == sorted(rows)


@pytest.mark.parametrize("kind", ["memory", "sqlite"] if SOAK else ["memory"])
def test_no_sequence_of_calls_breaks_the_counts(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    run(CountingMachine, make_harness(kind), FRUGAL, 4)
