"""The tokens of a service and their roles: tokens in a file of JSON lines that holds their SHA-256
only.

A token is shown once, when it is made. Roles: `read` sees everything, `act` also asks, tells and
voids, `admin` also creates campaigns, tops up, pauses and ends.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from stat import S_IMODE
from typing import BinaryIO, NamedTuple

from purse.base import validation
from purse.base.files import PRIVATE, write_atomically
from purse.errors import InvalidInput, unknown

if sys.platform != "win32":
    import fcntl

_ROLES = ("read", "act", "admin")  # each may do what those before it may
_PREFIX = "purse_"
_LONGEST = 100 * 365 * 86_400  # seconds that a token may be good for


class _Token(NamedTuple):
    """A line of the file."""

    name: str
    role: str
    sha256: str
    created: str  # ISO 8601, in UTC
    expires: str | None

    def expired(self, now: float) -> bool:
        """Return whether its time is over."""
        return self.expires is not None and datetime.fromisoformat(self.expires).timestamp() <= now


class Principal(NamedTuple):
    """The sender of a request."""

    name: str | None  # None: no tokens are needed here
    role: str

    def may(self, role: str) -> bool:
        """Return whether the role is among those that this one includes."""
        return _ROLES.index(self.role) >= _ROLES.index(role)


class TokenFile:
    """The tokens of a file, read again when it has changed: a revoked token is out at once."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self.path, self.now = path, now
        self._stamp: tuple[int, int, int] | None = None
        self._tokens: list[_Token] = []

    def current(self) -> list[_Token]:
        """Return the tokens as they are in the file now."""
        try:
            stat = self.path.stat()
            stamp = stat.st_mtime_ns, stat.st_size, stat.st_ino
            if stamp != self._stamp:
                self._tokens, self._stamp = _read(self.path), stamp
        except OSError as error:
            self._stamp = None
            raise InvalidInput(
                f"cannot read the tokens file {str(self.path)!r}: {error.strerror}; purse "
                "token new NAME makes one"
            ) from error
        return self._tokens

    def principal(self, secret: str) -> Principal | None:
        """Return the holder of a token; None if it is unknown or expired.
        Raise `InvalidInput` if the file cannot be read.
        """
        digest, tokens = _digest_of(secret), self.current()
        # looks at all: the time taken tells nothing
        matching = [token for token in tokens if compare_digest(token.sha256, digest)]
        valid = [token for token in matching if not token.expired(self.now())]
        return Principal(valid[0].name, valid[0].role) if valid else None


def _digest_of(secret: str) -> str:
    """Return the digest that stands for a token in the file."""
    return sha256(secret.encode()).hexdigest()


def _read(path: Path) -> list[_Token]:
    """Return the tokens in a file; a line that is not one is refused with its number."""
    tokens = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            token = _Token(**json.loads(line))
            token.expired(0)
            good = token.role in _ROLES and isinstance(token.name, str)
            good = good and len(bytes.fromhex(token.sha256)) == 32
        except (TypeError, ValueError):
            good = False
        if not good:
            raise InvalidInput(f"line {number} of {str(path)!r} is not a token")
        tokens.append(token)
    return tokens


def new(path: Path, name: str, role: str, expires_after: float | None, now: float) -> str:
    """Return a new token, which is written down nowhere; its line is added to the file."""
    validation.choice("role", role, _ROLES)
    if expires_after is not None:
        validation.number("expires", expires_after, above=0, high=_LONGEST)
    if not 1 <= len(name) <= 100 or not name.isprintable():
        raise InvalidInput(f"name={name!r}: must be 1 to 100 printable characters")
    secret = _PREFIX + secrets.token_urlsafe(32)
    until = None if expires_after is None else moment(now + expires_after)
    token = _Token(name, role, _digest_of(secret), moment(now), until)
    with _changing(path):
        tokens = _read(path) if path.exists() else []
        if name in {token.name for token in tokens}:
            raise InvalidInput(
                f"name={name!r}: there is a token of this name already; purse token revoke "
                f"{name} removes it"
            )
        _write(path, [*tokens, token])
    return secret


def revoke(path: Path, name: str) -> None:
    """Remove a token from the file."""
    with _changing(path):
        tokens = _read(path)
        if name not in {token.name for token in tokens}:
            raise unknown("token", name, [token.name for token in tokens])
        _write(path, [token for token in tokens if token.name != name])


def _write(path: Path, tokens: Iterable[_Token]) -> None:
    """Write a file of tokens whole or not at all; who could read the one before can read it."""
    lines = "".join(json.dumps(token._asdict()) + "\n" for token in tokens)

    def write(file: BinaryIO) -> None:
        with suppress(AttributeError, OSError):  # without a file before, or on Windows
            before = path.stat()
            os.fchmod(file.fileno(), S_IMODE(before.st_mode))
            os.fchown(file.fileno(), before.st_uid, before.st_gid)
        file.write(lines.encode())

    write_atomically(path, write, PRIVATE)


@contextmanager
def _changing(path: Path) -> Iterator[None]:
    """Lock the file for a change: without a lock, two changes at once would bring a revoked token
    back. The lock stands beside the file, which is replaced.
    """
    if sys.platform == "win32":
        yield
        return
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def moment(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601, in UTC.

    >>> moment(0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()
