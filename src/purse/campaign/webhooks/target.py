"""The address of a webhook, read and checked. No error shows it: an address may be a secret."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from purse.errors import InvalidInput

MOST = 2_000  # characters of an address
PORTS = {"https": 443, "http": 80}
PRINTABLE = re.compile(r"[\x21-\x7e]+")
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9.])?|[0-9A-Fa-f:.]+")
# what a resolver may take for a number: 127.0.0.1, 2130706433, 0x7f.1
NUMBER = re.compile(r"(.*\.)?([0-9]+|0[xX][0-9A-Fa-f]*)\.?")
ALLOWED = "must look like https://HOST/PATH, without a user, a password or a fragment"


class Target(NamedTuple):
    """Where a message goes."""

    scheme: str
    host: str
    port: int
    path: str  # with the query

    @property
    def shown(self) -> str:
        """What others may know of it."""
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}"

    @property
    def authority(self) -> str:
        """The host for a header, with a port that is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def read_target(url: str) -> Target:
    """Return the parts of an address. Raise `InvalidInput` where it is none."""
    if not isinstance(url, str) or len(url) > MOST or not PRINTABLE.fullmatch(url):
        raise InvalidInput(f"url: {ALLOWED}, in at most {MOST:,} characters of ASCII")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise InvalidInput(f"url: {ALLOWED}") from None
    if (
        parts.scheme not in PORTS
        or "@" in parts.netloc
        or "#" in url
        or "\\" in url
        or port == 0
        or not HOST.fullmatch(host)
    ):
        raise InvalidInput(f"url: {ALLOWED}")
    if NUMBER.fullmatch(host) and not is_address(host):
        raise InvalidInput(
            "url: a host in numbers must be written as four of them, as in 192.0.2.1"
        )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port or PORTS[parts.scheme], path)


def is_address(host: str) -> bool:
    """Whether a host is an address in its usual form.

    >>> is_address("192.0.2.1"), is_address("::1"), is_address("0177.0.0.1")
    (True, True, False)
    """
    from ipaddress import ip_address  # what `import purse` needs not

    try:
        ip_address(host)
    except ValueError:
        return False
    return True
