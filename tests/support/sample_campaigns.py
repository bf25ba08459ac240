"""Three small campaigns, played the same way every time: their journals are kept in `journals/`.

`python -m tests.support.sample_campaigns` writes them anew.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from purse import AskRefused, Conflict
from tests.support.storages import MemoryHarness, StorageHarness

# campaigns have ids
ALWAYS = patch("purse.campaign.terms.secrets.token_hex", lambda _: "0123456789abcdef")
FOLDER = Path(__file__).parent / "journals"


@ALWAYS
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
    harness.clock += 60_000
    last = campaign.ask("two")
    campaign.pause()
    campaign.tell(tickets[2], 1, ["0.5", "0.5"])
    campaign.resume()
    campaign.void(last)
    with suppress(Conflict):
        campaign.void(tickets[0])
    campaign.close()
    return campaign


@ALWAYS
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


@ALWAYS
def to_the_end(harness: StorageHarness) -> Any:
    """A policy with initial pulls until the horizon or the budget ends it."""
    campaign = harness.create(
        "to-the-end",
        arms={"red": 1, "green": "0.5"},
        budget=9,
        cost_min="0.1",
        horizon=30,
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


SAMPLES: dict[str, Callable[[StorageHarness], Any]] = {
    "everything": everything,
    "initial-pulls": initial_pulls,
    "to-the-end": to_the_end,
}

if __name__ == "__main__":
    for name, play in SAMPLES.items():
        campaign = play(MemoryHarness())
        campaign.export(FOLDER / f"{name}.jsonl")
        print(name, campaign.audit())
