"""Followers that are killed, and followers at the same time: no event is lost, and a repeat has the
same key.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from purse import Campaign
from tests.support.receiver import follower, receiver, spent
from tests.support.soak import scale

WORKER = Path(__file__).parents[2] / "support" / "follow_worker.py"


@pytest.fixture(params=["sqlite", "postgres"][: scale(1, 2)])
def address(request: Any, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_address"))
    return f"sqlite:///{tmp_path}/purse.db"


def run(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, str(WORKER), *words], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def begun(address: str, made: Any) -> list[str]:
    """Make six events that a follower has not sent; return their keys."""
    campaign: Any = spent("p", address)
    follower(campaign.storage, made, "a").look()
    for _ in range(6):
        campaign.top_up(1)
    campaign.storage.close()
    return events(campaign)[1:]


def events(campaign: Any) -> list[str]:
    return [entry.body["key"] for entry in campaign.journal() if entry.kind == "event"]


def test_killed_at_every_label_no_event_is_lost_and_a_repeat_has_the_same_key(address: str) -> None:
    with receiver() as made:
        wanted = begun(address, made)
        run("kill", address, made.url)
    assert list(dict.fromkeys(made.keys)) == wanted  # all of them, in their order
    # after the commit nothing is repeated; after the message and before the commit it is
    assert Counter(Counter(made.keys).values()) == Counter({1: 4, 3: 2})
    assert len({(each.headers["webhook-id"], each.body) for each in made.messages}) == 6
    found: Any = Campaign.open("p", storage=address)
    assert events(found)[1:] == wanted
    assert found.storage.checkpoint("p", "webhook a").seq >= found.status().entries - 1


def test_several_followers_lose_nothing_and_each_keeps_the_order(address: str) -> None:
    with receiver() as made:
        wanted = begun(address, made)
        run("several", address, made.url, "3")
        sent = len(made.messages)
        run("several", address, made.url, "3")
    assert list(dict.fromkeys(made.keys)) == wanted
    assert len({(each.headers["webhook-id"], each.body) for each in made.messages}) == 6
    assert len(wanted) <= sent == len(made.messages) <= 3 * len(wanted)
