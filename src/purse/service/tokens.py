"""The tokens of a service and their roles: tokens in a file of JSON lines that holds their SHA-256
only.

A token is shown once, when it is made. Roles: `read` sees everything, `act` also asks, tells and
voids, `admin` also creates campaigns, tops up, pauses and ends. A token with a scope does so with
what it reaches, see `purse.service.reach`.
"""

import json
import math
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
from typing import Any, BinaryIO, NamedTuple

from purse.base import validation
from purse.base.files import PRIVATE, write_atomically
from purse.campaign.api.kinds import checked_name
from purse.errors import InvalidInput, invalid, unknown

if sys.platform != "win32":
    import fcntl

_ROLES = ("read", "act", "admin")  # each may do what those before it may
_PREFIX = "purse_"
_QUIET = 60.0  # seconds in which a use of a token is not noted again
_LONGEST = 100 * 365 * 86_400  # seconds that a token may be good for


class _Token(NamedTuple):
    """A line of the file."""

    name: str
    role: str
    sha256: str
    created: str  # ISO 8601, in UTC
    expires: str | None
    only: list[str] | None = None  # the accounts and campaigns that it reaches; None: everything

    def expired(self, now: float) -> bool:
        """Return whether its time is over."""
        return self.ends <= now

    @property
    def ends(self) -> float:
        """When it expires, in seconds since 1970."""
        ends = self.expires
        return math.inf if ends is None else datetime.fromisoformat(ends).timestamp()


class Principal(NamedTuple):
    """The sender of a request."""

    name: str | None  # None: no tokens are needed here
    role: str
    only: tuple[str, ...] | None = None  # what the token reaches; None: everything

    def may(self, role: str) -> bool:
        """Return whether the role is among those that this one includes."""
        return _ROLES.index(self.role) >= _ROLES.index(role)


class TokenFile:
    """The tokens of a file, read again when it has changed: a revoked token is out at once."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self.path, self.now = path, now
        self._stamp: tuple[int, int, int] | None = None
        self._tokens: list[_Token] = []
        self._noted: dict[str, float] = {}  # when a use of each token was noted

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
        now = self.now()
        valid = [token for token in matching if not token.expired(now)]
        if not valid:
            return None
        if now - self._noted.get(digest, -math.inf) >= _QUIET:
            self._noted[digest] = now
            _note_use(self.path, digest, now)
        name, role, *_, only = valid[0]
        return Principal(name, role, None if only is None else tuple(only))

    def last_used(self, token: _Token) -> str:
        """Return when a server that can write beside the file has let a token in; "" if never."""
        try:
            return _moment(_use_of(self.path, token.sha256).stat().st_mtime)
        except OSError:
            return ""


def _use_of(path: Path, digest: str) -> Path:
    """Return the empty file whose time is that of the last use of a token."""
    return path.with_name(f"{path.name}.used") / digest[:16]


def _note_use(path: Path, digest: str, now: float) -> None:
    """Note when a token was used, beside the file of tokens, if that can be written."""
    file = _use_of(path, digest)
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, exist_ok=True)
        file.touch(PRIVATE)
        os.utime(file, (now, now))


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
            good = good and (token.only is None or _names(token.only) is not None)
            good = good and len(bytes.fromhex(token.sha256)) == 32
        except (TypeError, ValueError):
            good = False
        if not good:
            raise InvalidInput(f"line {number} of {str(path)!r} is not a token")
        tokens.append(token)
    return tokens


def _names(only: Any) -> list[str]:
    """Return the names in a scope. Raise `InvalidInput` if they are none."""
    if not isinstance(only, list) or not only:
        raise invalid("only", only, "must be names of accounts or campaigns, one at least")
    return [checked_name("only", name) for name in only]


def new(
    path: Path,
    name: str,
    role: str,
    expires_after: float | None,
    now: float,
    only: list[str] | None = None,
) -> str:
    """Return a new token, which is written down nowhere; its line is added to the file.

    only   accounts and campaigns: it reaches these and what is below them; None: everything
    """
    validation.choice("role", role, _ROLES)
    if not 1 <= len(name) <= 100 or not name.isprintable():
        raise InvalidInput(f"name={name!r}: must be 1 to 100 printable characters")
    secret, token = _made(name, role, expires_after, now, None if only is None else _names(only))
    with _changing(path):
        tokens = _read(path) if path.exists() else []
        if name in {token.name for token in tokens}:
            raise InvalidInput(
                f"name={name!r}: there is a token of this name already; purse token revoke "
                f"{name} removes it"
            )
        _write(path, [*tokens, token])
    return secret


def rotate(path: Path, name: str, expires_after: float | None, overlap: float, now: float) -> str:
    """Return another token of a name, with its role and its scope; the one before ends after
    `overlap` seconds, and those before that one now.
    """
    validation.number("overlap", overlap, low=0, high=_LONGEST)
    with _changing(path):
        before, others = _of_name(path, name)
        secret, token = _made(name, before[-1].role, expires_after, now, before[-1].only)
        ends = min(before[-1].ends, now + overlap)
        _write(path, [*others, before[-1]._replace(expires=_moment(ends)), token])
    return secret


def _made(
    name: str, role: str, expires_after: float | None, now: float, only: list[str] | None
) -> tuple[str, _Token]:
    """Return a secret and its line."""
    if expires_after is not None:
        validation.number("expires", expires_after, above=0, high=_LONGEST)
    secret = _PREFIX + secrets.token_urlsafe(32)
    until = None if expires_after is None else _moment(now + expires_after)
    return secret, _Token(name, role, _digest_of(secret), _moment(now), until, only)


def revoke(path: Path, name: str) -> None:
    """Remove all tokens of a name from the file."""
    with _changing(path):
        _write(path, _of_name(path, name)[1])


def _of_name(path: Path, name: str) -> tuple[list[_Token], list[_Token]]:
    """Return the tokens of a name, and all others. Raise `InvalidInput` if there is none."""
    tokens = _read(path)
    if name not in {token.name for token in tokens}:
        raise unknown("token", name, [token.name for token in tokens])
    named = [token for token in tokens if token.name == name]
    return named, [token for token in tokens if token.name != name]


def _write(path: Path, tokens: Iterable[_Token]) -> None:
    """Write a file of tokens whole or not at all; who could read the one before can read it."""
    facts = (token._asdict() for token in tokens)
    # an earlier purse knows no scopes
    shown = ({key: one[key] for key in one if key != "only" or one[key]} for one in facts)
    lines = "".join(json.dumps(one) + "\n" for one in shown)

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


def _moment(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601, in UTC.

    >>> _moment(0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()
