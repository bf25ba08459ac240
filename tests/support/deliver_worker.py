"""Deliverers in processes of their own: one that dies at a label, or some that race.

python deliver_worker.py kill ADDRESS      at each label in turn, then once in peace
python deliver_worker.py race ADDRESS N
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from purse.campaign.storage.connect import connect
from purse.campaign.webhooks.deliverer import LEASE, Deliverer
from purse.campaign.webhooks.sending import Sender

LABELS = ("after the lease", "after the message", "before the commit", "after the commit")


def die(*_: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def then(act: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
    """Die before something is done, or after it."""

    def dying(*given: Any) -> Any:
        if not after:
            die()
        act(*given)
        return die()

    return dying


def worker(address: str, label: str, later: int = 0) -> Deliverer:
    """A deliverer that dies at a label; its clock shows a later time."""
    storage: Any = connect(address)
    made = Deliverer(storage, Sender(allow_private=True))
    now = storage.now
    storage.now = lambda: now() + later
    if label == "after the lease":
        storage.lease_webhook = then(storage.lease_webhook, after=True)
    elif label == "after the message":
        made.send = then(made.send, after=True)
    elif label:
        storage.settle_webhook = then(storage.settle_webhook, after=label.startswith("after"))
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


def kill(address: str) -> None:
    """Die at each label, twice round."""
    for turn, label in enumerate(LABELS * 2):
        later = turn * (LEASE + 1)
        code = ended(in_child(lambda: worker(address, label, later).run(forever=False)))  # noqa: B023
        assert code == -signal.SIGKILL, (label, code)
    peace = lambda: worker(address, "", len(LABELS) * 2 * (LEASE + 1)).run(forever=False)  # noqa: E731
    assert ended(in_child(peace)) == 0


def race(address: str, number: int) -> None:
    """Several deliver until nothing waits."""
    begin = time.time() + 0.5

    def run() -> None:
        made = worker(address, "")
        time.sleep(max(0, begin - time.time()))
        made.run(forever=False)

    assert [ended(pid) for pid in [in_child(run) for _ in range(number)]] == [0] * number


if __name__ == "__main__":
    if sys.argv[1] == "kill":
        kill(sys.argv[2])
    else:
        race(sys.argv[2], int(sys.argv[3]))
