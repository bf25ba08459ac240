"""Connections that threads share: each uses one alone, and no thread waits for a slow other one."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import get_ident
from typing import Generic, TypeVar
from weakref import WeakMethod

from purse.errors import PurseError, StorageUnavailable

C = TypeVar("C")
_MOST_IDLE = 4  # connections kept open for the next thread
_LOOK_AGAIN_S = 1.0  # after which a waiting thread looks itself


@dataclass(eq=False)
class _Lease(Generic[C]):
    """The use of a connection, or of the place for one, by a thread."""

    connection: C | None = None
    thread: int = field(default_factory=get_ident)


class ConnectionPool(Generic[C]):
    """At most `most` connections, each made when it is first needed.

    connect   a method of the owner that makes a connection
    close     a method of the owner that closes one
    timeout   seconds to wait for a connection if all are in use
    """

    def __init__(
        self, connect: Callable[[], C], close: Callable[[C], None], limit: int, timeout: float
    ) -> None:
        # weak, so that an owner that is let go of closes its connections at once
        self._connect_method, self._close_method = WeakMethod(connect), WeakMethod(close)
        self._most, self._timeout = limit, timeout
        self.renew()

    def _connect(self) -> C:
        connect = self._connect_method()
        assert connect is not None
        return connect()

    def _close(self, connection: C) -> None:
        close = self._close_method()
        assert close is not None
        close(connection)

    def renew(self) -> None:
        """Begin without connections, in a child process too: the old ones are the parent's."""
        self._lock = threading.RLock()  # taken by itself: a condition may leave it to a signal
        self._changed = threading.Condition(self._lock)
        self.idle: list[C] = []
        self._leases: set[_Lease[C]] = set()
        self._draining: set[object] = set()

    @contextmanager
    def use(self, begin: Callable[[C], object] = lambda _: None) -> Iterator[C]:
        """Yield a connection for this thread. After an error that is not ours it is closed, because
        its state is unknown.

        begin   is called with the connection; if that fails on one that was used before, and may
                have been lost since, it is called again with a new one

        Raise `StorageUnavailable` if no connection gets free in time.
        """
        lease = _Lease[C]()
        try:
            self._take(lease, begin)
            assert lease.connection is not None
            yield lease.connection
        except BaseException as error:
            self._give_back(lease, keep=isinstance(error, PurseError))
            raise
        self._give_back(lease, keep=True)

    def _take(self, lease: _Lease[C], begin: Callable[[C], object]) -> None:
        with self._lock:
            if not self._wait_until(
                lambda: not self._draining and len(self._leases) < self._most, self._timeout
            ):
                raise StorageUnavailable(
                    f"all {self._most} connections have been in use for {self._timeout:g} seconds"
                )
            self._leases.add(lease)
            lease.connection = self.idle.pop() if self.idle else None
        if lease.connection is not None:
            with suppress(Exception):  # it was lost; a new one says what else may be wrong
                begin(lease.connection)
                return
            self._close(lease.connection)
            lease.connection = None
        lease.connection = self._connect()
        begin(lease.connection)

    def _wait_until(self, ready: Callable[[], bool], timeout: float | None) -> bool:
        """Wait, with the lock, and look every so often: a signal may stop the thread that wakes."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while not ready():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._changed.wait(min(left, _LOOK_AGAIN_S))
        return True

    def close_idle(self, close: Callable[[C], None]) -> None:
        """Close those that are not in use. `close` is the owner's method, which may be going."""
        with self._lock:
            idle, self.idle = self.idle, []
        for connection in idle:
            close(connection)

    def let_go(self) -> None:
        """Give back this thread's leases, which an exception of a signal may have left behind."""
        for lease in list(self._leases):
            if lease.thread == get_ident():
                self._give_back(lease, keep=False)

    def _give_back(self, lease: _Lease[C], *, keep: bool) -> None:
        connection = lease.connection
        try:
            if lease not in self._leases:
                return
            if connection is not None and (not keep or len(self.idle) >= _MOST_IDLE):
                self._close(connection)
                connection = None
        finally:
            with self._lock:
                if lease in self._leases:
                    self._leases.discard(lease)  # first: others may have it next
                    if keep and connection is not None:
                        self.idle.append(connection)
                self._changed.notify_all()

    @contextmanager
    def drained(self, close: Callable[[C], None], timeout: float | None = None) -> Iterator[bool]:
        """Within this no connection is in use or open; False if a thread keeps one for longer
        than `timeout` seconds. `close` is the owner's method, as for `close_idle`.
        """
        draining = object()
        try:
            with self._lock:
                self._draining.add(draining)
                free = self._wait_until(lambda: not self._leases, timeout)
            self.close_idle(close)
            yield free
        finally:
            self._draining.discard(draining)
            with self._lock:
                self._changed.notify_all()
