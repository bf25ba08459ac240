"""The books count what was billed: reports above holds, arms that cost more than declared, charges,
new budgets. The numbers of the first tests are computed by hand.
"""

import io
import random
from collections import defaultdict
from contextlib import nullcontext
from typing import Any

import pytest

from purse import AskRefused, BudgetExhausted, Campaign, Conflict, InvalidInput
from purse.errors import CampaignExists
from purse.policies import names
from tests.support import storages
from tests.support.soak import scale
from tests.support.storages import StorageHarness

HOUR = 3_600_000  # ms
PLAIN: dict[str, Any] = {"policy": "uniform", "cost_min": "0.001", "cooldown": None}


def made(harness: StorageHarness | None = None, name: str = "test", **terms: Any) -> Any:
    given = {"arms": {"a": "0.01"}, "budget": 1, **PLAIN, **terms}
    return (harness or storages.MemoryHarness()).create(name, **given)


def money(level: Any) -> tuple[str, ...]:
    """Budget, spent, held, presumed, left, overrun."""
    shown = level.status().purses[0]
    return shown.budget, shown.spent, shown.held, shown.presumed, shown.left, shown.overrun


def keys(level: Any) -> list[str]:
    return [entry.body["key"] for entry in level.journal() if entry.kind == "event"]


def test_reports_above_the_hold_use_up_the_budget() -> None:
    """1 holds 33 calls of 0.03 and not one of 0.03 more; the first was held for with 0.01."""
    campaign = made()
    for _ in range(33):
        campaign.tell(campaign.ask(), 1, "0.03")
    assert money(campaign) == ("1", "0.99", "0", "0", "0.01", "0.02")
    with pytest.raises(BudgetExhausted, match=r"'a' may cost 0\.03 units and 0\.01 is left"):
        campaign.ask()
    assert campaign.audit().findings == ()


def test_calls_that_are_open_may_exceed_the_budget_and_no_other() -> None:
    """Two calls are open when the first says 0.9: 1.5 of 1 is spent in the end."""
    campaign = made()
    one, two = campaign.ask_many(2)
    receipt = campaign.tell(one, 1, "0.9")
    assert (receipt.spent, receipt.refunded, receipt.overrun) == (("0.9",), ("0",), ("0.89",))
    with pytest.raises(BudgetExhausted):
        campaign.ask()
    campaign.tell(two, 1, "0.6")
    assert money(campaign) == ("1", "1.5", "0", "0", "-0.5", "1.48")
    assert campaign.top_up("1.5").purses[0].left == "1"
    assert campaign.ask().held == ("0.9",)
    assert campaign.audit().findings == ()


def test_late_reports_count_in_full() -> None:
    """After a void nothing is held, so all is overrun; what was presumed is not."""
    harness = storages.MemoryHarness()
    campaign = made(harness, expires_after=60)
    gone, late = campaign.ask_many(2)
    campaign.void(gone)
    harness.clock += 60_000
    assert campaign.expire() == 1
    campaign.tell(gone, 1, "0.005")
    campaign.tell(late, 1, "0.25")
    assert money(campaign) == ("1", "0.255", "0", "0", "0.745", "0.245")
    assert campaign.ask().held == ("0.25",)
    assert campaign.audit().findings == ()


def test_accounts_count_it_too_and_say_so() -> None:
    harness = storages.MemoryHarness()
    team = harness.account("team", budget=2)
    one, two = (made(harness, name, budget=25, account="team") for name in ("one", "two"))
    one.tell(one.ask(), 1, "1.7")
    assert money(team) == ("2", "1.7", "0", "0", "0.3", "1.69")
    two.tell(two.ask(), 1, "0.4")
    assert money(team)[4] == "-0.1"
    for campaign in (one, two):
        with pytest.raises(BudgetExhausted, match=r"account 'team' has -0\.1 left"):
            campaign.ask()
    assert team.status().status == "exhausted"
    hour = harness.clock // HOUR
    assert keys(team) == ["80%:0/0/0", f"overrun/{hour}", "100%:0/0/0", "refused:0/0/0"]
    assert team.audit().findings == ()


@pytest.mark.parametrize(("carry", "left"), [("none", "1"), ("all", "0.4")])
def test_what_a_period_owes_is_carried_over_as_what_it_saves(carry: str, left: str) -> None:
    """Day 1 spends 1.1 of 1, and 0.5 more is reported on day 2 for a call of day 1."""
    harness = storages.MemoryHarness()
    campaign = made(harness, every="day", carry=carry, expires_after=None)
    one, late = campaign.ask_many(2)
    campaign.tell(one, 1, "1.09")
    assert money(campaign)[4] == "-0.1"
    harness.clock += 24 * HOUR
    assert money(campaign)[4] == {"none": "1", "all": "0.9"}[carry]
    campaign.tell(late, 1, "0.51")
    assert money(campaign)[4] == left
    assert campaign.status().period.budget == (left,)
    assert campaign.status().period.spent == ("0",)
    assert campaign.audit().findings == ()


def test_an_overspent_resource_stops_only_arms_that_need_it() -> None:
    campaign = made(
        arms={"paid": ["0.5", 10], "free": [0, 10]}, cost_min=[["0.1", 1], [0, 1]],
        resources=["USD", "tokens"], budget=[1, 1000],
    )  # fmt: skip
    ticket = campaign.ask(arms=["paid"])
    campaign.tell(ticket, 1, [3, 5])
    assert campaign.ask().arm == "free"
    with pytest.raises(BudgetExhausted):
        campaign.ask(arms=["paid"])
    assert campaign.audit().findings == ()


def test_an_arm_costs_what_it_has_cost_until_an_operator_says_otherwise() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, arms={"a": "0.01", "b": "0.02"}, budget=10)
    campaign.tell(campaign.ask(arms=["a"]), 1, "0.03")
    assert [campaign.ask(arms=[arm]).held for arm in "ab"] == [("0.03",), ("0.02",)]
    overrun, dearer = campaign.status().alarms
    assert overrun.text == (
        "0.02 units more was spent than held: 1 call was billed above its maximum"
    )
    assert dearer.text == (
        "a call of 'a' was billed above its maximum, 0.01, and the next one holds 0.03; purse "
        "campaign set-arm test a --cost-max 0.03 says that this is right; --cost-max 0.01 and "
        "purse campaign charge test --credit AMOUNT undo a wrong report"
    )
    (event,) = (entry.body for entry in campaign.journal() if entry.kind == "event")
    assert (event["arm"], event["most"]) == ("a", [30_000_000])
    campaign.set_arm("a", cost_max="0.01")
    assert campaign.ask(arms=["a"]).held == ("0.01",)
    campaign.tell(4, 1, "0.05")  # again
    assert campaign.ask(arms=["a"]).held == ("0.05",)
    campaign.set_arm("a", cost_max="0.05")
    assert [alarm.kind for alarm in campaign.status().alarms] == ["overrun"]
    campaign.retire_arm("a")
    campaign.add_arm("a")
    copy = io.StringIO()
    campaign.export(copy)
    copy.seek(0)
    again = Campaign.restore(copy, storage=harness.storage(), name="again")
    assert again.status().purses == campaign.status().purses
    assert again.ask(arms=["a"]).held == ("0.05",)
    assert campaign.audit().findings == again.audit().findings == ()


def test_one_outlier_may_leave_no_money_for_an_arm() -> None:
    campaign = made(arms={"a": "0.01", "b": "0.01"})
    campaign.tell(campaign.ask(arms=["a"]), 1, "0.6")
    assert {campaign.ask().arm for _ in range(9)} == {"b"}
    assert "the next one holds 0.6, more than is left: it waits" in campaign.status().alarms[1].text
    campaign.set_arm("a", cost_max="0.01")
    assert campaign.ask(arms=["a"]).held == ("0.01",)


@pytest.mark.parametrize("name", names())
def test_every_policy_goes_on_after_an_overrun(name: str) -> None:
    terms: dict[str, Any] = {"arms": {"a": "0.01", "b": "0.02"}, "cost_min": "0.001"}
    campaign = None
    for more in ({}, {"horizon": 500}, {"features": ["x"], "horizon": 500},
                 {"cost_min": ["0.01", "0.02"]}):  # fmt: skip
        try:
            campaign = made(**{**terms, "budget": 5, "policy": name, **more})
            break
        except InvalidInput:
            continue
    if campaign is None:
        pytest.skip("plays no campaign like these")
    context = {"context": [0.5]} if campaign.terms.features else {}
    for number in range(12):
        ticket = campaign.ask(**context)
        if ticket.arm is None:
            continue
        cost = {"a": "0.05", "b": "0.02"}[ticket.arm] if number > 3 else ticket.held[0]
        campaign.tell(ticket, 0.5, cost)
    assert campaign.audit().findings == ()


def test_the_default_leaves_the_arm_whose_price_is_wrong() -> None:
    """Declared 0.01, truly 0.05, beside one of 0.02: all money but one call of 0.05 is for it."""
    campaign = made(
        arms={"cheap": "0.01", "fair": "0.02"}, budget=2, policy="replan", cost_min=None
    )
    paid, pulls = 0, defaultdict[str, int](int)
    while paid < 20_000:
        try:
            ticket = campaign.ask()
        except AskRefused:
            break
        cost = {"cheap": 50, "fair": 20}[ticket.arm]
        campaign.tell(ticket, 0.9, f"0.{cost:03d}")
        paid, pulls[ticket.arm] = paid + cost, pulls[ticket.arm] + 1
    assert paid <= 2_000
    assert pulls["cheap"] <= 3 < 90 <= pulls["fair"]


def test_charges_and_credits_are_spent_on_every_level() -> None:
    harness = storages.MemoryHarness()
    team = harness.account("team", budget=3)
    campaign = made(harness, account="team", budget=2)
    campaign.charge("0.5", {"tenant": "x"}, "bill of May", request_id="may")
    campaign.charge("0.5", {"tenant": "x"}, "bill of May", request_id="may")
    with pytest.raises(Conflict, match=r"a charge of 0\.5"):
        campaign.charge("0.6", {"tenant": "x"}, "bill of May", request_id="may")
    assert money(campaign) == ("2", "0.5", "0", "0", "1.5", "0")
    assert money(team) == ("3", "0.5", "0", "0", "2.5", "0")
    assert [row.spent for row in campaign.labels()] == [("0.5",)]
    campaign.charge("-0.2")
    team.charge(3)
    assert money(campaign)[1] == "0.3"
    assert money(team) == ("3", "3.3", "0", "0", "-0.3", "0")
    assert [alarm.text for alarm in team.status().alarms] == ["0.3 units above its budget"]
    with pytest.raises(BudgetExhausted, match="account 'team'"):
        campaign.ask()
    with pytest.raises(InvalidInput, match=r"at most what campaign 'test' has spent, 0\.3"):
        campaign.charge("-0.4")
    campaign.end()
    campaign.charge("0.1")
    assert team.audit().findings == ()


def test_a_new_budget_is_exact_and_takes_nothing_back() -> None:
    campaign = made(budget=1, expires_after=None)
    campaign.tell(campaign.ask(), 1, "0.01")
    campaign.top_up(1)
    assert campaign.set_budget(5, request_id="five").purses[0].left == "4.99"
    assert campaign.set_budget(5, request_id="five").entries == campaign.status().entries
    campaign.ask_many(3)
    campaign.set_budget("0.02")
    assert money(campaign) == ("0.02", "0.01", "0.03", "0", "-0.02", "0")
    campaign.void(2)  # what comes back pays off what was given out
    assert money(campaign)[4] == "-0.01"
    with pytest.raises(AskRefused):
        campaign.ask()
    campaign.void(3)
    campaign.void(4)
    assert campaign.ask().held == ("0.01",)
    with pytest.raises(InvalidInput, match="when='next': needs a budget that is renewed"):
        campaign.set_budget(7, when="next")
    assert campaign.audit().findings == ()


def test_a_new_budget_is_that_of_this_period_and_of_later_ones() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, every="day")
    campaign.tell(campaign.ask(), 1, "0.01")
    for day in range(3):
        if day == 1:
            campaign.set_budget(3)
        period = campaign.status().period
        assert period.budget == ("1" if day == 0 else "3",)
        campaign.tell(campaign.ask(), 1, "0.01")
        harness.clock += 24 * HOUR
    assert campaign.status().period.allowance == ("3",)
    assert campaign.audit().findings == ()


def test_a_new_budget_may_begin_with_the_next_period() -> None:
    harness = storages.MemoryHarness()
    account = harness.account("team", budget=2, every="day")
    account.set_budget(5, when="next", request_id="more")
    assert account.status().period.budget == ("2",)
    with pytest.raises(Conflict, match="used before for another request: a budget of 5"):
        account.set_budget(5, request_id="more")
    harness.clock += 24 * HOUR
    assert account.status().period.budget == ("5",)
    assert account.audit().findings == ()


def test_a_charge_is_of_its_day_and_of_its_labels_and_of_the_history() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, budget=5, alerts=["50%"])
    campaign.tell(campaign.ask(labels={"tenant": "x"}), 1, "0.01")
    harness.clock += 24 * HOUR
    campaign.charge("2.5", {"tenant": "x"}, "the judge")
    assert [(row.spent, row.tickets) for row in campaign.labels()] == [(("2.51",), 1)]
    by_day = [(row.day, row.spent, row.tickets) for row in campaign.labels(by="day")]
    assert by_day == [("2027-01-15", ("0.01",), 1), ("2027-01-16", ("2.5",), 0)]
    history = campaign._local.history.look(lambda history: history.as_dict())
    assert history["incidents"]["charged"] == [[harness.clock / 1000, ["2.5"]]]
    assert history["purses"][0]["spent"][-1] == "2.51"
    assert keys(campaign) == ["50%:0/0/0"]
    body = [entry.body for entry in campaign.journal() if entry.kind == "charged"]
    assert body == [{"amount": [25 * 10**8], "labels": {"tenant": "x"}, "note": "the judge"}]


def test_create_may_update_what_the_verbs_change() -> None:
    harness = storages.MemoryHarness()
    terms: dict[str, Any] = {**PLAIN, "policy": "replan", "budget": 1}
    campaign = made(harness, **terms, arms={"a": "0.01", "b": "0.02"})
    campaign.tell(campaign.ask(arms=["a"]), 1, "0.03")
    before = campaign.status()
    update: dict[str, Any] = {**terms, "exist_ok": "update"}
    again = made(harness, **update, arms={"a": "0.01", "b": "0.02"})
    assert again.status() == before  # the bill has raised the arm, and nobody has changed it
    again = made(harness, **{**update, "budget": 3}, arms={"b": "0.015", "c": "0.05"}, alerts=[])
    status = again.status()
    assert (status.arms, status.retired, status.alerts) == (("b", "c"), ("a",), ())
    assert status.purses[0].budget == "3"
    assert again.ask(arms=["b"]).held == ("0.015",)
    floor = {**update, "budget": 3, "cost_min": "0.002"}
    made(harness, **floor, arms={"b": "0.015", "c": "0.05"}, alerts=[])
    floors = [entry.body["cost_min"] for entry in again.journal() if entry.kind == "arm_changed"]
    assert floors[-2:] == [[2_000_000]] * 2
    entries = again.status().entries
    with pytest.raises(CampaignExists, match="with other policy than these; open it"):
        made(harness, **{**update, "policy": "uniform", "budget": 9}, arms={"b": 1, "c": 1})
    with pytest.raises(CampaignExists, match="as add_arm and retire_arm would"):
        made(harness, **{**terms, "exist_ok": True, "budget": 9}, arms={"b": 1, "c": 1})
    with pytest.raises(InvalidInput, match="exist_ok='yes': must be True, False or \"update\""):
        made(harness, **{**terms, "exist_ok": "yes"}, arms={"b": 1})
    with pytest.raises(InvalidInput):
        made(harness, **{**update, "budget": 9, "cost_min": 2}, arms={"a": "0.01", "c": 1})
    assert again.status().entries == entries
    assert again.audit().findings == ()
    account = harness.account("team", budget=2)
    account = harness.account("team", budget=4, exist_ok="update")
    assert account.status().purses[0].budget == "4"


class Plain:
    """Levels by their names, added up from what was asked, told and charged; in units of 0.001."""

    def __init__(
        self, chain: dict[str, list[str]], budgets: dict[str, int], kept: set[str]
    ) -> None:
        self.chain, self.allowance, self.kept = chain, budgets, kept
        self.budget, self.granted = dict(budgets), dict(budgets)  # in all, and of the period
        self.spent, self.period = dict.fromkeys(budgets, 0), dict.fromkeys(budgets, 0)
        self.held: dict[tuple[str, int], int] = {}
        self.asked: dict[tuple[str, int], dict[str, int]] = {}  # the periods of each ticket
        self.most: dict[str, int] = dict.fromkeys(chain, 10)

    def left(self, level: str) -> int:
        held = sum(units for (name, _), units in self.held.items() if level in self.chain[name])
        return self.budget[level] - self.spent[level] - held

    def can_ask(self, name: str) -> bool:
        return all(self.left(level) >= self.most[name] for level in self.chain[name])

    def ask(self, name: str, ticket: int, hold: int) -> None:
        self.held[name, ticket], self.asked[name, ticket] = hold, dict(self.period)
        assert all(self.left(level) >= 0 for level in self.chain[name]), (name, ticket)

    def report(self, name: str, ticket: int, cost: int) -> None:
        hold = self.held.pop((name, ticket), 0)
        for level in self.chain[name]:
            self.spent[level] += cost
            if self.asked[name, ticket][level] < self.period[level]:  # of another day's money
                self.granted[level] += hold - cost if level in self.kept else 0
                self.budget[level] += 0 if level in self.kept else cost - hold
        if cost > hold:
            self.most[name] = max(self.most[name], cost)

    def charge(self, name: str, units: int) -> bool:
        if can := all(self.spent[level] + units >= 0 for level in self.chain[name]):
            self.spent |= {level: self.spent[level] + units for level in self.chain[name]}
        return can

    def set_budget(self, level: str, units: int, when: str) -> None:
        self.allowance[level] = units
        if when == "now":
            self.budget[level] += units - self.granted[level]
            self.granted[level] = units

    def renew(self, level: str) -> None:
        self.period[level] += 1
        self.granted[level] = self.allowance[level] + self.left(level) * (level in self.kept)
        self.budget[level] += self.granted[level] - self.left(level)


@pytest.mark.parametrize("block", range(40))
def test_an_ask_is_granted_if_and_only_if_every_level_has_room(block: int) -> None:
    """P1 over levels, days, late reports, voids, charges and new budgets, against a reference that
    only adds up.
    """
    for number in range(scale(1, 250)):
        play(block + 40 * number, every=scale(4, 40))


CHAIN = {"firm": ["firm"], "team": ["team", "firm"]}
CHAIN |= {name: [name, "team", "firm"] for name in ("one", "two")}
ABOVE = {"team": "firm", "one": "team", "two": "team"}
BUDGETS = {"firm": 300, "team": 200, "one": 150, "two": 150}


def grown(
    harness: StorageHarness, kept: set[str], every: str, expires_after: float, end: str = ""
) -> dict[str, Any]:
    """A tree of three levels, by their names without an end; `kept` carry over what is left."""
    tree: dict[str, Any] = {}
    for name, units in BUDGETS.items():
        terms: dict[str, Any] = {"budget": f"0.{units}", "every": every}
        terms["carry"] = "all" if name in kept else "none"
        terms |= {"account": ABOVE[name] + end} if name in ABOVE else {}
        tree[name] = (
            harness.account(name + end, **terms)
            if name in ("firm", "team")
            else made(harness, name + end, **terms, expires_after=expires_after)
        )
    return tree


def play(seed: int, every: int) -> None:
    """Play a history of 120 steps; compare all levels at some of them, and P1 at every ask."""
    chance, harness = random.Random(seed), storages.MemoryHarness()
    kept = {level for level in BUDGETS if chance.random() < 0.5}
    levels = grown(harness, kept, "day", 5 * 3600)
    plain, gone = Plain(CHAIN, dict(BUDGETS), kept), list[tuple[str, int]]()
    for step in range(120):
        name, at = chance.choice(["one", "two"]), chance.choice(list(levels))
        campaign, mine = levels[name], [number for of, number in plain.held if of == name]
        verbs = ["ask", "tell", "void", "late", "hours", "charge", "budget"]
        match chance.choices(verbs, [16, 12, 2, 2, 2, 1, 1])[0]:
            case "ask" if plain.can_ask(name):
                ticket = campaign.ask()
                assert ticket.held == (f"{plain.most[name] / 1000:g}",)
                plain.ask(name, ticket.id, plain.most[name])
            case "ask":
                with pytest.raises(BudgetExhausted):
                    campaign.ask()
            case "tell" if mine:
                number, cost = chance.choice(mine), chance.choice([1, 5, 10, 10, 14, 40])
                campaign.tell(number, 1, f"0.{cost:03d}")
                plain.report(name, number, cost)
            case "void" if mine:
                gone.append((name, chance.choice(mine)))
                campaign.void(gone[-1][1])
                plain.report(*gone[-1], 0)
            case "late" if gone:
                name, number = gone.pop()
                levels[name].settle(number, "0.007")
                plain.report(name, number, 7)
            case "charge":
                units = chance.choice([-30, -1, 1, 30])
                refused = pytest.raises(InvalidInput, match="a credit must be at most")
                with nullcontext() if plain.charge(at, units) else refused:
                    levels[at].charge(f"{units / 1000:.3f}")
            case "budget":
                units, when = chance.choice([0, 60, 150, 300]), chance.choice(["now", "next"])
                levels[at].set_budget(f"0.{units:03d}", when=when)
                plain.set_budget(at, units, when)
            case "hours":
                harness.clock += 6 * HOUR
                if harness.clock // (24 * HOUR) > (harness.clock - 6 * HOUR) // (24 * HOUR):
                    for level in levels:
                        plain.renew(level)
        for level in levels if step % every == every - 1 else ():
            check_level(levels[level].status(), level, plain)
    assert levels["firm"].audit().findings == ()


def check_level(status: Any, level: str, plain: Plain) -> None:
    """What it shows is what the reference adds up."""
    (purse,) = status.purses
    assert purse.left == text(plain.left(level)), level
    assert purse.spent == text(plain.spent[level]), level
    assert status.period.budget == (text(plain.granted[level]),), level


def text(units: int) -> str:
    """Thousandths, as they are shown."""
    return "0" if not units else f"{units / 1000:.3f}".rstrip("0").rstrip(".")
