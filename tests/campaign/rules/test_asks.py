"""Asks: what a ticket holds, which arms it may have, refusals, and repeats of requests."""

import json
import math
from collections import Counter
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from purse import BudgetExhausted, Campaign, Conflict, InvalidInput, PurseError
from purse.campaign.storage.connect import in_memory
from purse.errors import AskRefused, BudgetHeld, HorizonReached, TicketError
from tests.support import storages
from tests.support.campaigns import balance, counts, last_ask, made, refusal
from tests.support.paths import FRUGAL
from tests.support.soak import scale
from tests.support.storages import START

THREE: dict[str, Any] = {
    "arms": {"small": "0.2", "middle": "0.5", "large": 1},
    "budget": 100,
    "policy": "exp3.bwk",
}
EUROS_AND_HOURS: dict[str, Any] = {"resources": ["euros", "hours"], "cost_min": "0.1"}


# tickets


def test_a_ticket_holds_the_most_that_its_arm_may_cost() -> None:
    campaign = made(arms={"red": "1.5"})
    ticket = campaign.ask("first")
    assert json.loads(json.dumps(ticket.as_dict())) == {
        "campaign": "test",
        "id": 1,
        "t": 1,
        "arm": "red",
        "probability": 1.0,
        "held": ["1.5"],
        "state": "held",
        "request_id": "first",
        "asked_at": START / 1000,
        "deadline": START / 1000 + 3600,
    }
    assert not ticket.skipped
    assert balance(campaign) == ("0", "1.5", "0", "8.5", "0")
    assert campaign.tickets() == [ticket]


def test_the_last_of_the_budget_is_held_and_not_one_unit_more() -> None:
    assert made(budget="2.000000000").ask_many(5)[-1].id == 2
    assert len(made(budget="1.999999999").ask_many(5)) == 1


def test_a_round_that_the_policy_lets_pass_holds_nothing() -> None:
    campaign = made(
        policy="bobw-primal-dual:eta=0.5",
        arms={"red": 1},
        cost_min="0.5",
        horizon=40,
        skip=True,
        seed=8,
    )
    tickets: list[Any] = []
    while not tickets or not tickets[-1].skipped:
        tickets.append(campaign.ask())
        if not tickets[-1].skipped:
            campaign.tell(tickets[-1], 1, 1)
    skipped, before = tickets[-1], len(tickets) - 1
    assert (skipped.as_dict()["arm"], skipped.held, skipped.state) == (None, ("0",), "skipped")
    assert skipped.deadline is None
    assert balance(campaign) == (str(before), "0", "0", str(10 - before), "0")
    assert counts(campaign) == {"tickets": before + 1, "told": before, "skipped": 1}
    assert campaign.status().rounds == before + 1
    assert "nothing to tell" in refusal(TicketError, campaign.tell, skipped, 1, 1)
    assert "nothing to void" in refusal(TicketError, campaign.void, skipped)


# the end of the budget, of the rounds and of time


def test_a_refusal_says_whether_waiting_helps() -> None:
    campaign = made(budget="1.5")
    ticket = campaign.ask(arms=["red"])
    message = refusal(BudgetHeld, campaign.ask, arms=["red"])
    assert message == (
        "'red' may cost 1 units and 0.5 is left; 1 is held for open tickets; tell or void them"
    )
    campaign.tell(ticket, 1, "0.6")
    message = refusal(BudgetExhausted, campaign.ask, arms=["red"])
    assert message == "'red' may cost 1 units and 0.9 is left"
    assert campaign.status().entries == 3
    status = campaign.status()
    why = "0.9 units left, and the cheapest arm may cost 1"
    assert (status.status, status.why, status.alarms) == ("exhausted", why, ())


def test_the_resource_that_is_short_is_named() -> None:
    arms = {"red": ["0.6", "0.6"]}
    campaign = made(**EUROS_AND_HOURS, arms=arms, budget=[1, "1.1"])
    campaign.tell(campaign.ask(), 1, ["0.1", "0.6"])
    assert (balance(campaign, 0)[3], balance(campaign, 1)[3]) == ("0.9", "0.5")
    assert "hours" in refusal(BudgetExhausted, campaign.ask)
    campaign.top_up([0, "0.6"])
    campaign.ask()
    assert (balance(campaign, 0)[3], balance(campaign, 1)[3]) == ("0.3", "0.5")
    assert "euros" in refusal(BudgetHeld, campaign.ask)


def test_the_horizon_ends_the_asking_and_not_the_telling() -> None:
    campaign = made(horizon=2)
    tickets = campaign.ask_many(5)
    assert len(tickets) == 2
    message = refusal(HorizonReached, campaign.ask)
    assert message == "all 2 rounds are played"
    once = made(horizon=1, every="day")
    once.ask()
    assert refusal(HorizonReached, once.ask) == "the only round of this period is played"
    assert campaign.tell(tickets[1], 1, 1).state == "told"
    status = campaign.status()
    assert (status.rounds, status.horizon) == (2, 2)
    assert "round 2 of 2" in str(status)


def test_a_hold_that_outlives_its_deadline_is_presumed_spent() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, expires_after=60)
    tickets = campaign.ask_many(3)
    harness.clock += 59_999
    assert (campaign.expire(), campaign.status().overdue) == (0, 0)
    harness.clock += 1
    status = campaign.status()
    assert (status.overdue, [alarm.kind for alarm in status.alarms]) == (3, ["overdue"])
    assert (campaign.expire(), campaign.expire(), campaign.status().overdue) == (3, 0, 0)
    assert balance(campaign) == ("0", "0", "3", "7", "0")
    late = campaign.tell(tickets[0], 1, "0.25")
    assert late[3:] == (True, ("0.25",), ("0.75",), ("0",))
    assert campaign.void(tickets[1]).refunded == ("1",)
    assert balance(campaign) == ("0.25", "0", "1", "8.75", "0")
    assert counts(campaign) == {"tickets": 3, "told": 1, "void": 1, "presumed": 1}
    assert [ticket.state for ticket in campaign.tickets()] == ["presumed"]


def test_an_ask_expires_what_is_due() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, expires_after=60, budget=1, arms={"red": 1})
    campaign.ask()
    harness.clock += 60_000
    assert refusal(BudgetExhausted, campaign.ask) == (
        "'red' may cost 1 units and 0 is left; 1 is presumed spent, for tickets without a report"
    )
    assert balance(campaign) == ("0", "0", "1", "0", "0")
    assert [entry.kind for entry in campaign.journal()] == ["created", "asked", "expired"]


# requests


def test_a_request_is_answered_once() -> None:
    campaign = made()
    first = campaign.ask("one")
    assert campaign.ask("one") == first
    batch = campaign.ask_many(3, "three")
    assert campaign.ask_many(3, "three") == batch
    campaign.tell(batch[0], 1, 1)
    assert [ticket.state for ticket in campaign.ask_many(3, "three")] == ["told", "held", "held"]
    assert balance(campaign) == ("1", "3", "0", "6", "0")
    entries = campaign.status().entries
    for n, request_id in ((2, "one"), (1, "three"), (4, "three")):
        message = refusal(Conflict, campaign.ask_many, n, request_id)
        assert message.startswith(f"request_id={request_id!r} was used before for another request")
    refusal(Conflict, campaign.top_up, 1, "one")
    assert "request_id=''" in refusal(InvalidInput, campaign.ask, "")
    assert campaign.status().entries == entries


def test_a_repeat_does_not_hand_out_tickets_for_which_nothing_is_held() -> None:
    campaign = made(budget=3)
    batch = campaign.ask_many(2, "two")
    campaign.void(batch[0])
    assert [(each.state, each.held) for each in campaign.ask_many(2, "two")] == [
        ("void", ("0",)),
        ("held", ("1",)),
    ]
    campaign.void(batch[1])
    assert refusal(Conflict, campaign.ask_many, 2, "two") == (
        "request_id='two' was answered with ticket 1, which is void by now: nothing is held for "
        "another call; ask with another request_id"
    )
    assert campaign.ticket(1).held == ("0",)
    assert balance(campaign) == ("0", "0", "0", "3", "0")
    failed, void = campaign.ask_many(2, "both")
    campaign.void(void)
    campaign.fail(failed, 0)
    said = refusal(Conflict, campaign.ask_many, 2, "both")
    assert "answered with ticket 3, which is failed by now" in said


def test_a_request_that_was_refused_may_be_repeated() -> None:
    campaign = made(budget=1)
    ticket = campaign.ask("one")
    refusal(BudgetHeld, campaign.ask, "two")
    campaign.void(ticket)
    assert campaign.ask("two").request_id == "two"


# operators


def test_a_top_up_counts_once() -> None:
    campaign = made(budget=1)
    for _ in range(2):
        assert campaign.top_up("2.5", "more").purses[0].budget == "3.5"
    refusal(Conflict, campaign.ask, "more")
    for bad in (math.nan, "much", 2**62):
        assert "amount=" in refusal(InvalidInput, campaign.top_up, bad)
    assert campaign.status().purses[0].budget == "3.5"
    two = made(**EUROS_AND_HOURS, budget=[1, 2])
    purses = two.top_up({"hours": 1, "euros": "0.5"}).purses
    assert [part.budget for part in purses] == ["1.5", "3"]
    assert "'hours'" in refusal(InvalidInput, two.top_up, {"euros": 1})
    assert "'days'" in refusal(InvalidInput, two.top_up, {"euros": 1, "days": 2})


# arms that an ask allows, and what this call may cost


def test_only_what_is_allowed_is_chosen_with_its_probability_under_the_mask() -> None:
    campaign = made(**THREE)
    for turn in range(40):
        arms = [["large", "small"], ["middle"], ["small", "middle", "large"]][turn % 3]
        chances = campaign.probabilities(arms)
        ticket = campaign.ask(arms=arms)
        assert ticket.arm in arms
        assert ticket.probability == chances[ticket.arm]
        assert sum(chances.values()) == pytest.approx(1)
        campaign.tell(ticket, 1, "0.15")
    assert campaign.audit(full=True).ok


def test_a_repeat_may_say_the_same_in_other_words() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, **THREE)
    first = campaign.ask("r", arms={"large": "0.30", "small": 0.1})
    again = harness.open("test")
    assert again.ask("r", arms={"small": "0.1", "large": "0.3"}) == first
    for other in (None, ["large", "small"], {"large": "0.3", "small": "0.2"}, {"large": "0.3"}):
        with pytest.raises(Conflict, match="used before for another request: 1 ticket of some"):
            again.ask("r", arms=other)
    plain = again.ask("p")
    assert harness.open("test").ask("p") == plain
    with pytest.raises(Conflict):
        again.ask("p", arms=["large"])


def test_the_shorter_form_of_a_mask_is_stored() -> None:
    campaign = made(**THREE)
    for arms, mask in (
        (["large"], {"allowed": [2]}),
        (["large", "small"], {"forbidden": [1]}),
        ({"large": "0.3"}, {"allowed": [2], "most": [[2, [300_000_000]]]}),
        (None, None),
    ):
        campaign.ask(arms=arms)
        assert last_ask(campaign).get("mask") == mask


def test_a_mask_that_says_nothing_sensible() -> None:
    campaign = made(**THREE)
    several: list[Any] = [3, 1.5, [["red"]], [{}]]
    for bad in several:
        refusal(InvalidInput, made(capacity=3).ask, arms=bad)
        refusal(InvalidInput, campaign.ask, arms=bad)
    for arms, text in (
        ({}, "must name at least one arm"),
        (7, "must be a list of names"),
        ([1], "unknown arm in arms '1'"),
        ({"large": -1}, "arms['large']=-1: must not be negative"),
        ({"large": "much"}, "arms['large']='much'"),
        ({"large": [1, 1]}, "must be one amount for each of the resources units"),
    ):
        for call in (campaign.ask, campaign.probabilities):
            assert text in refusal(InvalidInput, call, arms=arms)
    assert campaign.status().entries == 1


SKIP_TERMS: dict[str, Any] = {
    "arms": {"small": "0.1", "large": "0.5", "middle": "0.2"},
    "budget": 20,
    "horizon": 500,
    "policy": FRUGAL,
}


def skipping(**changes: Any) -> Campaign:
    return Campaign.create("test", storage=in_memory(), **{**SKIP_TERMS, **changes})


def test_rounds_may_pass_where_there_is_a_horizon() -> None:
    campaign = skipping(skip=True)
    passed = campaign.ask(arms=["large"])
    assert (passed.skipped, passed.held) == (True, ("0",))
    words = "ticket 1 skipped its round: there is no arm to pull; see ticket.skipped"
    assert refusal(TicketError, lambda: passed.arm) == words
    with pytest.raises(TicketError), campaign.spending(arms=["large"]) as call:
        call.tell(1.0, call.arm)
    assert campaign.ask().arm == "middle"
    status = campaign.status()
    assert (status.rounds, status.counts["skipped"]) == (3, 2)
    assert "tickets: 1 held, 2 skipped" in str(status)


def test_rounds_pass_only_if_that_was_asked_for() -> None:
    """The default of stored terms stays that of older journals."""
    campaign = skipping()
    assert campaign.ask(arms=["large"]).arm == "large"
    assert campaign.terms.as_dict()["skip"] is False
    assert (skipping(skip=True).terms.policy, campaign.terms.policy) == (FRUGAL, FRUGAL + ":skip=0")
    for told in (True, False):  # without a horizon it says nothing
        endless = replace(skipping(horizon=None).terms, skip=told)
        assert "skip" not in skipping(horizon=None).terms.as_dict()
        assert (endless.may_skip, endless.policy) == (False, FRUGAL)
        assert endless.checked() == endless


@pytest.mark.parametrize(
    ("policy", "horizon"),
    [(FRUGAL, 500), (FRUGAL, None), ("lagrange-bwk", 500), ("bobw-primal-dual", 500),
     ("lin-ucb.price", 500), ("replan", 500)],
)  # fmt: skip
def test_no_round_passes_where_none_may(policy: str, horizon: int | None) -> None:
    """The ticket has the probability that was foreseen, and audits and copies agree."""
    campaign = skipping(policy=policy, horizon=horizon, budget=6)
    free = skipping(policy=policy, horizon=horizon, skip=horizon is not None, budget=6)
    forced = horizon is not None and policy in (FRUGAL, "replan")
    assert campaign.terms.policy == policy + ":skip=0" * forced
    skipped = 0
    masks = [["large"], None, ["large", "middle"], ["middle"], ["large"]]
    for turn in range(scale(60, 200)):
        arms = masks[turn % 5]
        try:
            chances = campaign.probabilities(arms=arms)
            ticket = campaign.ask(arms=arms)
        except AskRefused:
            break
        assert ticket.arm in (arms or SKIP_TERMS["arms"])
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
    campaign, free = (
        skipping(policy="bobw-primal-dual"),
        skipping(policy="bobw-primal-dual", skip=True),
    )
    open_chances, chances = free.probabilities(), campaign.probabilities()
    passes = 1 - sum(open_chances.values())
    assert passes > 0.1
    assert chances == {**open_chances, "small": pytest.approx(open_chances["small"] + passes)}
    arms = ["large", "middle"]
    assert campaign.probabilities(arms=arms)["middle"] > campaign.probabilities(arms=arms)["large"]


def test_with_exploration_too() -> None:
    campaign = skipping(explore=0.2)
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
        ({"policy": f"{FRUGAL}:skip=1"}, "must not have the option skip unless skip is True"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(InvalidInput, lambda: skipping(**changes))


def test_terms_are_the_same_when_they_are_given_again() -> None:
    storage = in_memory()
    for _ in range(2):
        campaign = Campaign.create("test", storage=storage, exist_ok=True, **SKIP_TERMS)
        assert campaign.terms.policy == f"{FRUGAL}:skip=0"


BAND = 4.5  # standard errors
EXPLORED: dict[str, Any] = {
    "arms": {"small": 1, "middle": 2, "large": 8},
    "cost_min": "0.5",
    "budget": 1000,
    "policy": "fixed:arm=0",
}


def chances(campaign: Campaign, arms: Any = None) -> list[float]:
    return list(campaign.probabilities(arms).values())


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        # a share of the money: the cheapest arm has 0.06 / 3, one that is twice as dear half of it
        (None, [0.02 + 0.9675, 0.01, 0.0025]),
        # without its own arm the policy takes any
        (["middle", "large"], [0, 0.03 + 0.9625 / 2, 0.0075 + 0.9625 / 2]),
        (["large"], [0, 0, 1]),
        # this call of the large arm may cost no more than one of the small arm
        ({"small": 1, "large": 1}, [0.03 + 0.94, 0, 0.03]),
        ({"small": "0.5", "large": 4}, [0.03 + 0.96625, 0, 0.00375]),
    ],
)
def test_the_next_round_has_the_chances_of_its_mask_and_of_its_maxima(
    arms: Any, expected: list[float]
) -> None:
    campaign = made(**EXPLORED, explore=0.06)
    assert chances(campaign, arms) == pytest.approx(expected, abs=1e-12)
    assert sum(chances(campaign, arms)) == pytest.approx(1, abs=1e-12)


def test_with_several_resources_the_scarcest_counts() -> None:
    campaign = made(
        arms={"red": [2, "0.1"], "green": [1, "0.4"]},  # 2% of the euros; 4% of the hours
        resources=["euros", "hours"],
        budget=[100, 10],
        cost_min=["0.1", "0.1"],
        policy="fixed:arm=0",
        explore=0.1,
    )
    assert chances(campaign) == pytest.approx([0.05 + 0.925, 0.025], abs=1e-12)
    campaign.top_up({"euros": 0, "hours": 30})  # now 1% of the hours, as much as of the euros
    assert chances(campaign) == pytest.approx([0.025 + 0.925, 0.05], abs=1e-12)


@pytest.mark.parametrize("mask", [None, {"small": 1, "large": 4}])
def test_arms_are_drawn_as_often_as_their_chances_say(mask: Any) -> None:
    rounds = scale(2_000, 40_000)
    campaign = made(**{**EXPLORED, "budget": 8 * rounds, "explore": 0.3, "seed": 11})
    expected = campaign.probabilities(mask)
    drawn: Counter[str | None] = Counter()
    for _ in range(rounds // 20):
        tickets = campaign.ask_many(20, arms=mask)
        drawn.update(ticket.arm for ticket in tickets)
        campaign.tell_many([(ticket, 1, "0.5") for ticket in tickets])
    for arm, chance in expected.items():
        error = sqrt(chance * (1 - chance) / rounds)
        assert abs(drawn[arm] / rounds - chance) <= BAND * error, arm


def test_another_seed_explores_in_other_rounds_and_the_same_seed_in_the_same() -> None:
    orders = []
    for seed in (1, 1, 2):
        campaign = made(**{**EXPLORED, "explore": 0.5, "seed": seed})
        orders.append([ticket.arm for ticket in campaign.ask_many(50)])
    assert orders[0] == orders[1] != orders[2]


# sessions


def told(campaign: Campaign, **wishes: Any) -> Any:
    ticket = campaign.ask(**wishes)
    campaign.tell(ticket, 0.5, "0.1")
    return ticket


def test_a_session_keeps_its_arm_and_the_probability_of_its_draw(
    harness: storages.StorageHarness, tmp_path: Path
) -> None:
    campaign = made(harness, budget=100, policy="uniform")
    firsts = {name: told(campaign, session=name) for name in "abcdefgh"}
    assert {ticket.arm for ticket in firsts.values()} == {"red", "green"}
    for name, first in [*firsts.items()] * 2:
        again = told(campaign, session=name)
        assert (again.arm, again.probability) == (first.arm, first.probability)
    for ticket in campaign.ask_many(3, session="a"):
        assert ticket.arm == firsts["a"].arm
        campaign.void(ticket)
    assert sum("kept" in entry.body for entry in campaign.journal()) == 19
    assert campaign.audit().ok  # from the first entry, and then from there
    told(campaign, session="b")
    assert campaign.audit().ok
    with campaign.spending(session="c") as call:
        assert call.arm == firsts["c"].arm
        call.tell(0.5, "0.1")
    campaign.ask("x", session="a")
    assert "another" in refusal(Conflict, campaign.ask, "x", session="b")
    assert "session=''" in refusal(InvalidInput, campaign.ask, session="")
    campaign.export(tmp_path / "c.jsonl")
    text = (tmp_path / "c.jsonl").read_text()
    copy = Campaign.restore(tmp_path / "c.jsonl", storage=in_memory())
    assert copy.audit(full=True).ok
    (tmp_path / "f.jsonl").write_text(text.replace('"kept":true,', "", 1))
    with pytest.raises(PurseError, match="contradicts"):
        Campaign.restore(tmp_path / "f.jsonl", storage=in_memory())


@pytest.mark.parametrize("reason", ["not allowed", "failed", "does not fit", "too late"])
def test_a_session_lets_go_of_an_arm_that_may_not_be_chosen(reason: str) -> None:
    harness = storages.MemoryHarness()
    arms = {"red": 5, "green": 1}
    campaign = made(harness, arms=arms, budget=8, policy="uniform", cooldown=60)
    ticket = campaign.ask(session="s", arms=["red"])
    wishes: dict[str, Any] = {}
    if reason == "not allowed":
        wishes["arms"] = ["green"]
    elif reason == "failed":
        campaign.fail(ticket, 0)
    elif reason == "too late":
        campaign.void(ticket)
        harness.clock += 3_600_001
    again = campaign.ask(session="s", **wishes)
    assert reason == "too late" or again.arm == "green"
    assert not any("kept" in entry.body for entry in campaign.journal())
    assert campaign.audit(full=True).ok
