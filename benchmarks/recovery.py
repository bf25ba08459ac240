"""What it takes to come back to a long campaign: open it and ask, with the policy's checkpoint
and without, check it all, and fold its history.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import apsw

from benchmarks.doors import COST, REWARD, TERMS
from benchmarks.instance import say
from purse.campaign.campaign import Campaign
from purse.campaign.views.history import FollowedHistory

AT_ONCE = 1_000  # tickets


def build(path: str, rows: int) -> float:
    """Make a campaign with about `rows` entries in a new file; return the seconds it took."""
    campaign, start = (
        Campaign.create("long", **TERMS, storage=f"sqlite:///{path}"),
        time.perf_counter(),
    )
    while campaign.status().entries < rows:
        tickets = campaign.ask_many(AT_ONCE)
        campaign.tell_many([(ticket, REWARD, COST) for ticket in tickets])
    return time.perf_counter() - start


def opened(path: str) -> Campaign:
    """Return the campaign as a process finds it that begins."""
    return Campaign.open("long", storage=f"sqlite:///{path}")


def seconds(name: str, call: Callable[[], Any]) -> float:
    """Return how long a call takes, by the clock on the wall."""
    start = time.perf_counter()
    call()
    spent = time.perf_counter() - start
    say(f"{name}: {spent:.2f} s")
    return spent


def measure(path: str, rows: int) -> dict[str, Any]:
    """Seconds of each way back. The policy's machine code is loaded before: what that takes is
    among the waits of every start.
    """
    building = build(path, rows)
    entries = opened(path).status().entries
    say(f"a campaign with {entries:,} entries: {building:.0f} s")
    waits = {
        "status": seconds("status", lambda: opened(path).status()),
        "open and ask, from the checkpoint": seconds(
            "open and ask, from the checkpoint", lambda: opened(path).ask()
        ),
    }
    with apsw.Connection(path) as db:
        db.execute("DELETE FROM purse_checkpoints")
    waits["open and ask, from the journal alone"] = seconds(
        "open and ask, from the journal alone", lambda: opened(path).ask()
    )
    campaign = opened(path)
    waits["history, for the dashboard"] = seconds(
        "history", lambda: FollowedHistory(campaign.terms, campaign.storage).follow()
    )
    waits["audit: fold and compare everything"] = seconds(
        "audit", lambda: checked(campaign, full=True)
    )
    waits["audit, from the last one"] = seconds("audit again", lambda: checked(campaign))
    waits["history, from the checkpoint"] = seconds(
        "history again", lambda: FollowedHistory(campaign.terms, campaign.storage).follow()
    )
    return {"entries": entries, "seconds": waits}


def checked(campaign: Campaign, *, full: bool = False) -> None:
    """Audit, and find nothing."""
    report = campaign.audit(full=full)
    assert report.ok, report.findings
