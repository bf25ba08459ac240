"""What is left at the end of a period, and what comes back from it later."""

from __future__ import annotations

from typing import Any

import pytest

from purse import InvalidInput
from purse.base import amounts
from purse.campaign.campaign import Campaign
from purse.campaign.history import History
from purse.campaign.period import Period
from purse.campaign.terms import Terms
from purse.errors import BudgetHeld, HorizonReached
from tests.support.campaigns import made, purse, refusal
from tests.support.storages import MemoryHarness

HOUR = 3_600_000  # ms


def begun(harness: MemoryHarness, **changes: Any) -> Campaign:
    """A campaign of 10 every 6 hours, each call of which holds 1."""
    return made(harness, **{"every": "6h", "expires_after": None, **changes})


def period(campaign: Campaign) -> Any:
    found = campaign.status().period
    assert found is not None
    return found


def is_whole(campaign: Campaign) -> bool:
    found = campaign.audit(full=True)
    assert found.findings == ()
    assert found.notes == ()
    return found.ok


@pytest.mark.parametrize(
    ("carry", "left", "carried"), [("none", "10", "0"), ("all", "19.5", "9.5")]
)
def test_what_is_left_is_dropped_or_kept(carry: str, left: str, carried: str) -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry=carry)
    campaign.tell(campaign.ask(), 1, "0.5")
    harness.clock += 6 * HOUR
    assert purse(campaign) == ("0.5", "0", "0", left, "0")
    assert campaign.status().entries == 3  # nobody has made it yet
    campaign.ask()
    now = period(campaign)
    assert (now.number, now.allowance, now.carried, now.spent) == (2, ("10",), (carried,), ("0",))
    assert campaign.status().entries == 5
    assert is_whole(campaign)


@pytest.mark.parametrize(
    ("carry", "left", "carried"), [("none", "10", "0"), ("all", "19.5", "9.5")]
)
@pytest.mark.parametrize("verb", ["tell", "settle", "fail"])
def test_a_refund_of_an_ended_period_is_carried_over_like_what_was_left(
    carry: str, left: str, carried: str, verb: str
) -> None:
    """9 was left, 1 was held, and 0.5 of it comes back."""
    harness = MemoryHarness()
    campaign = begun(harness, carry=carry)
    ticket = campaign.ask()
    harness.clock += 6 * HOUR
    if verb == "tell":
        receipt = campaign.tell(ticket, 1, "0.5")
    else:
        receipt = campaign.settle(ticket, "0.5") if verb == "settle" else campaign.fail(ticket, 0.5)
    assert (receipt.spent, receipt.refunded) == (("0.5",), ("0.5",))
    assert purse(campaign) == ("0.5", "0", "0", left, "0")
    assert (period(campaign).carried, period(campaign).spent) == ((carried,), ("0",))
    assert is_whole(campaign)


@pytest.mark.parametrize(("carry", "left"), [("none", "10"), ("all", "20")])
def test_so_is_a_hold_that_is_voided(carry: str, left: str) -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry=carry)
    ticket = campaign.ask()
    harness.clock += 6 * HOUR
    campaign.void(ticket)
    assert purse(campaign) == ("0", "0", "0", left, "0")
    assert is_whole(campaign)


def test_what_is_presumed_spent_was_spent_in_its_period_and_may_come_back() -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry="all", expires_after=3600)
    ticket = campaign.ask()
    harness.clock += 7 * HOUR
    campaign.expire()
    assert purse(campaign) == ("0", "0", "1", "19", "0")
    assert period(campaign).spent == ("0",)
    campaign.tell(ticket, 1, "0.5")
    assert purse(campaign) == ("0.5", "0", "0", "19.5", "0")
    assert (period(campaign).spent, period(campaign).carried) == (("0",), ("9.5",))
    harness.clock += 6 * HOUR
    campaign.tell(campaign.ask(), 1, 1)
    assert period(campaign).spent == ("1",)
    assert is_whole(campaign)


def test_a_hold_of_this_period_gives_all_back() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    harness.clock += 6 * HOUR
    ticket = campaign.ask()
    assert period(campaign).spent == ("0",)
    campaign.tell(ticket, 1, "0.25")
    assert purse(campaign) == ("0.25", "0", "0", "9.75", "0")
    assert period(campaign).spent == ("0.25",)


def test_no_more_than_the_allowance_is_held_in_a_period() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    for number in range(1, 4):
        assert len(campaign.ask_many(20)) == 10
        with pytest.raises(BudgetHeld):
            campaign.ask()
        assert period(campaign).number == number
        harness.clock += 6 * HOUR
    assert purse(campaign)[1] == "30"  # nobody has reported anything
    assert is_whole(campaign)


def test_top_ups_are_money_of_their_period() -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry="none")
    campaign.top_up(5)
    assert purse(campaign)[3] == "15"
    harness.clock += 6 * HOUR
    assert purse(campaign)[3] == "10"


def test_each_resource_is_carried_over_by_itself() -> None:
    harness = MemoryHarness()
    changes: dict[str, Any] = {"resources": ["USD", "tokens"], "budget": [10, 100]}
    changes["arms"] = {"red": [1, 50], "green": [1, 50]}
    campaign = begun(harness, **changes, cost_min=None, carry="all")
    ticket = campaign.ask()
    harness.clock += 6 * HOUR
    campaign.tell(ticket, 1, [1, 45])
    status = campaign.status()
    assert [each.left for each in status.purses] == ["19", "155"]
    assert period(campaign).carry == "all"
    assert period(campaign).carried == ("9", "55")
    assert is_whole(campaign)


def test_the_budget_stays_within_what_can_be_counted() -> None:
    most = amounts.LARGEST // amounts.UNIT
    harness = MemoryHarness()
    campaign = begun(harness, budget=most - 1, carry="all")
    harness.clock += 12 * HOUR
    campaign.ask()
    assert amounts.to_units("budget", campaign.status().purses[0].budget) == amounts.LARGEST
    assert is_whole(campaign)


def test_the_horizon_is_that_of_a_period_and_rounds_keep_their_numbers() -> None:
    harness = MemoryHarness()
    campaign = begun(harness, horizon=3)
    for number in (1, 2, 3):
        rounds = [campaign.ask().t for _ in range(3)]
        assert rounds == [3 * number - 2, 3 * number - 1, 3 * number]
        assert "in this period" in refusal(HorizonReached, campaign.ask)
        assert period(campaign).rounds == 3
        harness.clock += 6 * HOUR
    assert "round 9, 0 of 3 in this period" in str(campaign.status())
    assert is_whole(campaign)


def test_random_draws_never_come_again() -> None:
    """Those of a campaign with periods are those of one without."""
    once, harness = made(budget=100), MemoryHarness()
    campaign, arms = begun(harness), []
    for _ in range(4):
        arms += [ticket.arm for ticket in campaign.ask_many(10)]
        harness.clock += 6 * HOUR
    assert arms == [ticket.arm for ticket in once.ask_many(40)]


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("carry", {"carry": "some"}),
        ("carry", {"carry": 4}),
        ("carry", {"every": None, "carry": "all"}),
        ("time_zone", {"every": None, "time_zone": "Europe/Berlin"}),
    ],
)
def test_refuses_terms_that_make_no_sense(field: str, changes: dict[str, Any]) -> None:
    harness = MemoryHarness()
    assert refusal(InvalidInput, begun, harness, **changes).startswith(f"{field}=")
    assert harness.storage().names() == []


def test_terms_without_periods_are_written_as_before() -> None:
    facts = made().terms.as_dict()
    assert not {"every", "time_zone", "carry", "first_end", "tz"} & set(facts)


def test_terms_with_periods_come_back_from_their_journal() -> None:
    terms = begun(MemoryHarness(), carry="all", time_zone="Asia/Tokyo").terms
    assert Terms.from_dict(terms.as_dict()).checked() == terms


def test_a_record_of_a_period_is_a_list_in_the_head() -> None:
    campaign = begun(MemoryHarness())
    head = campaign.storage.overview("test").head
    assert Period(*head.period).number == 1
    assert "period" not in made().storage.overview("test").head.to_json()


@pytest.mark.parametrize("carry", ["none", "all"])
def test_the_history_follows_a_budget_that_goes_up_and_down(carry: str) -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry=carry, cooldown=None)
    for number in range(4):
        tickets = campaign.ask_many(3)
        harness.clock += 6 * HOUR
        campaign.tell(tickets[0], 1, "0.5")
        campaign.void(tickets[1])
        campaign.fail(tickets[2], "0.25")
        history = History(campaign.terms)
        history.fold(campaign.journal())
        shown, purses = campaign.status().purses[0], history.as_dict()["purses"][0]
        for field in ("budget", "spent", "held", "presumed", "left"):
            assert purses[field][-1] == getattr(shown, field), (number, field)
