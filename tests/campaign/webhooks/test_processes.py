"""Followers that are killed, and followers at the same time: no event is lost, and a repeat has the
same key.
"""

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from purse import Campaign
from purse.campaign.storage.connect import connect
from tests.support.processes import printed
from tests.support.receiver import follower, receiver, spent
from tests.support.soak import scale

LABELS = ("before the message", "after the message", "before the commit", "after the commit")


@pytest.fixture(params=["sqlite", "postgres"][: scale(1, 2)])
def address(request: Any, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_address"))
    return f"sqlite:///{tmp_path}/purse.db"


def look(address: str, url: str, label: str = "") -> int:
    """Start a process that sends what is new, or dies at a label."""
    if pid := os.fork():
        return pid
    try:
        storage: Any = connect(address)
        made: Any = follower(storage, SimpleNamespace(url=url), "a")
        if label:
            owner, name = (
                (made, "send") if label.endswith("message") else (storage, "move_checkpoint")
            )
            setattr(owner, name, dying(getattr(owner, name), after=label.startswith("after")))
        made.look()
        os._exit(0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def dying(act: Callable[..., Any], *, after: bool) -> Callable[..., None]:
    """Die before something is done, or after it."""

    def acts(*given: Any, **more: Any) -> None:
        if after:
            act(*given, **more)
        os.kill(os.getpid(), signal.SIGKILL)

    return acts


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill(address: str, url: str) -> None:
    """Die at each label, twice round; then look once in peace."""
    for label in LABELS * 2:
        assert ended(look(address, url, label)) == -signal.SIGKILL, label
    assert ended(look(address, url)) == 0


def several(address: str, url: str) -> None:
    """Three look at the same time."""
    pids = [look(address, url) for _ in range(3)]
    assert [ended(pid) for pid in pids] == [0] * 3


def run(act: Callable[[str, str], None], address: str, url: str, folder: Path) -> None:
    """Do this in a process without threads, which can be forked."""
    code = f"import sys; from {__name__} import {act.__name__} as act; act(*sys.argv[1:])"
    printed(code, address, url, out=folder / "said")


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


def test_killed_at_every_label_no_event_is_lost_and_a_repeat_has_the_same_key(
    address: str, tmp_path: Path
) -> None:
    with receiver() as made:
        wanted = begun(address, made)
        run(kill, address, made.url, tmp_path)
    assert list(dict.fromkeys(made.keys)) == wanted  # all of them, in their order
    # after the commit nothing is repeated; after the message and before the commit it is
    assert Counter(Counter(made.keys).values()) == Counter({1: 4, 3: 2})
    assert len({(each.headers["webhook-id"], each.body) for each in made.messages}) == 6
    found: Any = Campaign.open("p", storage=address)
    assert events(found)[1:] == wanted
    assert found.storage.checkpoint("p", "webhook a").seq >= found.status().entries - 1


def test_several_followers_lose_nothing_and_each_keeps_the_order(
    address: str, tmp_path: Path
) -> None:
    with receiver() as made:
        wanted = begun(address, made)
        run(several, address, made.url, tmp_path)
        sent = len(made.messages)
        run(several, address, made.url, tmp_path)
    assert list(dict.fromkeys(made.keys)) == wanted
    assert len({(each.headers["webhook-id"], each.body) for each in made.messages}) == 6
    assert len(wanted) <= sent == len(made.messages) <= 3 * len(wanted)
