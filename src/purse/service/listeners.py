"""Sockets on which a server listens: a port, or a Unix socket that only its owner can open."""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from purse.errors import InvalidInput, invalid
from purse.service.settings import Settings

_BACKLOG = 2048
_ANSWER_MS = (
    30_000  # after which a connection is closed whose other side takes nothing of an answer
)
_PRIVATE = 0o600


@contextmanager
def listening(settings: Settings) -> Iterator[tuple[socket.socket, str]]:
    """Give a socket that listens, and its address for clients; refuse in one line if it cannot."""
    if settings.socket is None:
        with _on_port(settings.host, settings.port) as listener:
            yield listener, _address_of(listener)
        return
    path = settings.socket.absolute()
    with _on_path(path) as listener:
        created = path.lstat()
        try:
            yield listener, f"unix:{path}"
        finally:
            with suppress(OSError):
                if path.lstat().st_ino == created.st_ino:  # it was not replaced
                    path.unlink()


def _on_port(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port."""
    try:
        listener = socket.create_server(
            (host, port),
            family=socket.AF_INET6 if ":" in host else socket.AF_INET,
            backlog=_BACKLOG,
        )
    except OSError as error:
        raise InvalidInput(
            f"cannot listen on {host} port {port}: {error.strerror or error}"
        ) from error
    if sys.platform == "linux":  # of all its connections; elsewhere an answer may stand still
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _ANSWER_MS)
    return listener


def _address_of(listener: socket.socket) -> str:
    """Return where a socket can be reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _on_path(path: Path) -> socket.socket:
    """Return a Unix socket that listens at a path, in the place of a dead server's."""
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(path))
        path.chmod(_PRIVATE)  # there is no way to connect before it listens
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise InvalidInput(f"cannot listen on {path}: {error.strerror or error}") from error
    return listener


def _remove_stale(path: Path) -> None:
    """Remove a socket on which no server listens; refuse a path with anything else."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return  # there is nothing, or `bind` says what is wrong
    if not stat.S_ISSOCK(mode):
        raise invalid("socket", str(path), "must be a path at which there is no file")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            os.unlink(path)
        except OSError as error:
            raise InvalidInput(f"cannot listen on {path}: {error.strerror or error}") from error
        else:
            raise invalid("socket", str(path), "must be a path at which no server listens")
