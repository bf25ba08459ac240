"""Deliverers that are killed, and deliverers that race: no event is lost, none is made twice."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from purse import Campaign
from tests.support.receiver import OK, receiver, spent

WORKER = Path(__file__).parents[2] / "support" / "deliver_worker.py"


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: Any, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_address"))
    return f"sqlite:///{tmp_path}/purse.db"


def run(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, str(WORKER), *words], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def events(campaign: Any) -> list[str]:
    return [entry.body["key"] for entry in campaign.journal() if entry.kind == "event"]


def test_killed_at_every_label_no_event_is_lost_and_a_repeat_has_the_same_key(address: str) -> None:
    campaign: Any = spent("p", address)
    with receiver() as made:
        campaign.add_webhook(made.url)
        for _ in range(6):
            campaign.top_up(1)
        wanted = events(campaign)[1:]
        campaign.storage.close()
        run("kill", address)
    assert list(dict.fromkeys(made.keys)) == wanted  # all of them, in their order
    # after the commit nothing is repeated; after and before it the same message comes again
    assert Counter(Counter(made.keys).values()) == Counter({1: 4, 3: 2})
    assert len({(each.headers["webhook-id"], each.body) for each in made.messages}) == 6
    found: Any = Campaign.open("p", storage=address)
    assert events(found)[1:] == wanted
    assert found.webhooks()[0].waiting == 0


def test_two_deliverers_never_send_an_event_at_the_same_time(address: str) -> None:
    busy, lock, overlaps = set[str](), threading.Lock(), list[str]()

    def reply(connected: socket.socket) -> None:
        path = made.messages[-1].path  # close enough: see below
        with lock:
            if path in busy:
                overlaps.append(path)
            busy.add(path)
        time.sleep(0.003)
        with lock:
            busy.discard(path)
        connected.sendall(OK)

    campaign: Any = spent("p", address)
    with receiver(reply) as made:
        for number in range(6):
            campaign.add_webhook(f"{made.url}/{number}")
        for _ in range(4):
            campaign.top_up(1)
        wanted = events(campaign)[1:]
        campaign.storage.close()
        run("race", address, "2")
    by_hook = {each.path: list[str]() for each in made.messages}
    for each, key in zip(made.messages, made.keys, strict=True):
        by_hook[each.path].append(key)
    assert len(by_hook) == 6
    assert all(keys == wanted for keys in by_hook.values())  # each once, in its order
    assert not overlaps
