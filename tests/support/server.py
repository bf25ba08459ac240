"""A real server on a free port of this machine, or on a Unix socket, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from purse.service.app import Service
from purse.service.budgets import Budgets
from purse.service.live_view import LiveViews
from purse.service.server import Server, listening
from purse.service.settings import Settings

LONG = 30.0  # seconds after which something that should have happened never will


class Served(NamedTuple):
    """Where a server is, what its viewers see, and which campaigns it has open."""

    url: str
    port: int  # 0 for a Unix socket
    views: LiveViews
    budgets: Budgets


@contextmanager
def served(port: int = 0, **settings: Any) -> Iterator[Served]:
    """A server, until the block ends; then it has to stop by itself, whoever still looks."""
    chosen = Settings(port=port, **settings)
    app = Service(chosen)
    with listening(chosen) as (listener, url):
        server = Server(app)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        number = listener.getsockname()[1] if chosen.socket is None else 0
        try:
            yield Served(url, number, app.views, app.budgets)
        finally:
            server.should_exit = True
            thread.join(LONG)
            assert not thread.is_alive(), "the server did not stop"
