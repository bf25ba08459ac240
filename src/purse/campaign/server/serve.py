"""`purse serve --socket PATH`: serve a Unix socket until told to stop."""

from __future__ import annotations

import asyncio
import logging
import re
import signal

from purse.campaign.server.socket_file import SocketFile
from purse.campaign.server.socket_server import SocketServer
from purse.campaign.storage.connect import connect
from purse.campaign.storage.remote.remote_storage import RemoteStorage
from purse.campaign.webhooks.background import delivering
from purse.errors import invalid

LOGGER = logging.getLogger(__name__)


def serve(storage: str, path: str, *, allow_private_webhooks: bool = False) -> None:
    """Serve, and deliver events, until SIGTERM or Ctrl-C; then everything that was answered is on
    disk.
    """
    kept = connect(storage)
    if isinstance(kept, RemoteStorage):
        raise invalid("storage", storage, "must be the database's own address, not a server's")
    file = SocketFile(path)
    told = {"socket": file.path, "storage": shown(storage)}
    try:
        with delivering(kept, allow_private=allow_private_webhooks):
            asyncio.run(until_stopped(SocketServer(kept, file), told))
    finally:
        file.remove()
        kept.close()
    LOGGER.info("stopped", extra={"facts": told})


async def until_stopped(server: SocketServer, told: dict[str, str]) -> None:
    """Serve until a signal comes; it is no failure."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await server.start()
    LOGGER.info("listening", extra={"facts": told})
    await stopped.wait()
    await server.stop()


def shown(storage: str) -> str:
    """A storage's address without user, password and options.

    >>> shown("postgresql://me:secret@host/base?sslmode=require")
    'postgresql://host/base'
    """
    return re.sub(r"(?<=//)[^/@]*@|\?.*", "", storage)
