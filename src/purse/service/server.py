"""The server: it listens, answers, and on SIGTERM or Ctrl-C finishes what it has begun before it
goes.
"""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Mapping

import uvicorn

from purse.service import request_log
from purse.service.app import Service
from purse.service.connections import BoundedProtocol
from purse.service.listeners import listening
from purse.service.settings import Settings, address_shown

# seconds that open requests get to finish: longer than a storage is waited for
_SHUTDOWN_TIMEOUT_S = 60


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
        request_log.configure(settings.log)
        told = {
            "url": url,
            "storage": address_shown(settings.storage),
            "tokens": settings.tokens and str(settings.tokens),
        }
        if sys.stderr.isatty():
            print(_greeting(told), file=sys.stderr)
        else:
            request_log.LOGGER.info("listening", extra={request_log.FACTS: told})
        for number in (signal.SIGINT, signal.SIGTERM):
            # the server raises it again when it is done; that is no failure
            signal.signal(number, lambda *_: None)
        Server(app).run([listener])
    request_log.LOGGER.info("stopped")


def _greeting(told: Mapping[str, object]) -> str:
    """Return the greeting on a terminal.

    >>> print(_greeting({"url": "http://127.0.0.1:8000", "storage": "sqlite:///purse.db"}))
    Dashboard: http://127.0.0.1:8000
    Storage:   sqlite:///purse.db
    Ctrl-C ends it.
    """
    place = "Dashboard" if str(told["url"]).startswith("http") else "Address"
    return f"{place + ':':11}{told['url']}\nStorage:   {told['storage']}\nCtrl-C ends it."
