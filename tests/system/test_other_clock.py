"""Every decision that depends on time uses the time in its entry: an audit under another clock
comes to the same.
"""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest

from purse import Campaign, PurseError
from tests.support.machine_base import DAY
from tests.support.soak import scale
from tests.support.storages import MemoryHarness, StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"red": 1, "green": "0.5", "blue": 2},
    "budget": 60,
    "cost_min": "0.1",
    "policy": "exp3.bwk",
    "expires_after": 60,
    "cooldown": 2,
    "reward_within": 30,
    "missing_reward": 0.25,
    "capacity": 4,
}
RENEWED = {"every": "6h", "carry": "all", "horizon": 40}
STEPS = [0, 1, 500, 2_000, 4_000, 20_000, 31_000, 61_000]


def played(harness: StorageHarness, seed: int, more: dict[str, Any]) -> Any:
    """A campaign in which much depends on time: arms that fail, tickets that expire, rewards that
    do not come, periods; now and then the clock goes a day back or forth.
    """
    campaign, rng = harness.create("test", **TERMS, **more), random.Random(seed)
    for turn in range(scale(100, 600)):
        jumps = [DAY, -DAY] if turn > 24 else [DAY]  # the first one ends a period
        harness.clock += rng.choice(jumps if turn % 25 == 24 else STEPS)
        tickets = campaign.tickets(states=("held", "presumed", "settled"))
        ticket = rng.choice(tickets) if tickets else None
        with suppress(PurseError):
            match rng.randrange(9):
                case 0 | 1 | 2 | 3:
                    arms = rng.choice([None, ["red", "blue"], {"blue": 1, "green": "0.25"}])
                    campaign.ask_many(rng.choice([1, 3]), arms=arms)
                case 4 | 5 if ticket:
                    campaign.fail(ticket, "0.1")
                case 6 if ticket:
                    campaign.settle(ticket, "0.3")
                case 7 if ticket:
                    campaign.tell(ticket, rng.random(), "0.3")
                case _:
                    change = rng.choice([campaign.add_arm, campaign.retire_arm])
                    change(rng.choice(["white", "red"]))
    return campaign


@pytest.mark.parametrize("more", [{}, RENEWED], ids=["once", "renewed"])
@pytest.mark.parametrize("seed", range(scale(1, 40)))
def test_an_audit_under_another_clock_decides_the_same(seed: int, more: dict[str, Any]) -> None:
    harness = MemoryHarness()
    campaign = played(harness, seed, more)
    kinds = Counter(
        "missing" if entry.body.get("missing") else entry.kind for entry in campaign.journal()
    )
    assert ("renewed" in kinds) == ("clock" in kinds) == bool(more)
    assert not {"failed", "expired", "settled", "missing", "arm_retired"} - set(kinds), kinds
    found = campaign.audit(full=True)
    assert found.findings == ()
    file = StringIO()
    campaign.export(file)
    for days in (-1, 1, 400):
        other = MemoryHarness()
        other.clock = harness.clock + days * DAY
        file.seek(0)
        copy = Campaign.restore(file, storage=other.storage())
        assert copy.audit(full=True) == found
        other.clock = harness.clock  # a status is one of now
        assert (copy.status().counts, copy.status().purses) == (
            campaign.status().counts,
            campaign.status().purses,
        )
    for days in (-1, 2):  # the campaign itself, from its first entry and from its checkpoint
        harness.clock += days * DAY
        harness.drop_checkpoints("test")
        assert harness.open("test").audit(full=True) == found
        assert harness.open("test").audit() == found
