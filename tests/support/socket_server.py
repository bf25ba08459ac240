"""A server of a socket in a thread of this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from purse.campaign.server.socket_file import SocketFile
from purse.campaign.server.socket_server import SocketServer

LONG = 30.0  # seconds after which something that should have happened never will


@contextmanager
def serving(storage: Any, path: str) -> Iterator[SocketServer]:
    """A server in a thread, until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = SocketServer(storage, SocketFile(path))
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(LONG)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(LONG)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(LONG)
        loop.close()
