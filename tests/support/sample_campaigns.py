"""Small campaigns, played the same way every time: their journals are kept in `journals/`, with the
digests that they come to. Together they have every kind of entry.

`python -m tests.support.sample_campaigns` writes them anew.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from purse import Account, AskRefused, Campaign, Conflict
from tests.support.storages import MemoryHarness, StorageHarness

FOLDER = Path(__file__).parent / "journals"
DIGESTS = FOLDER / "digests.json"
Play = Callable[[StorageHarness], Any]
HOUR = 3_600_000  # ms
SALT = "purse.campaign.ledger.entry.urandom"


def repeatable(play: Play) -> Play:
    """Give levels the same ids, and entries the same salts, every time."""

    def played(harness: StorageHarness) -> Any:
        ids = count(0x0123456789ABCDEF)
        with patch("secrets.token_hex", lambda _: f"{next(ids):016x}"), patch(SALT, bytes):
            return play(harness)

    return played


def everything(harness: StorageHarness) -> Any:
    """Everything that can happen to a ticket, with two resources."""
    campaign = harness.create(
        "everything",
        arms={"red": [1, 2], "green": [2, 1], "blue": ["1.5", "1.5"]},
        resources=["euros", "hours"],
        budget=[20, "30.5"],
        cost_min=[["0.1", 0], [0, "0.2"], ["0.3", "0.3"]],
        policy="uniform",
        seed=7,
        expires_after=60,
    )
    tickets = campaign.ask_many(4, "four")
    campaign.tell(tickets[0], 0.25, ["0.5", 1])
    campaign.tell(tickets[1], 0, [9, 9])
    with suppress(Conflict):
        campaign.tell(tickets[1], 1, [9, 9])
    campaign.void(tickets[2])
    harness.clock += 61_000
    campaign.expire()
    campaign.tell(tickets[3], 1, [1, 1])
    campaign.top_up({"euros": 1, "hours": "0.000000001"}, "more")
    campaign.ask("one")
    campaign.set_budget([40, 40], request_id="new")
    campaign.charge(["0.5", 0], {"tenant": "x"}, "the bill", "bill")
    campaign.charge(["-0.25", 0], None, "a credit", "credit")
    harness.clock += 60_000
    last = campaign.ask("two")
    campaign.pause()
    campaign.tell(tickets[2], 1, ["0.5", "0.5"])
    campaign.resume()
    campaign.void(last)
    with suppress(Conflict):
        campaign.void(tickets[0])
    campaign.end()
    return campaign


def initial_pulls(harness: StorageHarness) -> Any:
    """Initial pulls of which one is voided and owed again, then reports in another order than their
    tickets.
    """
    campaign = harness.create(
        "initial-pulls",
        arms={"red": 1, "green": 2, "blue": "0.5"},
        budget=30,
        cost_min="0.25",
        policy="exp3++.bwk",
        seed=3,
    )
    first = campaign.ask_many(3, "initial")
    campaign.void(first[1])
    campaign.tell(first[2], 0.5, "0.5")
    for turn in range(8):
        harness.clock += 1000
        earlier, later = campaign.ask_many(2, f"turn {turn}")
        campaign.tell(later, turn % 3 / 2, "0.4")
        campaign.tell(earlier, turn % 2, "0.3")
    return campaign


def to_the_end(harness: StorageHarness) -> Any:
    """A policy with initial pulls until the horizon or the budget ends it."""
    campaign = harness.create(
        "to-the-end",
        arms={"red": 1, "green": "0.5"},
        budget=9,
        cost_min="0.1",
        horizon=30,
        skip=True,
        policy="primal-dual-bwk",
        seed=11,
    )
    with suppress(AskRefused):
        for turn in range(100):
            harness.clock += 250
            ticket = campaign.ask(f"turn {turn}")
            if not ticket.skipped:
                campaign.tell(
                    ticket, 1 if ticket.arm == "green" else 0.25, ["0.35", "0.5", "0.2"][turn % 3]
                )
    return campaign


def below_accounts(harness: StorageHarness) -> Any:
    """A campaign with periods, labels, masks, alerts, exploration and arms that come and go, below
    a team and a company.
    """
    company = harness.account("company", budget=100, alerts=["1%"])
    team = harness.account("team", budget=9, account="company", every="6h", alerts=["20%", "100%"])
    campaign = harness.create(
        "below-accounts",
        arms={"red": 1, "green": "0.5"},
        budget=6,
        cost_min="0.1",
        cost_ceiling=2,
        policy="uniform",
        seed=5,
        account="team",
        every="day",
        carry="all",
        explore=0.2,
        capacity=3,
        expires_after=600,
        reward_within=3600,
        missing_reward=0.25,
        reward_range=(0, 2),
        cooldown=1,
        alerts=["50%", "overrun", "expired", "cooling-down"],
    )
    first = campaign.ask_many(2, "first", labels={"user": "ann", "feature": "search"})
    campaign.settle(first[0], "0.25")
    campaign.reward(first[0], 2)
    campaign.reward(first[1], 1)
    campaign.settle(first[1], "1.5")
    failed = campaign.ask("red", arms=["red"], labels={"user": "bob"})
    campaign.fail(failed, "0.125", "overloaded")
    with suppress(AskRefused):
        campaign.ask("cooling down", arms=["red"])
    campaign.add_arm("blue", cost_min="0.2", cost_max="0.75")
    campaign.tell(campaign.ask("blue", arms={"blue": "0.5"}), 0, "0.4")
    campaign.set_arm("blue", cost_max="1.5")
    campaign.retire_arm("green")
    late = campaign.ask("late", arms=["blue"])
    campaign.settle(campaign.ask("unrewarded", arms=["blue"]), "0.3")
    harness.clock += HOUR
    campaign.expire()
    campaign.fail(late, 0)
    company.pause()
    with suppress(AskRefused):
        campaign.ask("paused")
    company.resume()
    campaign.set_alerts(["75%", "100%"])
    harness.clock += 6 * HOUR
    campaign.ask_many(9, "many", labels={"user": "ann"})
    with suppress(AskRefused):
        campaign.ask("too much")
    team.top_up(1, "more")
    harness.clock += 24 * HOUR
    campaign.tell(campaign.ask("next day"), 1, "0.2")
    return campaign


def contexts(harness: StorageHarness) -> Any:
    """A campaign whose tickets have contexts, some of them outside their range."""
    campaign = harness.create(
        "contexts",
        arms={"red": 1, "green": 1},
        budget=9,
        policy="uniform",
        seed=2,
        features={"length": (0, 8000), "kind": ("code", "chat"), "x": None},
    )
    one = campaign.ask("one", context={"length": 812, "kind": "chat", "x": 0.1})
    campaign.tell(one, 1, "0.5")
    two = campaign.ask_many(2, "two", contexts=[[9000, "other", -3], [0, "code", 0.25]])
    campaign.void(two[1])
    return campaign


def joined(harness: StorageHarness) -> Any:
    """A copy of a campaign that has joined an account, and goes on there."""
    file = StringIO()
    initial_pulls(harness).export(file)
    harness.account("team", budget=20, every="6h")
    file.seek(0)
    place = harness.storage()
    campaign: Any = Campaign.restore(file, storage=place, name="joined", account="team")
    campaign.tell(campaign.ask("there"), 1, "0.4")
    harness.clock += 6 * HOUR
    campaign.ask("later")
    campaign.end()
    return campaign


SAMPLES: dict[str, Play] = {
    play.__name__.replace("_", "-"): repeatable(play)
    for play in (everything, initial_pulls, to_the_end, below_accounts, contexts, joined)
}
OF_TEAM, TEAM = "below-accounts", FOLDER / "account.jsonl"  # whose account's journal is kept, too


def renew() -> None:
    digests = {}
    for name, play in SAMPLES.items():
        campaign = play(MemoryHarness())
        campaign.export(FOLDER / f"{name}.jsonl")
        found = campaign.audit()
        digests[name] = found.digest
        print(name, found)
        if name == OF_TEAM:
            Account.open("team", storage=campaign.storage).export(TEAM)
    DIGESTS.write_text(json.dumps(digests, indent=2) + "\n")


if __name__ == "__main__":
    renew()
