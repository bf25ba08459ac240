"""The address of a server and the token for it."""

from __future__ import annotations

import os
from typing import NamedTuple
from urllib.parse import urlsplit

from purse.campaign.addresses import SERVERS
from purse.errors import InvalidInput, invalid

PORTS = {"http": 80, "https": 443}
VARIABLE = "PURSE_TOKEN"
ALLOWED = "must be https://HOST, https://HOST:PORT or https://HOST/PATH, or the same with http"


class Address(NamedTuple):
    """Where a server is."""

    url: str  # as it is shown, without a slash at its end
    secure: bool
    host: str  # in letters of ASCII
    port: int
    path: str  # before that of each request


def address_of(url: str) -> Address:
    """Return the parts of an address. Raise `InvalidInput` where it is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except (TypeError, ValueError, AttributeError):
        raise invalid("storage", url, ALLOWED) from None
    if "@" in parts.netloc:
        raise InvalidInput(f"storage: {ALLOWED}, without a name or a password")
    written = parts.path.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in SERVERS or not host or not written or parts.query or parts.fragment:
        raise invalid("storage", url, ALLOWED)
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            raise invalid("storage", url, ALLOWED) from None
    return Address(
        url.rstrip("/"),
        parts.scheme == "https",
        host,
        port or PORTS[parts.scheme],
        parts.path.rstrip("/"),
    )


def headers_of(token: str | None) -> dict[str, str]:
    """Return the headers that carry a token: the given one, or that of the environment."""
    secret = os.environ.get(VARIABLE, "").strip() if token is None else token
    if not secret:
        return {}
    if not isinstance(secret, str) or not secret.isascii() or not secret.isprintable():
        # without the value: it is secret
        raise InvalidInput(f"token: must be what `purse token new` printed ({VARIABLE} or token=)")
    return {"Authorization": f"Bearer {secret}"}
