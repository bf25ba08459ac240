"""Things that a child process must not share with its parent: locks that another thread held, of
modules that it was importing too, connections, and what SQLite remembers of its files.

`purse` itself imports this, before a thread may load anything.
"""

import _imp
import logging  # noqa: F401  (it has locks at a fork, too: not while one waits)
import os
import sys
import threading
import time
from contextlib import suppress
from functools import cached_property as _with_lock
from importlib import _bootstrap
from typing import Any, Protocol
from weakref import WeakSet

_PATIENCE_S = 10.0  # seconds that a fork waits at most for threads that import


class _ResetsInChild(Protocol):
    """Something that begins without a past in a child process."""

    def renew(self) -> None:
        """Take new locks, and let go of what belongs to the parent without closing it."""


class _QuiescesBeforeFork(_ResetsInChild, Protocol):
    """Something that has to come to rest before a fork."""

    def settle(self) -> None:
        """Before a fork: wait for what is being done, and let go of what a child must not
        inherit.
        """

    def go_on(self) -> None:
        """After a fork, in the parent."""


_renewed: WeakSet[_ResetsInChild] = WeakSet()
_settled: WeakSet[_QuiescesBeforeFork] = WeakSet()
_resting: list[_QuiescesBeforeFork] = []
_compiling: list[Any] = []  # locks of the compiler that the fork holds
_forking = threading.Lock()  # one fork at a time
left_behind: list[object] = []  # connections of the parent: closing them here would disturb it


def reset_after_fork(item: _ResetsInChild) -> None:
    """Have the item renewed in every child."""
    _renewed.add(item)


def quiesce_before_fork(item: _QuiescesBeforeFork) -> None:
    """Have the item come to rest before every fork, and renewed in the child. A fork that has
    begun is waited for, so that none comes while the item begins.
    """
    with _forking:
        _settled.add(item)
        _renewed.add(item)


def _before() -> None:
    _forking.acquire()
    for item in list(_settled):
        item.settle()
        _resting.append(item)
    # then: who compiles inside a transaction has to finish it first
    jit: Any = sys.modules.get("purse.compiler.jit")
    for lock in jit.compiler_locks() if hasattr(jit, "compiler_locks") else ():
        lock.acquire()
        _compiling.append(lock)
    _keep_from_importing()


def _keep_from_importing() -> None:
    """Wait until no other thread imports a module, and let none begin: in a child no thread would
    ever give back the lock of that module.
    """
    until = time.monotonic() + _PATIENCE_S
    _imp.acquire_lock()
    while _others_import() and time.monotonic() < until:
        _imp.release_lock()
        time.sleep(0.001)
        _imp.acquire_lock()


def _others_import() -> bool:
    locks = [lock() for lock in list(_bootstrap._module_locks.values())]  # type: ignore[attr-defined]
    return any(getattr(lock, "owner", None) not in (None, threading.get_ident()) for lock in locks)


def _let_compile() -> None:
    with suppress(RuntimeError):  # a child may have it no more
        _imp.release_lock()
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


if sys.version_info >= (3, 12):
    cached_property = _with_lock
else:

    class cached_property(_with_lock):  # type: ignore[type-arg]  # noqa: N801
        """A property that is computed once for each object; by two threads at once, twice.

        It has no lock, as from Python 3.12 on: a child process would inherit the lock of a thread
        that was computing the property, and wait for it for ever.
        """

        def __get__(self, instance, owner=None):  # type: ignore[no-untyped-def]
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
