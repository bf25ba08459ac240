"""The client's end of a Unix socket: connections to a server that commits for others."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from purse.campaign.fork_safety import reset_after_fork
from purse.campaign.storage.remote.unix_connection import Connection
from purse.campaign.storage.remote.unix_socket import checked_path
from purse.campaign.storage.remote.wire import error_of
from purse.errors import InvalidInput, StorageUnavailable

TIMEOUT_S = 30.0  # seconds from a call to its deadline
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.01, 0.25  # between two attempts to connect
NOBODY = (FileNotFoundError, ConnectionRefusedError)  # what a socket without a server raises


class UnixTransport:
    """Calls of a server over a Unix socket, from any thread and after a fork.

    A call whose connection is lost is sent again until its deadline, so that it has to be
    idempotent. Connections are kept for the next call; each is used by one thread at a time.
    """

    def __init__(self, path: str) -> None:
        self.path = checked_path(path)
        self._known: str | None = None  # the identity of the database, from the first connection
        self._open: set[Connection] = set()
        self.renew()
        reset_after_fork(self)

    def renew(self) -> None:
        """Begin without connections, in a child process too: those there are belong to the
        parent, which keeps them.
        """
        for connection in self._open:
            connection.close()
        self._open = set()
        self._idle: list[Connection] = []
        self._lock = threading.Lock()  # over `_open`

    def call(self, verb: str, arguments: Sequence[Any]) -> Any:
        """Return the server's answer, as JSON has it, or raise the error that it answers with.

        Raise `StorageUnavailable` where it does not answer in time.
        """
        deadline = time.monotonic() + TIMEOUT_S
        pause = 0.0
        while True:
            try:
                answer = self._exchange(verb, arguments, deadline)
                break
            except TimeoutError:
                raise StorageUnavailable(
                    f"{self.path}: the server has not answered for {TIMEOUT_S:g} seconds; what it "
                    "has begun may still be done, so repeat this with the same request_id"
                ) from None
            except OSError as error:
                self._close_idle()  # where one is lost, they are all lost
                if time.monotonic() + pause >= deadline:
                    raise StorageUnavailable(f"{self.path}: {error.strerror or error}") from None
            time.sleep(pause)
            pause = min(max(FIRST_PAUSE_S, 2 * pause), LONGEST_PAUSE_S)
        if len(answer) > 2:
            raise error_of(answer[2])
        return answer[1]

    def _exchange(self, verb: str, arguments: Sequence[Any], deadline: float) -> Any:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect(deadline)
        try:
            answer = connection.exchange(verb, arguments, deadline)
        except InvalidInput:  # too long: nothing was sent
            self._idle.append(connection)
            raise
        except BaseException:  # an answer may still come, and nobody would know what it answers
            self._forget(connection)
            raise
        self._idle.append(connection)
        return answer

    def _connect(self, deadline: float) -> Connection:
        try:
            connection = Connection(self.path, deadline)
        except NOBODY:
            if self._known is not None:
                raise
            raise StorageUnavailable(
                f"{self.path}: no server listens there; start one with: purse serve --socket "
                f"{self.path}"
            ) from None
        except PermissionError:
            raise StorageUnavailable(
                f"{self.path}: only the user who started the server, and root, may connect"
            ) from None
        with self._lock:
            self._open.add(connection)
        try:
            found = connection.greet(deadline)
            if self._known not in (None, found):
                raise StorageUnavailable(
                    f"{self.path}: the server there has another database than before; open the "
                    "campaign again if that is meant"
                )
        except BaseException:
            self._forget(connection)
            raise
        self._known = found
        return connection

    def _forget(self, connection: Connection) -> None:
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def _close_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._forget(self._idle.pop())

    def close(self) -> None:
        """Close the connections that no thread uses."""
        self._close_idle()

    def __del__(self, suppress: Any = suppress) -> None:  # the name is gone when Python ends
        with suppress(Exception):  # it may never have begun
            self.close()
