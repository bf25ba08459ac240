"""The file of a Unix socket: made for its owner alone, and removed when the server stops."""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from purse.campaign.storage.remote.unix_socket import checked_path
from purse.errors import InvalidInput, invalid

if sys.platform == "linux":
    import fcntl

MODE = 0o600
BACKLOG = 1024  # clients that wait to be accepted


class SocketFile:
    """A socket that listens at a path. It replaces the file of a server that has gone.

    Raise `InvalidInput` where a server listens there already, where another file is in its place,
    or where the folder does not let us.
    """

    def __init__(self, path: str) -> None:
        self.path = checked_path(path)
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            with locked_folder(self.path):
                remove_stale(self.path)
                os.fchmod(self.socket.fileno(), MODE)  # before there is a file that others can open
                self.socket.bind(self.path)
                self.socket.listen(BACKLOG)
                self._inode = os.lstat(self.path).st_ino
        except OSError as error:
            self.socket.close()
            raise invalid("socket", self.path, f"{error.strerror or error}") from None
        except BaseException:
            self.socket.close()
            raise

    def remove(self) -> None:
        """Close the socket and remove its file, unless another server has put its own there."""
        self.socket.close()
        with suppress(OSError), locked_folder(self.path):
            if os.lstat(self.path).st_ino == self._inode:
                os.unlink(self.path)


@contextmanager
def locked_folder(path: str) -> Iterator[None]:
    """Within this no other server looks at the path, or binds to it."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def remove_stale(path: str) -> None:
    """Remove the socket of a server that has gone; refuse anything else that is there."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise InvalidInput(f"socket={path!r}: there is a file already, which is not a socket")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
        except BlockingIOError:  # so many wait for it that none is let in
            pass
    raise InvalidInput(f"socket={path!r}: a server listens there already")
