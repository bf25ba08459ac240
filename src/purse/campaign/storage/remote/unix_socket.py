"""What both ends of a Unix socket share: its path, its frames, and which user is at the other end.

A frame is the length of a message in four bytes, the highest first, and the message.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from typing import Any

from purse.campaign.storage.remote.wire import encode
from purse.errors import InvalidInput, invalid

HEADER = struct.Struct(">I")
MOST_BYTES = 64 * 2**20  # in a message
MOST_PATH = 107  # bytes that the kernel takes
CREDENTIALS = struct.Struct("3i")  # process, user and group
ROOT = 0


def checked_path(path: str) -> str:
    """Return the absolute path of a socket; refuse one that no socket can have."""
    if sys.platform != "linux":
        raise invalid("socket", path, "only Linux says which user is at the other end of a socket")
    if not path or "\0" in path:
        raise invalid("socket", path, "must be the path of a file")
    whole = os.path.abspath(path)
    if (size := len(os.fsencode(whole))) > MOST_PATH:
        raise InvalidInput(
            f"socket={whole!r}: has {size} bytes; the path of a Unix socket has at most {MOST_PATH}"
        )
    return whole


def peer_user(end: Any) -> int:
    """Return the user id of the process at the other end of a socket."""
    found = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    return CREDENTIALS.unpack(found)[1]


def frame(message: Any) -> bytes:
    """Return a message with its length; refuse one that is too long."""
    body = encode(message)
    if len(body) > MOST_BYTES:
        raise InvalidInput(
            f"a message of {len(body):,} bytes: at most {MOST_BYTES:,} fit; send or ask for less "
            "at a time"
        )
    return HEADER.pack(len(body)) + body
