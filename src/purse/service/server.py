"""The server: it listens on a port, or on a Unix socket that only its owner can open, and on
SIGTERM or Ctrl-C finishes what it has begun before it goes.
"""

import os
import signal
import socket
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from purse.errors import InvalidInput, invalid
from purse.service import problems
from purse.service.app import Service
from purse.service.connections import BoundedProtocol
from purse.service.settings import Settings, address_shown

# seconds that open requests get to finish: longer than a storage is waited for
_SHUTDOWN_TIMEOUT_S = 60
_BACKLOG = 2048
# milliseconds after which a connection is closed whose other side takes nothing of an answer
_ANSWER_MS = 30_000
_PRIVATE = 0o600


class Server(uvicorn.Server):
    """A server whose streams end when it is told to stop, so that nothing keeps it from going."""

    def __init__(self, app: Service) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                http=BoundedProtocol,
                ws="none",
                proxy_headers=False,  # the app looks at them, if it trusts a proxy
                server_header=False,
                timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT_S,
            )
        )
        self.app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then wait for all other requests."""
        self.app.views.close()
        await super().shutdown(sockets)


def serve(settings: Settings) -> None:
    """Serve until told to stop; then everything that was answered is on disk."""
    app = Service(settings)
    with listening(settings) as (listener, url):
        problems.configure_log(settings.log)
        facts = {
            "url": url,
            "storage": address_shown(settings.storage),
            "tokens": settings.tokens and str(settings.tokens),
        }
        if sys.stderr.isatty():
            print(_greeting(facts), file=sys.stderr)
        else:
            problems.LOGGER.info("listening", extra={problems.FACTS: facts})
        for number in (signal.SIGINT, signal.SIGTERM):
            # the server raises it again when it is done; that is no failure
            signal.signal(number, lambda *_: None)
        Server(app).run([listener])
    problems.LOGGER.info("stopped")


def _greeting(facts: Mapping[str, object]) -> str:
    """Return the greeting on a terminal.

    >>> print(_greeting({"url": "http://127.0.0.1:8000", "storage": "sqlite:///purse.db"}))
    Dashboard: http://127.0.0.1:8000
    Storage:   sqlite:///purse.db
    Ctrl-C ends it.
    """
    title = "Dashboard" if str(facts["url"]).startswith("http") else "Address"
    return f"{title + ':':11}{facts['url']}\nStorage:   {facts['storage']}\nCtrl-C ends it."


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
