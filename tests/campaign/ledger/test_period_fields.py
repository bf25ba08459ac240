"""What a policy names in `PERIOD` begins again with each period, for all that fold the journal."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import Any

import pytest

from purse import InvalidInput
from purse.campaign.campaign import Campaign
from purse.campaign.run import committer
from purse.testing import check_policy
from tests.support.paths import FRUGAL
from tests.support.storages import MemoryHarness

TERMS: dict[str, Any] = {
    "arms": {"small": "0.1", "large": "0.5", "middle": "0.2"},
    "budget": 20,
    "every": "6h",
    "policy": FRUGAL,
}
PERIOD = 6 * 3_600_000  # ms


def told(campaign: Campaign) -> int:
    """The reports that the policy counts, which begin at 2."""
    campaign.ask()  # it learns what is in the journal
    policy = campaign._local.committer.policy
    assert policy is not None
    return int(policy.state["told"][0])


def report(campaign: Campaign, times: int) -> None:
    for _ in range(times):
        campaign.tell(campaign.ask(), 1, "0.01")


@pytest.mark.parametrize("every", [2, 5_000])
def test_a_period_begins_with_what_init_gives(monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    """Here, in another process, from a checkpoint, in an audit and in a copy."""
    monkeypatch.setattr(committer, "CHECKPOINT_EVERY", every)
    harness = MemoryHarness()
    first = harness.create("test", **TERMS)
    second = harness.open("test")
    report(first, 3)
    late = first.ask()
    assert (told(first), told(second)) == (5, 5)
    harness.clock += PERIOD
    first.tell(late, 1, "0.01")  # it begins the period, and counts in it
    assert (told(first), told(second)) == (3, 3)
    report(second, 4)
    assert (told(first), told(second), told(harness.open("test"))) == (7, 7, 7)
    harness.clock += 3 * PERIOD
    chances = first.probabilities()  # of a period that nothing has begun yet: 2 of 3 arms
    assert chances == {"small": 0.0, "large": 0.0, "middle": 1.0}
    assert second.ask().arm == "middle"
    assert (told(first), told(second)) == (2, 2)
    report(first, 2)
    assert (told(first), told(second), told(harness.open("test"))) == (4, 4, 4)
    policy = first._local.committer.policy
    assert policy.state["rewards"].sum() == 10  # the rest stays
    assert first.audit().findings == ()
    assert first.audit(full=True).findings == ()
    file = io.StringIO()
    first.export(file)
    file.seek(0)
    elsewhere = MemoryHarness()
    elsewhere.clock = harness.clock
    copy = Campaign.restore(file, storage=elsewhere.storage())
    assert told(copy) == 4


def test_the_account_of_the_default_begins_again_with_a_period() -> None:
    """In two processes, and decided again by an audit; rounds pass and masks go on."""
    harness, rng = MemoryHarness(), Random(1)
    campaigns = [harness.create("test", **{**TERMS, "policy": "replan"}, horizon=80, seed=1)]
    campaigns.append(harness.open("test"))
    for turn in range(90):
        campaign = rng.choice(campaigns)
        if turn % 30 == 0:
            harness.clock += PERIOD * (turn > 0)
            campaign.ask()
            policy = campaign._local.committer.policy
            assert [policy.state[name].any() for name in ("paid", "began")] == [False, False]
            assert policy.state["taken"].any() == (turn > 0)
        ticket = campaign.ask(arms=rng.choice([None, ["large"], ["small", "middle"]]))
        if not ticket.skipped:
            campaign.tell(ticket, float(rng.random() < 0.5), "0.1")
    assert campaigns[0].audit(full=True).findings == ()
    assert campaigns[0].probabilities() == campaigns[1].probabilities()
    assert sum(count for _, count in harness.storage().overview("test").head.masks) > 30


def test_names_must_be_those_of_the_state(tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.py"
    for wrong in ('("tell",)', '"told"', '["told"]'):
        faulty.write_text(Path(FRUGAL).read_text().replace('("told",)', wrong))
        with pytest.raises(InvalidInput, match=r"PERIOD is .* must be a tuple of fields of the"):
            check_policy(str(faulty))
