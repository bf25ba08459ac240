"""Costs that come now and rewards that come later, or never: the table of states, cell by cell."""

from __future__ import annotations

from typing import Any

import pytest

from purse import Campaign, Conflict, InvalidInput, Policy
from tests.support.storages import StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 1},
    "budget": 10,
    "cost_min": "0.1",
    "policy": "exp3.bwk",
    "expires_after": 60,
}
DUPLICATE, CONFLICT = "duplicate", "conflict"
# state -> what leads there from a new ticket
ROADS: dict[str, list[tuple[Any, ...]]] = {
    "held": [],
    "held, rewarded": [("reward", 0.5)],
    "presumed": [("expire",)],
    "settled": [("settle", "0.3")],
    "told": [("tell", 0.5, "0.3")],
    "failed": [("fail", "0.3")],
    "void": [("void",)],
}
# state, verb -> the state after it and what is spent and overrun of it; or that it repeats, or not
TABLE: list[tuple[str, tuple[Any, ...], Any]] = [
    ("held", ("tell", 0.5, "0.3"), ("told", "0.3", "0")),
    ("presumed", ("tell", 0.5, "0.3"), ("told", "0.3", "0")),
    ("settled", ("tell", 0.5, "0.3"), ("told", "0.3", "0")),
    ("settled", ("tell", 0.5, "0.4"), CONFLICT),
    ("told", ("tell", 0.5, "0.3"), DUPLICATE),
    ("told", ("tell", 0.4, "0.3"), CONFLICT),
    ("failed", ("tell", 0.5, "0.3"), CONFLICT),
    ("void", ("tell", 0.5, "0.3"), ("told", "0", "0.3")),
    ("held, rewarded", ("tell", 0.5, "0.3"), ("told", "0.3", "0")),
    ("held, rewarded", ("tell", 0.4, "0.3"), CONFLICT),
    ("held", ("settle", "0.3"), ("settled", "0.3", "0")),
    ("held", ("settle", "1.25"), ("settled", "1", "0.25")),
    ("held, rewarded", ("settle", "0.3"), ("told", "0.3", "0")),
    ("presumed", ("settle", "0.3"), ("settled", "0.3", "0")),
    ("settled", ("settle", "0.3"), DUPLICATE),
    ("settled", ("settle", "0.4"), CONFLICT),
    ("told", ("settle", "0.3"), DUPLICATE),
    ("told", ("settle", "0.4"), CONFLICT),
    ("failed", ("settle", "0.3"), DUPLICATE),
    ("failed", ("settle", "0.4"), CONFLICT),
    ("void", ("settle", "0.3"), ("settled", "0", "0.3")),
    ("held", ("reward", 0.5), ("held", "0", "0")),
    ("held, rewarded", ("reward", 0.5), DUPLICATE),
    ("held, rewarded", ("reward", 0.4), CONFLICT),
    ("presumed", ("reward", 0.5), ("presumed", "0", "0")),
    ("settled", ("reward", 0.5), ("told", "0.3", "0")),
    ("told", ("reward", 0.5), DUPLICATE),
    ("told", ("reward", 0.4), CONFLICT),
    ("failed", ("reward", 0.5), ("failed", "0.3", "0")),
    ("void", ("reward", 0.5), ("void", "0", "0")),
    ("held", ("fail",), ("failed", "0", "0")),
    ("held", ("fail", "0.3"), ("failed", "0.3", "0")),
    ("presumed", ("fail", "0.3"), ("failed", "0.3", "0")),
    ("settled", ("fail", "0.3"), CONFLICT),
    ("told", ("fail", "0.3"), CONFLICT),
    ("failed", ("fail", "0.3"), DUPLICATE),
    ("failed", ("fail", "0.4"), CONFLICT),
    ("void", ("fail", "0.3"), CONFLICT),
    ("held", ("void",), ("void", "0", "0")),
    ("presumed", ("void",), ("void", "0", "0")),
    ("settled", ("void",), CONFLICT),
    ("told", ("void",), CONFLICT),
    ("failed", ("void",), CONFLICT),
    ("void", ("void",), DUPLICATE),
]


def do(harness: StorageHarness, campaign: Campaign, ticket: int, step: tuple[Any, ...]) -> Any:
    verb, *arguments = step
    if verb == "expire":
        harness.clock += 61_000
        return campaign.expire()
    return getattr(campaign, verb)(ticket, *arguments)


@pytest.mark.parametrize(
    ("state", "step", "expected"), TABLE, ids=lambda each: str(each).replace(" ", "")
)
@pytest.mark.parametrize("kind", ["memory", "sqlite"])  # the rules are the same everywhere
def test_every_cell_of_the_table_of_states(
    make_harness: Any, kind: str, state: str, step: tuple[Any, ...], expected: Any
) -> None:
    name, harness = "c", make_harness(kind)
    campaign = harness.create(name, **TERMS)
    ticket = campaign.ask().id
    for road in ROADS[state]:
        do(harness, campaign, ticket, road)
    before = campaign.status()
    if expected == CONFLICT:
        with pytest.raises(Conflict, match="the first report stands"):
            do(harness, campaign, ticket, step)
        after = campaign.status()
        assert after.purses == before.purses
        assert after.counts == {**before.counts, "conflicts": 1}
    elif expected == DUPLICATE:
        receipt = do(harness, campaign, ticket, step)
        assert (receipt.duplicate, receipt.state) == (True, state.split(",")[0])
        assert campaign.status() == before
    else:
        receipt = do(harness, campaign, ticket, step)
        after, spent, overrun = expected
        assert (receipt.duplicate, receipt.state) == (False, after)
        assert (receipt.spent, receipt.overrun) == ((spent,), (overrun,))
        (purse,) = campaign.status().purses
        assert (purse.spent, purse.overrun) == (spent, overrun)
        held = {"held": "1", "presumed": "1"}.get(after, "0")
        assert (purse.held if after == "held" else purse.presumed) == held
        assert campaign.status().counts[after] == 1
    assert harness.open(name).audit(full=True).ok


def test_a_reward_that_comes_a_day_later_is_learnt_with_its_own_probability(
    harness: StorageHarness,
) -> None:
    campaign = harness.create("c", **{**TERMS, "expires_after": None})
    policy = Policy("exp3.bwk", n_arms=2, budget=10, cost_min="0.1", cost_max=1)
    late, twin = campaign.ask(), policy.ask()
    campaign.settle(late, "0.3")
    assert campaign.status().purses[0].left == "9.7"
    for reward in (1, 0, 1):
        ticket, other = campaign.ask(), policy.ask()
        assert campaign.terms.arms[other.arm] == ticket.arm
        campaign.tell(ticket, reward, "0.5")
        policy.tell(other, reward, "0.5")
    harness.clock += 86_400_000
    assert campaign.reward(late, 1).state == "told"
    policy.tell(twin, 1, "0.3")
    assert list(campaign.probabilities().values()) == policy.probabilities().tolist()
    assert campaign.audit().ok


@pytest.mark.parametrize("last", ["reward", "settle", "tell"])
def test_whichever_comes_last_the_policy_learns_the_same(
    harness: StorageHarness, last: str
) -> None:
    campaign = harness.create("c", **TERMS)
    ticket = campaign.ask()
    if last == "reward":
        campaign.settle(ticket, "0.3")
        campaign.reward(ticket, 0.75)
    elif last == "settle":
        campaign.reward(ticket, 0.75)
        campaign.settle(ticket, "0.3")
    else:
        campaign.tell(ticket, 0.75, "0.3")
    twin = harness.create("twin", **TERMS)
    twin.tell(twin.ask(), 0.75, "0.3")
    assert campaign.probabilities() == twin.probabilities()
    assert harness.open("c").probabilities() == twin.probabilities()


def test_whichever_comes_last_the_money_moves_once(harness: StorageHarness) -> None:
    campaign = harness.create("c", **TERMS)
    first, second = campaign.ask_many(2)
    campaign.settle(first, "0.3")
    campaign.reward(first, 1)
    campaign.reward(second, 1)
    campaign.settle(second, "1.5")
    (purse,) = campaign.status().purses
    assert (purse.spent, purse.held, purse.overrun) == ("1.3", "0", "0.5")
    assert campaign.audit().ok


def test_nothing_is_learnt_from_what_failed_or_was_void(harness: StorageHarness) -> None:
    campaign = harness.create("c", **TERMS, cooldown=None)
    before = campaign.probabilities()
    failed, void = campaign.ask_many(2)
    campaign.fail(failed, "0.2", reason="429 too many requests")
    campaign.reward(failed, 1)
    campaign.void(void)
    campaign.reward(void, 1)
    campaign.settle(void, "0.2")
    assert campaign.probabilities() == before
    assert campaign.status().purses[0].spent == "0.2"
    assert [entry.body["reason"] for entry in campaign.journal() if entry.kind == "failed"] == [
        "429 too many requests"
    ]
    assert campaign.audit(full=True).ok


def test_a_call_that_failed_may_cost_nothing_and_is_counted(harness: StorageHarness) -> None:
    campaign = harness.create("c", **TERMS, cooldown=None)
    campaign.fail(campaign.ask())
    campaign.settle(campaign.ask(), "0.5")
    status = campaign.status()
    assert status.alarms == ()
    assert "tickets: 1 settled, 1 failed" in str(status)


def test_an_arm_owes_an_initial_pull_that_failed_again(harness: StorageHarness) -> None:
    campaign = harness.create("c", **{**TERMS, "policy": "ucb-bv1"}, cooldown=None)
    first = campaign.ask()
    campaign.fail(first)
    assert campaign.ask().arm == first.arm
    assert campaign.audit().ok


def test_parts_of_several_resources(harness: StorageHarness) -> None:
    campaign = harness.create(
        "c",
        arms={key: [1, 100] for key in "abc"},
        resources=["USD", "tokens"],
        budget=[10, 1000],
        cost_min=[["0.1", 0]] * 3,
        policy="uniform",
    )
    first, second = campaign.ask_many(2)
    campaign.settle(first, {"tokens": 11, "USD": "0.3"})
    assert campaign.reward(first, 1).spent == ("0.3", "11")
    assert campaign.fail(second).refunded == ("1", "100")
    assert campaign.audit().ok


def test_what_cannot_be_changes_nothing(harness: StorageHarness) -> None:
    campaign = harness.create("c", **TERMS)
    ticket = campaign.ask()
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("settle", (-1,)),
        ("settle", ("x",)),
        ("settle", ([1, 2],)),
        ("reward", (1.5,)),
        ("reward", ([1, 1],)),
        ("fail", (-1,)),
        ("fail", (0, 7)),
    ]
    for verb, arguments in calls:
        with pytest.raises(InvalidInput):
            getattr(campaign, verb)(ticket, *arguments)
        assert campaign.status().entries == 2, (verb, arguments)


def test_the_reason_of_a_failure_is_kept_in_one_line_and_cut(harness: StorageHarness) -> None:
    campaign = harness.create("c", **TERMS)
    campaign.fail(campaign.ask(), reason="502 Bad Gateway\n<html>" + "x" * 300)
    (entry,) = [each for each in campaign.journal() if each.kind == "failed"]
    assert entry.body["reason"] == "502 Bad Gateway <html>" + "x" * 178


def test_repeats_of_reports_on_failed_and_void_tickets(harness: StorageHarness) -> None:
    campaign = harness.create("c", **TERMS)
    failed, void, settled = campaign.ask_many(3, "r")
    campaign.fail(failed, "0.2")
    campaign.reward(failed, 0.5)
    campaign.void(void)
    campaign.reward(void, 0.25)
    campaign.settle(settled, "0.3")
    campaign.reward(settled, 1)
    assert campaign.fail(failed, "0.2").duplicate
    assert campaign.reward(failed, 0.5).duplicate
    assert campaign.reward(void, 0.25).duplicate
    with pytest.raises(Conflict):
        campaign.reward(void, 0.5)
    assert campaign.settle(void, "0.1").overrun == ("0.1",)
    assert campaign.settle(settled, "0.3").duplicate
    for audit in (campaign.audit(), campaign.audit(full=True)):
        assert audit.ok, audit.findings
