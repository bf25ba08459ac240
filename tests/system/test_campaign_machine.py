"""Random campaigns, in every kind of storage and over HTTP: held against the reference ledger after
every step, and against an audit under another clock; and the faults that these machines have found.
"""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from purse import Campaign, Conflict, PurseError
from purse.campaign.run import audit
from tests.support.campaigns import SEES, made
from tests.support.machine_base import DAY, INITIAL, UNIFORM
from tests.support.machine_tree import PeriodMachine, PeriodTreeMachine, TreeMachine
from tests.support.machine_verbs import CampaignMachine
from tests.support.soak import scale
from tests.support.storages import MemoryHarness, StorageHarness


def run(machine: type[CampaignMachine], harness: StorageHarness, policy: str, part: int) -> None:
    """A machine in a storage, with one part of its examples."""
    # what goes wrong in one harness mostly does in the quick one, too
    phases = [Phase.generate, Phase.shrink] if harness.quick else [Phase.generate]
    rules = settings(
        max_examples=scale(max(1, harness.examples // part), 20 * harness.examples // part),
        stateful_step_count=scale(30, 60),
        deadline=None,
        derandomize=True,
        database=None,
        phases=phases,
    )
    run_state_machine_as_test(
        type("Machine", (machine,), {"harness": harness, "policy": policy}), settings=rules
    )


KINDS = ("memory", "sqlite", "postgres", "http")
MACHINES: list[tuple[type[CampaignMachine], str, int, int, tuple[str, ...]]] = [
    # a machine, its policy, its part of the examples in memory and elsewhere, and the storages
    (CampaignMachine, UNIFORM, 1, 2, KINDS),
    (CampaignMachine, INITIAL, 2, 4, KINDS),
    (CampaignMachine, SEES, 2, 4, KINDS[:2]),
    (TreeMachine, UNIFORM, 5, 6, KINDS),
    (PeriodMachine, UNIFORM, 5, 6, KINDS),
    (PeriodTreeMachine, UNIFORM, 5, 6, KINDS[:3]),
]


@pytest.mark.parametrize(
    ("machine", "policy", "part", "kind"),
    [
        pytest.param(machine, policy, in_memory if kind == "memory" else elsewhere, kind)
        for machine, policy, in_memory, elsewhere, kinds in MACHINES
        for kind in kinds
    ],
)
def test_no_sequence_of_calls_breaks_the_books(
    make_harness: Callable[[str], StorageHarness],
    machine: type[CampaignMachine],
    policy: str,
    part: int,
    kind: str,
) -> None:
    run(machine, make_harness(kind), policy, part)


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


def test_a_void_ticket_that_is_settled_is_open_once() -> None:
    """It was closed by the void, is open again until its reward comes, and then closed."""
    campaign = made(policy="replan")
    ticket = campaign.ask()
    seen = []
    for act in (
        lambda: campaign.void(ticket),
        lambda: campaign.settle(ticket, "0.5"),
        lambda: campaign.reward(ticket, 1),
    ):
        act()
        seen.append(sum(campaign.storage.level("test")[-1].head.open))
    assert seen == [0, 1, 0]
    assert campaign.audit().ok


def test_a_reward_outside_the_range_is_counted_once() -> None:
    campaign = made(reward_range=(0, 10))
    for order in ("tell", "reward first", "cost first"):
        ticket = campaign.ask()
        if order == "tell":
            campaign.tell(ticket, 20, "0.5")
        elif order == "reward first":
            campaign.reward(ticket, 20)
            campaign.settle(ticket, "0.5")
        else:
            campaign.settle(ticket, "0.5")
            campaign.reward(ticket, 20)
    assert campaign.status().counts["outside_range"] == 3


def test_an_audit_puts_a_void_ticket_back_that_was_settled_long_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its deadline was another one then, and its reward was not there."""
    monkeypatch.setattr(audit, "_PAGE_SIZE", 2)
    harness = MemoryHarness()
    campaign = made(harness, expires_after=3600, reward_within=60, missing_reward=0)
    ticket = campaign.ask()
    campaign.void(ticket)
    for _ in range(6):
        campaign.tell(campaign.ask(), 1, "0.1")
    campaign.settle(ticket, "0.2")
    harness.clock += 60_000
    assert campaign.expire() == 1
    with pytest.raises(Conflict):
        campaign.reward(ticket, 1)
    for _ in range(6):
        campaign.tell(campaign.ask(), 1, "0.1")
    assert campaign.audit(full=True).findings == ()


def test_the_time_of_an_entry_is_read_under_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waited for the lock has not the time of before: another may have begun a cool-down."""
    harness = MemoryHarness()
    campaign = made(harness)
    change = campaign.storage.change

    def waits(*arguments: Any) -> None:
        harness.clock += 500
        change(*arguments)

    monkeypatch.setattr(campaign.storage, "change", waits)
    assert campaign.ask().asked_at == harness.clock / 1000
