"""`purse campaign reconcile` and `purse account reconcile`: a made-up month of bills."""

import csv
import json
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from purse import Account, Campaign
from purse.campaign.api.journal import Entry
from purse.campaign.budget import Budget
from tests.support.cli import Command, complaint
from tests.support.paths import ROOT
from tests.support.storages import SqliteHarness

FIRST = datetime(2024, 3, 1, tzinfo=UTC)
TERMS: dict[str, Any] = {
    "arms": {"small": "0.01", "large": "0.4", "wrong": "0.1"},
    "budget": 500,
    "resources": ["USD"],
    "policy": "uniform",
}
FOCUS = ["ChargePeriodStart", "ChargePeriodEnd", "ResourceName", "BilledCost", "BillingCurrency"]
Charges = Callable[[type[Budget[Any]], str], list[Entry]]
FACTOR = Decimal("2.5")  # by which the calls of one arm are dearer than what is reported


class Month(NamedTuple):
    """A bill, and what is wrong with it."""

    lines: list[list[str]]
    missing: dict[tuple[str, str], Decimal]  # what was billed and not reported
    wrong: dict[tuple[str, str], Decimal]  # what was reported at a wrong price


def month(harness: SqliteHarness, campaign: Campaign, seed: int = 55) -> Month:
    """Calls on 30 days, three of which are not reported, and an arm with a wrong price; the last
    line of the bill stands there twice.
    """
    rng = Random(seed)
    lost = [(number, rng.choice(["small", "large"])) for number in rng.sample(range(30), 3)]
    bill = Month([], {}, {})
    for number in range(30):
        begin, end = (FIRST + timedelta(days) for days in (number, number + 1))
        harness.clock = int(begin.timestamp() * 1000) + rng.randrange(86_000_000)
        for arm, most in (("small", 10_000), ("large", 400_000), ("wrong", 100_000)):
            key = begin.date().isoformat(), arm
            costs = [Decimal(rng.randrange(1000, most)) / 1_000_000 for _ in range(3)]
            for ticket, cost in zip(campaign.ask_many(2, arms=[arm]), costs[1:], strict=True):
                campaign.tell(ticket, 1, cost)
            if (number, arm) in lost:
                bill.missing[key] = costs[0]
            else:
                campaign.tell(campaign.ask(arms=[arm]), 1, costs[0])
            billed = sum(costs, Decimal(0))
            if arm == "wrong":
                bill.wrong[key] = billed * (FACTOR - 1)
                billed *= FACTOR
            bill.lines.append([begin.isoformat(), end.isoformat(), arm, str(billed), "USD"])
    bill.lines.append(bill.lines[-1])
    return bill


def written(path: Path, lines: list[list[str]], head: list[str] = FOCUS) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *lines])


@pytest.fixture
def harness(tmp_path: Path) -> SqliteHarness:
    return SqliteHarness(tmp_path / "purse.db")


@pytest.fixture
def charges(harness: SqliteHarness) -> Charges:
    def entries(of: type[Budget[Any]], name: str) -> list[Entry]:
        journal = of.open(name, storage=harness.storage()).journal()
        return [entry for entry in journal if entry.kind == "charged"]

    return entries


def reconciled(command: Command, line: str, code: int) -> tuple[list[dict[str, str]], Any]:
    """The rows that the command prints, and the total."""
    found, out, _ = command(f"{line} --json")
    assert found == code, out
    answer = json.loads(out)
    return answer["rows"], answer["total"]


def test_a_month_is_reconciled_to_the_cent(
    command: Command, harness: SqliteHarness, tmp_path: Path, charges: Charges
) -> None:
    """Three missing costs, a wrong price and a double line; booked once; a corrected bill books the
    rest, down again, too.
    """
    campaign = harness.create("c", **TERMS)
    lines, missing, wrong = month(harness, campaign)
    written(tmp_path / "bill.csv", lines)
    line = "campaign reconcile c bill.csv"
    rows, total = reconciled(command, line, 1)
    by_finding = {
        finding: {
            (row["day"], row["name"]): Decimal(row["difference"])
            for row in rows
            if row["finding"] == finding
        }
        for finding in {row["finding"] for row in rows}
    }
    assert by_finding == {
        "missing": missing,
        "mispriced": wrong,
        "repeated": {("2024-03-30", "wrong"): Decimal(lines[-1][3])},
    }
    assert {row["price"].partition(", ")[2].split()[0] for row in rows if row["price"]} == {"2.5"}
    spent = Decimal(campaign.status().purses[0].spent)
    assert Decimal(total["booked"]) == spent
    assert Decimal(total["billed"]) == sum(Decimal(each[3]) for each in lines[:-1])
    assert Decimal(total["difference"]) == sum([*missing.values(), *wrong.values()])
    assert reconciled(command, f"{line} --book", 0)[0] == rows
    booked = sum(entry.body["amount"][0] for entry in charges(Campaign, "c"))
    assert booked == int(Decimal(total["difference"]) * 10**9)
    for again in (line, f"{line} --book"):
        rows, total = reconciled(command, again, 0)
        assert [row["finding"] for row in rows] == ["repeated"]
        assert total["difference"] == "0"
    head, cost = lines[0][:3], Decimal(lines[0][3])
    for more in (1, 0, 1):  # a corrected bill, a withdrawn correction, and the same again
        written(tmp_path / "bill.csv", [[*head, str(cost + more), "USD"]])
        reconciled(command, f"{line} --book", 0)
    last = charges(Campaign, "c")[-3:]
    assert [entry.body["amount"] for entry in last] == [[10**9], [-(10**9)], [10**9]]


def test_a_booked_month_passes_the_audit_on_all_levels(
    command: Command, harness: SqliteHarness, tmp_path: Path, charges: Charges
) -> None:
    """Money above a hold is in the books already, and a second run books nothing."""
    harness.account("top", budget=1000, resources=["USD"])
    campaign = harness.create("c", **TERMS, account="top")
    bill = month(harness, campaign)
    campaign.tell(campaign.ask(arms=["large"]), 1, "3.21")  # it may cost 0.4
    last = next(line for line in bill.lines[::-1] if line[2] == "large")
    last[3] = str(Decimal(last[3]) + Decimal("3.21"))
    written(tmp_path / "bill.csv", bill.lines)
    billed = sum(Decimal(line[3]) for line in bill.lines[:-1])
    for _ in range(2):
        reconciled(command, "campaign reconcile c bill.csv --book", 0)
        assert len(charges(Campaign, "c")) == len(bill.missing) + len(bill.wrong)
        assert charges(Account, "top") == []
        assert reconciled(command, "account reconcile top bill.csv", 0)[1]["difference"] == "0"
        for line in ("campaign audit c", "account audit top"):
            assert "all agree with the journal" in command(line)[1]
    for level in (Campaign.open("c"), Account.open("top")):
        assert Decimal(level.status().purses[0].spent) == billed


def test_what_is_open_or_no_arm_is_shown_and_not_booked(
    command: Command, harness: SqliteHarness, tmp_path: Path, charges: Charges
) -> None:
    campaign = harness.create("c", **TERMS)
    harness.clock = int(FIRST.timestamp() * 1000)
    campaign.tell(campaign.ask(arms=["large"]), 1, "0.25")
    campaign.tell(campaign.ask(arms=["wrong"]), 1, "0.05")
    campaign.ask(arms=["small"])
    today = datetime.now(UTC).date().isoformat()
    lines = [["2024-03-01", arm, "0.30"] for arm in ("large", "small", "gpt", "judge")]
    written(tmp_path / "bill.csv", [*lines, [today, "large", "7"]], ["Date", "arm", "cost"])
    line = "campaign reconcile c bill.csv --column day=Date --arm judge=judge --arm gpt=wrong"
    rows, total = reconciled(command, f"{line} --book", 0)
    shown = {(row["day"], row["name"]): (row["difference"], row["finding"]) for row in rows}
    assert shown == {
        ("2024-03-01", "large"): ("0.05", "missing"),
        ("2024-03-01", "small"): ("0.3", "open"),
        ("2024-03-01", "wrong"): ("0.25", "missing"),
        ("2024-03-01", "judge"): ("0.3", "missing"),
        (today, "large"): ("7", "open"),
    }
    assert total["difference"] == "0.6"
    line = "campaign reconcile c bill.csv --column day=Date"
    rows, _ = reconciled(command, line, 0)  # gpt and judge are nobody's now
    shown = {(row["day"], row["name"]): (row["difference"], row["finding"]) for row in rows}
    assert shown["2024-03-01", "gpt"] == ("0.3", "no such name")
    assert shown["all days", "wrong"] == ("-0.05", "not on this bill")


def test_an_account_counts_all_campaigns_below_it_and_labels_are_compared(
    command: Command, harness: SqliteHarness, tmp_path: Path, charges: Charges
) -> None:
    harness.clock = int(FIRST.timestamp() * 1000)
    harness.account("top", budget=99, resources=["USD", "tokens"])
    for name in ("c1", "c2"):
        arms = {"a": {"USD": 1, "tokens": 9}}
        terms = {"arms": arms, "budget": [9, 99], "account": "top", "policy": "uniform"}
        campaign = harness.create(name, **terms)
        campaign.tell(campaign.ask(labels={"tenant": name}), 1, ["0.5", 3])
    head = ["day", "arm", "cost", "currency"]
    written(tmp_path / "a.csv", [["2024-03-01", "a", "0.75", "usd"]], head)
    rows, _ = reconciled(command, "account reconcile top a.csv --book", 0)
    assert [(row["booked"], row["difference"], row["finding"]) for row in rows] == [
        ("1", "-0.25", "not billed")
    ]
    words = "a.csv --label tenant --arm a=c1 --book"
    for line, differences in (("campaign reconcile c1", ["0.25"]), ("account reconcile top", [])):
        rows, _ = reconciled(command, f"{line} {words}", 0)
        assert [row["difference"] for row in rows if row["name"] == "c1"] == differences
    for of, name, amount, labels in (
        (Account, "top", -250_000_000, None),
        (Campaign, "c1", 250_000_000, {"tenant": "c1"}),
    ):
        (entry,) = charges(of, name)
        assert (entry.body["amount"], entry.body.get("labels")) == ([amount, 0], labels)
    assert reconciled(command, "account reconcile top a.csv", 0)[0] == []
    (tmp_path / "a.csv").write_text((tmp_path / "a.csv").read_text().replace("usd", "eur"))
    said = complaint(command, "account reconcile top a.csv")
    assert said == "purse: currency='EUR': must be one of what is spent: USD, tokens\n"


def test_a_campaign_on_a_server_is_read_through_it(
    command: Command, address: str, tmp_path: Path
) -> None:
    campaign = Campaign.create("c", **TERMS, storage=address)
    campaign.tell(campaign.ask(arms=["large"]), 1, "0.25")
    today = datetime.now(UTC).date()
    lines = [[str(today + timedelta(number)), "large", "0.5"] for number in range(-2, 3)]
    written(tmp_path / "bill.csv", lines, ["day", "arm", "cost"])
    rows, _ = reconciled(command, f"campaign reconcile c bill.csv --storage {address}", 1)
    assert sum(Decimal(row["booked"]) for row in rows) == Decimal("0.25")
    assert [row["finding"] for row in rows][::4] == ["missing", "open"]


def test_the_bill_of_the_page(
    command: Command, harness: SqliteHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The books are made up so that the page's output follows, on the day after its last."""
    page = (ROOT / "docs" / "operations.md").read_text().partition("\n## Bills\n")[2]
    file, line, printed = re.findall(r"```.*\n(?::.*\n\n)?([^`]*)```", page)[:3]
    (tmp_path / "bill.csv").write_text(file)
    arms = {"small": "0.05", "large": "0.05"}
    campaign = harness.create("prompts", **{**TERMS, "arms": arms})
    for day, costs in ((5, {"small": 25, "large": 200}), (6, {"small": 22, "large": 400})):
        harness.clock = int(datetime(2026, 10, day, tzinfo=UTC).timestamp() * 1000)
        for arm, calls in costs.items():
            cost = "0.05" if arm == "small" else "0.008"
            tickets = campaign.ask_many(calls, arms=[arm])
            campaign.tell_many([(ticket, 1, cost) for ticket in tickets])
    monkeypatch.setattr(time, "time", datetime(2026, 10, 7, tzinfo=UTC).timestamp)
    code, out, _ = command(line.strip().removeprefix("$ purse "))
    assert (code, [row.rstrip() for row in out.splitlines()]) == (1, printed.splitlines())
