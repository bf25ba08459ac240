"""Campaigns and accounts as earlier versions have played them. When asks went on after an overrun:
every kind of entry, a tree of three levels, and overruns that the rule of today would have met with
a refusal.
"""

from contextlib import suppress
from io import StringIO
from typing import Any

from purse import AskRefused, Campaign, Conflict
from tests.support.storages import StorageHarness, counts, without_guards

HOUR = 3_600_000  # ms
DAY = 24 * HOUR


def ask(campaign: Any, n: int = 1, **options: Any) -> Any:
    """A ticket, or several, for a request that is named after its round."""
    request = f"round {counts(campaign).get('tickets', 0) + 1}"
    if n == 1:
        return campaign.ask(request, **options)
    return campaign.ask_many(n, request, **options)


def pay(campaign: Any, cost: Any, reward: float = 1, **options: Any) -> Any:
    """A ticket that is told."""
    ticket = ask(campaign, **options)
    campaign.tell(ticket, reward, cost)
    return ticket


def refused(call: Any, *values: Any, **options: Any) -> None:
    """A call that has to be refused."""
    try:
        call(*values, **options)
    except (AskRefused, Conflict):
        return
    raise AssertionError(f"{call} was not refused")


def tree(harness: StorageHarness) -> None:
    """A company with two teams that are renewed, one of which carries over, and two campaigns
    each: every kind of report and of operation, and overruns on all three levels.
    """
    company = harness.account("company", budget=60, alerts=["1%", "10%", "overrun"])
    harness.account(
        "research", budget=9, account="company", every="day", carry="all",
        time_zone="Europe/Berlin", alerts=["20%", "100%"],
    )  # fmt: skip
    sales = harness.account("sales", budget=2, account="company", every="6h")
    chat = harness.create(
        "chat", account="research", arms={"red": 1, "green": "0.5"}, budget=6, cost_min="0.1",
        cost_ceiling=2, policy="uniform", seed=5, every="day", carry="all", explore=0.2,
        capacity=3, expires_after=600, reward_within=3600, missing_reward=0.25,
        reward_range=(0, 2), cooldown=1, alerts=["50%", "overrun", "expired", "cooling-down"],
    )  # fmt: skip
    chat_operations(harness, company, chat)
    mails = harness.create(
        "mails", account="sales", arms={"small": "0.2", "large": 1}, budget=50,
        policy="uniform", seed=6, expires_after=3600, alerts=["100%", "overrun"],
    )  # fmt: skip
    news = harness.create(
        "news", account="sales", arms={"small": "0.1"}, budget=3, policy="uniform", seed=7,
        every="6h", carry="none", expires_after=3600, alerts=["1%"],
    )  # fmt: skip
    # 5 are reported below an account of 2, and asks go on
    for tenant in ("acme", "zeta"):
        pay(mails, "2.5", arms=["small"], labels={"tenant": tenant})
    pay(mails, "0.25", arms=["small"], labels={"tenant": "acme"})
    late, void, presumed = ask(mails, 3, arms=["small"], labels={"tenant": "zeta"})
    refused(mails.ask, "too much", arms=["large"])
    ended = [pay(news, "0.4"), *ask(news, 3)]  # an overrun in an earlier period
    harness.clock += 7 * HOUR
    mails.expire()
    news.expire()
    mails.tell(late, 0, 3)  # later and more, of a period that has ended
    mails.void(void)
    refused(mails.fail, void, "0.75")
    mails.tell(void, 0, "0.75")  # which was not free after all
    news.tell(ended[1], 1, "0.05")
    news.tell(ended[2], 1, "0.3")
    refused(news.tell, ended[0], 1, 9)
    sales.top_up(1, "more for sales")
    for cost in ("0.02", "0.3", "0.1"):
        pay(news, cost, labels={"issue": cost})
    pay(mails, 4, arms=["small"], labels={"tenant": "zeta"})
    ask(mails, 2, arms=["small"])
    assert mails.ticket(presumed).state == "presumed"


def chat_operations(harness: StorageHarness, company: Any, chat: Any) -> None:
    """What operators do, and what else can become of a ticket."""
    first = ask(chat, 2, labels={"user": "ann", "feature": "search"})
    chat.settle(first[0], "0.25")
    chat.reward(first[0], 2)
    chat.reward(first[1], 1)
    chat.settle(first[1], 3)
    failed = ask(chat, arms=["red"], labels={"user": "bob"})
    chat.fail(failed, "1.125", "overloaded")
    refused(chat.ask, "cooling down", arms=["red"])
    chat.add_arm("blue", cost_min="0.2", cost_max="0.75")
    pay(chat, "0.4", 0, arms={"blue": "0.5"})
    chat.set_arm("blue", cost_max="1.5")
    chat.retire_arm("green")
    late = ask(chat, arms=["blue"])
    waiting = ask(chat, arms=["blue"], labels={"user": "ann"})
    chat.settle(waiting, "0.3")
    harness.clock += HOUR
    chat.expire()
    chat.fail(late, 2)
    company.pause()
    refused(chat.ask, "paused")
    company.resume()
    chat.set_alerts(["75%", "100%"])
    harness.clock += 20 * HOUR
    chat.add_arm("green")
    ask(chat, 3, labels={"user": "ann"})
    refused(chat.ask, "too much", arms={"blue": "1.5"})
    company.top_up(10, "more for the company")
    chat.pause()
    harness.clock += 30 * HOUR
    chat.resume()
    pay(chat, 6, arms=["blue"], labels={"user": "bob"})  # more than is carried over
    pay(chat, "0.2", labels={"user": "ann"})
    chat.settle(ask(chat), "0.2")


def joined(harness: StorageHarness) -> None:
    """A copy of a campaign with overruns that has joined an account, and goes on there."""
    alone = harness.create(
        "alone", arms={"red": 1, "green": "0.5"}, budget=20, policy="exp3++.bwk", seed=3,
        cost_min="0.25",
    )  # fmt: skip
    first = ask(alone, 2)
    alone.void(first[0])
    alone.tell(first[1], 0.5, "2.5")
    for turn in range(8):
        earlier, later = ask(alone, 2)
        alone.tell(later, turn % 3 / 2, "0.4")
        alone.tell(earlier, turn % 2, "0.3" if turn else "1.75")
    file = StringIO()
    alone.export(file)
    file.seek(0)
    harness.account("team", budget=20, every="6h", alerts=["50%"])
    place = harness.storage()
    copy: Any = Campaign.restore(file, storage=place, name="joined", account="team")
    pay(copy, "1.25")
    harness.clock += 6 * HOUR
    ask(copy)
    copy.end()


def resources(harness: StorageHarness) -> None:
    """Two resources, an overrun of one, of both, and every conflict."""
    campaign = harness.create(
        "resources", arms={"red": [1, 2], "green": [2, 1], "blue": ["1.5", "1.5"]},
        resources=["euros", "hours"], budget=[20, "30.5"], policy="uniform", seed=7,
        cost_min=[["0.1", 0], [0, "0.2"], ["0.3", "0.3"]], expires_after=60,
    )  # fmt: skip
    tickets = ask(campaign, 5, labels={"part": "first"})
    campaign.tell(tickets[0], 0.25, ["0.5", 9])
    campaign.tell(tickets[1], 0, [9, 9])
    campaign.void(tickets[2])
    campaign.settle(tickets[4], [0, 0])
    for number, verb, *report in (
        (1, campaign.tell, 1, [9, 9]), (1, campaign.void), (0, campaign.settle, [1, 1]),
        (1, campaign.fail, [3, 3]), (4, campaign.fail, [1, 1]),
    ):  # fmt: skip
        refused(verb, tickets[number], *report)
    campaign.reward(tickets[4], 0.5)
    refused(campaign.reward, tickets[4], 0.75)
    harness.clock += 61_000
    campaign.expire()
    campaign.tell(tickets[3], 1, [1, 8])
    campaign.top_up({"euros": 1, "hours": "0.000000001"}, "more")
    campaign.tell(tickets[2], 1, ["0.5", "0.5"])
    last = ask(campaign)
    campaign.void(last)
    campaign.settle(ask(campaign), [3, 0])
    campaign.reward(ask(campaign), 1)


def contexts(harness: StorageHarness) -> None:
    """Tickets with contexts, some of them outside their range."""
    campaign = harness.create(
        "contexts", arms={"red": 1, "green": 1}, budget=9, policy="uniform", seed=2,
        features={"length": (0, 8000), "kind": ("code", "chat"), "x": None},
    )  # fmt: skip
    pay(campaign, "1.5", context={"length": 812, "kind": "chat", "x": 0.1})
    two = ask(campaign, 2, contexts=[[9000, "other", -3], [0, "code", 0.25]])
    campaign.void(two[1])
    campaign.pause()


def horizon(harness: StorageHarness) -> None:
    """Rounds until the horizon is reached."""
    campaign = harness.create(
        "horizon", arms={"red": 1, "green": "0.5"}, budget=6, cost_min="0.1", horizon=10,
        policy="primal-dual-bwk", seed=11,
    )  # fmt: skip
    with suppress(AskRefused):
        while True:
            ticket = ask(campaign)
            if not ticket.skipped:
                campaign.tell(ticket, ticket.t % 2, ("0.35", "1.5", "0.2")[ticket.t % 3])


def forecast(harness: StorageHarness) -> None:
    """A forecast that lets rounds pass, and says how far the money goes."""
    harness.clock += DAY - (harness.clock + HOUR) % DAY  # midnight
    campaign = harness.create(
        "forecast", arms={"small": "0.01", "large": "0.3"}, budget=4, every="day", seed=13,
        policy="replan", carry="all", time_zone="Europe/Berlin", alerts=["forecast"],
    )  # fmt: skip
    for turn in range(110):
        harness.clock += 600_000 if turn < 80 else 60_000
        ticket = ask(campaign, arms=["large"] if turn % 3 == 0 else None)
        if not ticket.skipped:
            campaign.tell(ticket, turn % 2, "0.01" if ticket.arm == "small" else "0.31")


def clocks(harness: StorageHarness) -> None:
    """A clock that is ahead for a while begins a period that comes again."""
    campaign = harness.create(
        "clocks", arms={"red": 1}, budget=5, every="6h", policy="uniform", seed=17
    )
    pay(campaign, 2)
    harness.clock += 2 * DAY
    pay(campaign, "0.5")
    harness.clock -= 2 * DAY - HOUR
    pay(campaign, 3)
    harness.clock += 2 * DAY
    pay(campaign, "0.5")


def mispriced(harness: StorageHarness) -> None:
    """Calls of 0.03 with a maximum of 0.01: a budget of 0.2 takes 20 of them."""
    campaign = harness.create(
        "mispriced", arms={"cheap": "0.01"}, budget="0.2", policy="uniform", seed=19,
        alerts=["80%", "100%"],
    )  # fmt: skip
    with suppress(AskRefused):
        while True:
            pay(campaign, "0.03", labels={"day": "first"})
    assert campaign.status().purses[0].overrun == "0.4"


def deleted(harness: StorageHarness) -> None:
    """A campaign below an account, both deleted by hand and made again under their names."""
    for budget in (5, 8):
        harness.account("department", budget=10)
        again = harness.create(
            "again", account="department", arms={"red": 1}, budget=budget, policy="uniform"
        )
        pay(again, 2)
        if budget == 5:
            delete(harness, "again", "department")


def delete(harness: StorageHarness, *names: str) -> None:
    """Delete levels as an operator would with SQL."""
    with without_guards(harness):
        for name in names:
            this = f"(SELECT id FROM purse_levels WHERE name = '{name}')"
            for table in ("balances", "journal", "open_tickets", "checkpoints"):
                harness.execute(f"DELETE FROM purse_{table} WHERE level = {this}")
            harness.execute(f"DELETE FROM purse_levels WHERE name = '{name}'")


def office(harness: StorageHarness) -> None:
    """Limits of labels, conversations, charges and new budgets, below an account that is renewed;
    tickets are left open.
    """
    harness.account("office", budget=8, every="day", carry="all", alerts=["50%"])
    desk = harness.create(
        "desk", account="office", arms={"small": "0.2", "large": 1}, budget=5, every="day",
        carry="all", limits={"user": "1.5"}, unlabelled="allow", cooldown=60, expires_after=432_000,
        seed=29, alerts=["80%", "overrun"],
    )  # fmt: skip
    for turn in range(24):
        harness.clock += HOUR // 4
        options: dict[str, Any] = {"labels": {"user": "ann" if turn % 3 else "bob"}}
        if turn % 4 == 0:
            options["session"] = f"conversation {turn // 8}"
        with suppress(AskRefused):
            if (ticket := ask(desk, **options)).skipped:
                continue
            match turn % 6:
                case 0:
                    desk.fail(ticket, reason="overloaded", rest=30)
                case 1:
                    desk.settle(ticket, "0.1")
                case 2:
                    desk.tell(ticket, 0.5, "1.2")
                case 3:
                    desk.tell(ticket, 1, "0.15")
                case 4:
                    desk.void(ticket)
    desk.set_limit("user", 3, value="ann")
    desk.charge("0.25", {"user": "ann"}, "an invoice", "invoice 1")
    desk.charge("-0.05", note="a credit", request_id="invoice 2")
    desk.set_budget(6, "next", "from tomorrow")
    harness.clock += DAY
    ask(desk, 2, labels={"user": "ann"})
    desk.set_budget(7, request_id="today")


def guarded(harness: StorageHarness) -> Any:
    """A campaign of version 2 of `replan`, with an option that version 3 no longer has."""
    campaign = harness.create(
        "guarded", arms={"small": "0.1", "large": 1}, budget=20, seed=31,
        policy="replan:guard=0.5,looks=0.02",
    )  # fmt: skip
    for turn in range(20):
        pay(campaign, "0.1" if turn % 3 else "0.05", turn % 2, arms=["small"] if turn < 4 else None)
    ask(campaign, 2)
    return campaign


def replan_campaign(harness: StorageHarness, n_reports: int = 10_000) -> Any:
    """A campaign of `replan` with many reports, of which every hundredth costs four times its
    hold.
    """
    campaign = harness.create(
        "replan", arms={"small": "0.01", "middle": "0.1", "large": "1"}, budget=100_000, seed=23
    )
    for start in range(0, n_reports, 1000):
        harness.clock += 60_000
        tickets = ask(campaign, min(1000, n_reports - start))
        costs = {"small": "0.01", "middle": "0.1", "large": "1"}
        dear = {"small": "0.04", "middle": "0.4", "large": "4"}
        campaign.tell_many(
            [(each, each.id % 3 / 2, (costs if each.id % 100 else dear)[each.arm])
             for each in tickets]
        )  # fmt: skip
    return campaign


GAMES = {  # by the version of the tables
    9: (tree, joined, resources, contexts, horizon, forecast, clocks, mispriced, deleted),
    10: (office, joined, resources, contexts),
}
