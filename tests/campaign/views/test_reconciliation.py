"""A bill beside the books: what is counted on which day, and which price fits."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from purse import Campaign
from purse.campaign.api.journal import Entry
from purse.campaign.views.reconciliation import Bill, BillLine, Books, reconcile
from tests.support.storages import START, MemoryHarness

DAYS = [str(date(2027, 1, 15) + timedelta(number)) for number in range(9)]  # from `START` on
BEFORE = "2027-01-14"
TERMS: dict[str, Any] = {"arms": {"a": 1}, "budget": 99, "policy": "uniform", "capacity": 2}


def rows(
    campaign: Campaign, billed: dict[tuple[str, str], str], **how: Any
) -> list[tuple[Any, ...]]:
    """Day, name, what the books lack in units, finding and price of each row."""
    books = Books(how.get("zone", "UTC"), how.get("label", ""))
    books.add([*campaign.journal(), *how.get("charges", [])])
    lines = [BillLine(*key, Decimal(amount), is_repeat=False) for key, amount in billed.items()]
    found, _ = reconcile(Bill(lines, how.get("days", DAYS), ""), books, how.get("today", DAYS[-1]))
    return [(row.day, row.name, row.difference, *row[4:6]) for row in found]


def spend(harness: MemoryHarness, campaign: Campaign, costs: list[str]) -> None:
    """A call a day."""
    for cost in costs:
        campaign.tell(campaign.ask(arms=["a"]), 1, cost)
        harness.clock += 86_400_000


@pytest.mark.parametrize(
    ("reported", "billed", "price"),
    [
        (["0.1", "0.2", "0.3"], ["0.15", "0.3", "0.45"], "0.3, 1.5 times 0.2"),
        (["0.1", "0.2", "0.3"], ["0.03", "0.07", "0.10"], "0.066, 0.33 times 0.2"),
        (["0.1", "0.2", "0.3"], ["0.15", "0.3", "0.47"], ""),  # no one factor
        (["0.1", "0.2", "0.3"], ["0.1", "0.3", "0.45"], ""),
        (["0.1"], ["0.15"], ""),  # one day fits any factor
    ],
)
def test_a_price_fits_all_days_up_to_the_rounding_of_the_bill(
    reported: list[str], billed: list[str], price: str
) -> None:
    """0.03, 0.07 and 0.10 are 0.1, 0.2 and 0.3 times a factor, each to half a cent: from 0.25 to
    0.35, from 0.325 to 0.375, and from 0.3167 to 0.35; of two digits 0.33 is the first.
    """
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS)
    spend(harness, campaign, reported)
    bill = {(day, "a"): cost for day, cost in zip(DAYS, billed, strict=False)}
    found = rows(campaign, bill)
    assert {row[-1] for row in found} == {price}


def test_the_books_are_reports_presumed_money_and_charges_on_the_days_of_the_zone() -> None:
    """In Honolulu the campaign begins on the day before."""
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS, expires_after=60)
    campaign.add_arm("b", cost_max="0.5")
    campaign.tell(campaign.ask(arms=["a"], labels={"tenant": "x"}), 1, "0.123456789")
    campaign.ask(arms=["b"], labels={"tenant": "y"})
    harness.clock += 86_400_000
    campaign.expire()
    by_hand = {"amount": [10**9], "labels": {"arm": "a", "tenant": "x"}}
    charges = [Entry(9, START, "charged", "r", None, by_hand)]
    how = {"charges": charges, "zone": "America/New_York"}
    bill = {(DAYS[0], "a"): "1.12", (DAYS[0], "b"): "0.7"}
    assert rows(campaign, bill, **how) == [(DAYS[0], "b", 200_000_000, "missing", "")]
    bill = {(DAYS[0], "x"): "1.13", (DAYS[0], "y"): "0.5", (DAYS[0], "z"): "1"}
    assert rows(campaign, bill, label="tenant", **how) == [
        (DAYS[0], "x", 6_543_211, "missing", ""),
        (DAYS[0], "z", 10**9, "no such name", ""),
    ]
    for today, finding in ((DAYS[0], "not billed"), (BEFORE, "open")):
        west = {"charges": charges, "zone": "Pacific/Honolulu", "today": today}
        assert rows(campaign, {(BEFORE, "a"): "1"}, days=[BEFORE], **west) == [
            (BEFORE, "a", -123_456_789, finding, ""),
            ("all days", "b", -500_000_000, "not on this bill", ""),
        ]
