"""A real server on a free port of this machine, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from purse.service.app import make_app
from purse.service.campaign_cache import CampaignCache
from purse.service.live_view import LiveViews
from purse.service.server import Server, listening
from purse.service.settings import Settings

LONG = 30.0  # seconds after which something that should have happened never will


class Served(NamedTuple):
    """Where a server is, what its viewers see, and which campaigns it has open."""

    url: str
    port: int
    views: LiveViews
    cache: CampaignCache


@contextmanager
def served(port: int = 0, **settings: Any) -> Iterator[Served]:
    """A server, until the block ends; then it has to stop by itself, whoever still looks."""
    app = make_app(Settings(**settings))
    listener = listening("127.0.0.1", port)
    server = Server(app)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    number = listener.getsockname()[1]
    try:
        yield Served(f"http://127.0.0.1:{number}", number, app.state.views, app.state.cache)
    finally:
        server.should_exit = True
        thread.join(LONG)
        listener.close()
        assert not thread.is_alive(), "the server did not stop"
