"""Reports on tickets, whole or in parts: what each state makes of each verb, worked out by hand."""

import math
from typing import Any

import numpy as np
import pytest

from purse import Conflict, InvalidInput
from purse.errors import TicketError
from tests.support import storages
from tests.support.campaigns import TERMS, balance, counts, made, refusal
from tests.support.storages import MemoryHarness

LEARNS = {"policy": "exp3.bwk", "expires_after": 60}
DUPLICATE, CONFLICT = "duplicate", "conflict"
# state -> what leads there from a new ticket
ROADS: dict[str, list[tuple[Any, ...]]] = {
    "held": [],
    "held, rewarded": [("reward", 0.5)],
    "presumed": [("expire",)],
    "settled": [("settle", "0.3")],
    "told": [("tell", 0.5, "0.3")],
    "told, in parts": [("settle", "0.3"), ("reward", 0.5)],
    "held, failed": [("fail",)],
    "presumed, failed": [("fail",), ("expire",)],
    "failed": [("fail", "0.3")],
    "failed, rewarded": [("fail", "0.3"), ("reward", 0.5)],
    "void": [("void",)],
    "void, rewarded": [("void",), ("reward", 0.5)],
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
    ("void", ("tell", 0.5, "0.3"), ("told", "0.3", "0.3")),
    ("held, rewarded", ("tell", 0.5, "0.3"), ("told", "0.3", "0")),
    ("held, rewarded", ("tell", 0.4, "0.3"), CONFLICT),
    ("held", ("settle", "0.3"), ("settled", "0.3", "0")),
    ("held", ("settle", "1.25"), ("settled", "1.25", "0.25")),
    ("held, rewarded", ("settle", "0.3"), ("told", "0.3", "0")),
    ("presumed", ("settle", "0.3"), ("settled", "0.3", "0")),
    ("settled", ("settle", "0.3"), DUPLICATE),
    ("settled", ("settle", "0.4"), CONFLICT),
    ("told", ("settle", "0.3"), DUPLICATE),
    ("told", ("settle", "0.4"), CONFLICT),
    ("told, in parts", ("settle", "0.3"), DUPLICATE),
    ("failed", ("settle", "0.3"), DUPLICATE),
    ("failed", ("settle", "0.4"), CONFLICT),
    ("void", ("settle", "0.3"), ("settled", "0.3", "0.3")),
    ("void, rewarded", ("settle", "0.3"), ("told", "0.3", "0.3")),
    ("held", ("reward", 0.5), ("held", "0", "0")),
    ("held, rewarded", ("reward", 0.5), DUPLICATE),
    ("held, rewarded", ("reward", 0.4), CONFLICT),
    ("presumed", ("reward", 0.5), ("presumed", "0", "0")),
    ("settled", ("reward", 0.5), ("told", "0.3", "0")),
    ("told", ("reward", 0.5), DUPLICATE),
    ("told", ("reward", 0.4), CONFLICT),
    ("failed", ("reward", 0.5), ("failed", "0.3", "0")),
    ("failed, rewarded", ("reward", 0.5), DUPLICATE),
    ("void", ("reward", 0.5), ("void", "0", "0")),
    ("void, rewarded", ("reward", 0.5), DUPLICATE),
    ("void, rewarded", ("reward", 0.4), CONFLICT),
    ("held", ("fail",), ("held", "0", "0")),
    ("held", ("fail", 0), ("failed", "0", "0")),
    ("held", ("fail", "0.3"), ("failed", "0.3", "0")),
    ("held, rewarded", ("fail",), ("held", "0", "0")),
    ("held, failed", ("fail",), DUPLICATE),
    ("held, failed", ("fail", "0.3"), ("failed", "0.3", "0")),
    ("held, failed", ("tell", 0.5, "0.3"), ("told", "0.3", "0")),
    ("held, failed", ("settle", "0.3"), ("settled", "0.3", "0")),
    ("held, failed", ("void",), ("void", "0", "0")),
    ("presumed", ("fail",), ("presumed", "0", "0")),
    ("presumed", ("fail", "0.3"), ("failed", "0.3", "0")),
    ("presumed, failed", ("fail",), DUPLICATE),
    ("presumed, failed", ("fail", "0.3"), ("failed", "0.3", "0")),
    ("settled", ("fail",), CONFLICT),
    ("told", ("fail",), CONFLICT),
    ("failed", ("fail",), DUPLICATE),
    ("void", ("fail",), CONFLICT),
    ("settled", ("fail", "0.3"), CONFLICT),
    ("told", ("fail", "0.3"), CONFLICT),
    ("failed", ("fail", "0.3"), DUPLICATE),
    ("failed", ("fail", "0.4"), CONFLICT),
    ("failed, rewarded", ("fail", "0.3"), DUPLICATE),
    ("void", ("fail", "0.3"), CONFLICT),
    ("held", ("void",), ("void", "0", "0")),
    ("presumed", ("void",), ("void", "0", "0")),
    ("settled", ("void",), CONFLICT),
    ("told", ("void",), CONFLICT),
    ("failed", ("void",), CONFLICT),
    ("void", ("void",), DUPLICATE),
]


def do(harness: MemoryHarness, campaign: Any, ticket: int, step: tuple[Any, ...]) -> Any:
    verb, *arguments = step
    if verb == "expire":
        harness.clock += 61_000
        return campaign.expire()
    return getattr(campaign, verb)(ticket, *arguments)


@pytest.mark.parametrize(
    ("state", "step", "expected"), TABLE, ids=lambda each: str(each).replace(" ", "")
)
def test_every_cell_of_the_table_of_states(
    state: str, step: tuple[Any, ...], expected: Any
) -> None:
    harness = MemoryHarness()
    campaign = made(harness, **LEARNS)
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
        rest = f"{max(0, 1 - float(spent)):g}"
        back = {"held": "0", "presumed": "0", "void": "1"}.get(after, rest)
        back = "0" if state.startswith("void") and after != "void" else back
        pays = step[0] not in ("reward", "void") and step != ("fail",)
        late = state.split(",")[0] in ("presumed", "void") and pays
        assert receipt == (ticket, after, False, late, (spent,), (back,), (overrun,))
        (shown,) = campaign.status().purses
        assert (shown.spent, shown.overrun) == (spent, overrun)
        held = {"held": "1", "presumed": "1"}.get(after, "0")
        assert (shown.held if after == "held" else shown.presumed) == held
        assert campaign.status().counts[after] == 1
    assert harness.open("test").audit(full=True).ok


def test_costs_of_several_resources_by_name_or_in_order() -> None:
    campaign = made(
        arms={"red": [2, 3]}, resources=["euros", "hours"], budget=[10, 20], cost_min=[[1, 0]]
    )
    ticket, failed = campaign.ask_many(2)
    assert campaign.fail(failed, 0).refunded == ("2", "3")  # 0 is that of all resources
    for cost in (1, [1], [1, 1, 1], [[1, 1]]):
        message = refusal(InvalidInput, campaign.tell, ticket, 1, cost)
        assert message == f"cost={cost}: must be one amount for each of the resources euros, hours"
    campaign.settle(ticket, {"hours": "1.5", "euros": "0.5"})
    assert campaign.tell(ticket, 1, ["0.5", 1.5]).spent == ("0.5", "1.5")


def test_a_cost_above_its_maximum_is_recorded_in_full() -> None:
    campaign = made()
    receipt = campaign.tell(campaign.ask(), 1, "2.5")
    assert (receipt.spent, receipt.refunded, receipt.overrun) == (("2.5",), ("0",), ("1.5",))
    assert balance(campaign) == ("2.5", "0", "0", "7.5", "1.5")
    assert counts(campaign) == {"tickets": 1, "told": 1, "overruns": 1}
    alarm, dearer = campaign.status().alarms
    assert (alarm.kind, "1.5" in alarm.text) == ("overrun", True)
    assert (dearer.kind, "holds 2.5" in dearer.text) == ("dearer", True)


def test_the_policy_sees_costs_within_their_bounds() -> None:
    twins = made(policy="exp3.bwk"), made(policy="exp3.bwk")
    for given in (("0", "0.1"), ("0.5", "0.5")):
        for campaign, cost in zip(twins, given, strict=True):
            campaign.tell(campaign.ask(), 1, cost)
        assert twins[0].probabilities() == twins[1].probabilities()
    for campaign, cost in zip(twins, ("5", "1"), strict=True):  # no bound any more
        campaign.tell(campaign.ask(), 1, cost)
    assert twins[0].probabilities() != twins[1].probabilities()


WRONG: list[tuple[str, tuple[Any, ...], str]] = [
    *(("tell", (bad, "0.5"), "reward=") for bad in (-0.1, 1.1, math.nan, math.inf, None, True)),
    *(("tell", (bad, "0.5"), "reward=") for bad in ("much", [1], {"red": 1}, np.ones(1))),
    *(("tell", (0.5, bad), "cost=") for bad in (-0.1, math.nan, math.inf, None, True, 2**63, 1e30)),
    *(("tell", (0.5, bad), "cost=") for bad in ("much", "0.1234567891")),
    *(("settle", (bad,), "cost=") for bad in (-1, "x", [1, 2])),
    *(("reward", (bad,), "reward=") for bad in (1.5, [1, 1])),
    ("fail", (-1,), "cost="),
    ("fail", (0, 7), "reason="),
]


def test_a_report_that_cannot_be_changes_nothing() -> None:
    campaign = made()
    ticket = campaign.ask()
    for verb, given, words in WRONG:
        message = refusal(InvalidInput, getattr(campaign, verb), ticket, *given)
        assert message.startswith(words), (verb, given, message)
    wide = made(reward_range=(0, 100))
    for bad in (math.nan, math.inf, "much", None):
        refusal(InvalidInput, wide.tell, wide.ask(), bad, "0.5")
    assert (campaign.status().entries, counts(campaign)) == (2, {"tickets": 1, "held": 1})


def test_the_same_report_again_gets_the_same_answer_and_another_a_conflict() -> None:
    campaign = made()
    ticket = campaign.ask()
    first = campaign.tell(ticket, 0.5, "0.25")
    for again in (ticket.id, campaign.tickets(states=("told",))[0]):
        assert campaign.tell(again, 0.5, 0.25) == first._replace(duplicate=True)
    for reward, cost in ((0.25, "0.25"), (0.5, "0.250000001")):
        refusal(Conflict, campaign.tell, ticket, reward, cost)
    assert "stands" in refusal(Conflict, campaign.void, ticket)
    rewarded = campaign.ask()
    campaign.reward(rewarded, 0.5)
    assert "ticket 2 was rewarded before with another report: reward 0.5" in refusal(
        Conflict, campaign.tell, rewarded, 1, "0.4"
    )
    campaign.void(rewarded)
    assert balance(campaign) == ("0.25", "0", "0", "9.75", "0")
    assert counts(campaign) == {"tickets": 2, "told": 1, "void": 1, "conflicts": 4}
    conflicts = [entry for entry in campaign.journal() if entry.kind == "conflict"]
    assert [entry.ticket for entry in conflicts] == [1, 1, 1, 2]
    assert conflicts[1].body["report"]["costs"] == [250_000_001]
    assert [alarm.kind for alarm in campaign.status().alarms] == ["conflict"]


def test_a_ticket_that_was_never_issued_is_refused() -> None:
    campaign = made()
    campaign.ask()
    assert "ticket 2" in refusal(TicketError, campaign.tell, 2, 1, 1)
    assert "ticket 2" in refusal(TicketError, campaign.void, 2)
    other = storages.MemoryHarness().create("other", **TERMS).ask()
    for bad in (0, -1, "first", None, True, 2**63, other):
        assert "ticket=" in refusal(InvalidInput, campaign.tell, bad, 1, 1)
        assert "ticket=" in refusal(InvalidInput, campaign.void, bad)
    assert campaign.status().entries == 2


def test_whichever_comes_last_the_money_moves_once() -> None:
    campaign = made()
    first, second = campaign.ask_many(2)
    campaign.settle(first, "0.3")
    campaign.reward(first, 1)
    campaign.reward(second, 1)
    campaign.settle(second, "1.5")
    assert balance(campaign) == ("1.8", "0", "0", "8.2", "0.5")
    assert campaign.audit().ok


def test_nothing_is_learnt_from_what_failed_or_was_void() -> None:
    campaign = made(**LEARNS, cooldown=None)
    before = campaign.probabilities()
    failed, void, late = campaign.ask_many(3)
    campaign.fail(failed, "0.2", reason="429 too many requests")
    campaign.reward(failed, 1)
    campaign.void(void)
    campaign.reward(void, 1)
    campaign.settle(void, "0.2")
    campaign.void(late)
    campaign.tell(late, 1, "0.1")
    assert campaign.probabilities() == before
    assert campaign.status().purses[0].spent == "0.5"
    assert [entry.body["reason"] for entry in campaign.journal() if entry.kind == "failed"] == [
        "429 too many requests"
    ]
    assert campaign.audit(full=True).ok
    campaign.tell(campaign.ask(), 1, "0.1")
    assert campaign.probabilities() != before


def test_a_failure_of_unknown_cost_cools_its_arm_and_keeps_its_hold() -> None:
    harness = MemoryHarness()
    terms = {"budget": 100, "cooldown": 5, "expires_after": 60, "alerts": ["cooling-down"]}
    campaign = made(harness, **terms)
    ticket = campaign.ask("r", arms=["red"])
    campaign.ask_many(20, arms=["red"])  # as many without a reward as make an arm silent
    assert (ticket.id, campaign.fail(ticket, reason="timeout").state) == (1, "held")
    (cooling,) = campaign.status().cooling
    events = [entry.body["rule"] for entry in campaign.journal() if entry.kind == "event"]
    assert events == ["cooling-down"]
    said = refusal(Conflict, campaign.ask, "r", arms=["red"])
    assert "ticket 1, which is failed by now" in said
    harness.clock += 60_000
    assert campaign.expire() == 21
    assert balance(campaign) == ("0", "0", "21", "79", "0")
    receipt = campaign.fail(ticket, "0.3", "the bill")
    assert (receipt.state, receipt.late, receipt.refunded) == ("failed", True, ("0.7",))
    assert balance(campaign) == ("0.3", "0", "20", "79.7", "0")
    assert campaign.status().cooling == (cooling,)  # the second report begins no cool-down
    kinds = [entry.kind for entry in campaign.journal() if entry.ticket == 1]
    assert kinds == ["asked", "broken", "expired", "failed"]
    assert "silent" in [alarm.kind for alarm in campaign.status().alarms]
    assert campaign.audit(full=True).ok


def test_the_reason_of_a_failure_is_kept_in_one_line_and_cut() -> None:
    campaign = made()
    campaign.fail(campaign.ask(), 0, reason="502 Bad Gateway\n<html>" + "x" * 300)
    (entry,) = [each for each in campaign.journal() if each.kind == "failed"]
    assert entry.body["reason"] == "502 Bad Gateway <html>" + "x" * 178


def test_a_cost_with_more_amounts_than_resources_is_refused_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaign = made()
    ticket = campaign.ask()
    read: list[Any] = []
    monkeypatch.setattr("purse.base.amounts.unit_array", lambda _, value: read.append(value))
    said = refusal(InvalidInput, campaign.tell, ticket, 1, [0.001] * 250)
    assert "must be one amount for each of the resources" in said
    assert read == []
