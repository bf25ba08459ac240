"""Connections that threads share: each uses one alone, and no thread waits for a slow other one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar
from weakref import WeakMethod

from purse.errors import PurseError, StorageUnavailable

C = TypeVar("C")
MOST_IDLE = 4  # connections kept open for the next thread


class ConnectionPool(Generic[C]):
    """At most `most` connections, each made when it is first needed.

    connect   a method of the owner that makes a connection
    close     a method of the owner that closes one
    timeout   seconds to wait for a connection if all are in use
    """

    def __init__(
        self, connect: Callable[[], C], close: Callable[[C], None], most: int, timeout: float
    ) -> None:
        # weak, so that an owner that is let go of closes its connections at once
        self._connect_method, self._close_method = WeakMethod(connect), WeakMethod(close)
        self._most, self._timeout = most, timeout
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
        """Begin without connections, in a child process too: those there are belong to the
        parent.
        """
        self._changed = threading.Condition()
        self.idle: list[C] = []
        self._used = 0
        self._draining = 0

    @contextmanager
    def use(self, begin: Callable[[C], object] = lambda _: None) -> Iterator[C]:
        """Yield a connection for this thread. After an error that is not ours it is closed, because
        its state is unknown.

        begin   is called with the connection; if that fails on one that was used before, and may
                have been lost since, it is called again with a new one

        Raise `StorageUnavailable` if no connection gets free in time.
        """
        connection = self._take(begin)
        try:
            yield connection
        except BaseException as error:
            self._give_back(connection, keep=isinstance(error, PurseError))
            raise
        self._give_back(connection, keep=True)

    def _take(self, begin: Callable[[C], object]) -> C:
        with self._changed:
            if not self._changed.wait_for(
                lambda: not self._draining and self._used < self._most, self._timeout
            ):
                raise StorageUnavailable(
                    f"all {self._most} connections have been in use for {self._timeout:g} seconds"
                )
            self._used += 1
            idle = self.idle.pop() if self.idle else None
        try:
            if idle is not None:
                try:
                    begin(idle)
                except Exception:  # it was lost; a new one says what else may be wrong
                    self._close(idle)
                else:
                    return idle
            connection = self._connect()
            try:
                begin(connection)
            except BaseException:
                self._close(connection)
                raise
        except BaseException:
            with self._changed:
                self._used -= 1
                self._changed.notify_all()
            raise
        return connection

    def close_idle(self) -> None:
        """Close those that are not in use: if one was lost, they are lost, too."""
        with self._changed:
            idle, self.idle = self.idle, []
        for connection in idle:
            self._close(connection)

    def _give_back(self, connection: C, *, keep: bool) -> None:
        try:
            if not keep or len(self.idle) >= MOST_IDLE:
                keep = False
                self._close(connection)
        finally:
            with self._changed:
                self._used -= 1
                if keep:
                    self.idle.append(connection)
                self._changed.notify_all()

    @contextmanager
    def drained(self, close: Callable[[C], None], timeout: float | None = None) -> Iterator[bool]:
        """Within this no connection is in use or open; False if a thread keeps one for longer
        than `timeout` seconds. `close` is the owner's method, which may be going.
        """
        with self._changed:
            self._draining += 1
            free = self._changed.wait_for(lambda: self._used == 0, timeout)
            idle, self.idle = self.idle, []
        try:
            for connection in idle:
                close(connection)
            yield free
        finally:
            with self._changed:
                self._draining -= 1
                self._changed.notify_all()
