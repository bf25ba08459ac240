"""Things that a child process must not share with its parent: locks that another thread held,
connections, and what SQLite remembers of its files.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Protocol
from weakref import WeakSet

from purse.compiler.jit import compiler_locks


class ResetsInChild(Protocol):
    """Something that begins without a past in a child process."""

    def renew(self) -> None:
        """Take new locks, and let go of what belongs to the parent without closing it."""


class QuiescesBeforeFork(ResetsInChild, Protocol):
    """Something that has to come to rest before a fork."""

    def settle(self) -> None:
        """Before a fork: wait for what is being done, and let go of what a child must not
        inherit.
        """

    def go_on(self) -> None:
        """After a fork, in the parent."""


_renewed: WeakSet[ResetsInChild] = WeakSet()
_settled: WeakSet[QuiescesBeforeFork] = WeakSet()
_resting: list[QuiescesBeforeFork] = []
_compiling: list[Any] = []  # locks of the compiler that the fork holds
_forking = threading.Lock()  # one fork at a time
left_behind: list[object] = []  # connections of the parent: closing them here would disturb it


def reset_after_fork(item: ResetsInChild) -> None:
    """Have the item renewed in every child."""
    _renewed.add(item)


def quiesce_before_fork(item: QuiescesBeforeFork) -> None:
    """Have the item come to rest before every fork, and renewed in the child."""
    _settled.add(item)
    _renewed.add(item)


def _before() -> None:
    _forking.acquire()
    for item in list(_settled):
        item.settle()
        _resting.append(item)
    # last: who compiles inside a transaction has to finish it first
    for lock in compiler_locks():
        lock.acquire()
        _compiling.append(lock)


def _let_compile() -> None:
    while _compiling:
        _compiling.pop().release()


def _in_parent() -> None:
    _let_compile()
    while _resting:
        _resting.pop().go_on()
    _forking.release()


def _in_child() -> None:
    global _forking
    _let_compile()  # a thread of the parent that compiled would never do it here
    _forking = threading.Lock()
    _resting.clear()
    for item in list(_renewed):
        item.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
