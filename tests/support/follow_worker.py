"""Followers in processes of their own: one that dies at a label, or some at the same time.

python follow_worker.py kill ADDRESS URL      at each label in turn, then once in peace
python follow_worker.py several ADDRESS URL N
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from purse.campaign.storage.connect import connect
from purse.campaign.webhooks.file import Receiver
from purse.campaign.webhooks.follower import Follower
from purse.campaign.webhooks.sending import read_target

LABELS = ("before the message", "after the message", "before the commit", "after the commit")
SECRET = b"sesame-sesame-sesame-sesame"


def die(*_: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def then(act: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
    """Die before something is done, or after it."""

    def dying(*given: Any, **more: Any) -> Any:
        if not after:
            die()
        act(*given, **more)
        return die()

    return dying


def worker(address: str, url: str, label: str = "") -> Follower:
    """A follower that dies at a label."""
    storage: Any = connect(address)
    receiver = Receiver("a", read_target(url), SECRET, campaigns=("*",), allow_private=True)
    made = Follower(storage, receiver)
    if label.endswith("message"):
        made.send = then(made.send, after=label.startswith("after"))
    elif label:
        storage.keep = then(storage.keep, after=label.startswith("after"))
    return made


def in_child(act: Callable[[], Any]) -> int:
    """The process that does this."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
            os._exit(0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
    return pid


def ended(pid: int) -> int:
    """How a process ended."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill(address: str, url: str) -> None:
    """Die at each label, twice round."""
    for label in LABELS * 2:
        code = ended(in_child(lambda: worker(address, url, label).look()))  # noqa: B023
        assert code == -signal.SIGKILL, (label, code)
    assert ended(in_child(lambda: worker(address, url).look())) == 0


def several(address: str, url: str, number: int) -> None:
    """Several look at the same time."""
    pids = [in_child(lambda: worker(address, url).look()) for _ in range(number)]
    assert [ended(pid) for pid in pids] == [0] * number


if __name__ == "__main__":
    if sys.argv[1] == "kill":
        kill(sys.argv[2], sys.argv[3])
    else:
        several(sys.argv[2], sys.argv[3], int(sys.argv[4]))
