"""The address of a server, the token for it, and the proxy between here and there."""

import os
from typing import NamedTuple
from urllib.parse import urlsplit

from purse.errors import InvalidInput, invalid

_PORTS = {"http": 80, "https": 443}
UNIX = "unix"
_VARIABLE = "PURSE_TOKEN"
_ALLOWED = (
    "must be https://HOST, https://HOST:PORT or https://HOST/PATH, the same with http, or "
    "unix:/PATH"
)


class Address(NamedTuple):
    """The address of a server, in parts."""

    url: str  # as it is shown, without a slash at its end
    scheme: str
    host: str  # in letters of ASCII
    port: int
    path: str  # before that of each request; of a socket, its own

    @property
    def door(self) -> str:
        """Host and port, as a proxy is told them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def authority(self) -> str:
        """What the header Host says: no port if it is the usual one."""
        if self.scheme == UNIX:
            return "localhost"
        return self.door.removesuffix(f":{_PORTS[self.scheme]}")


def is_server(address: object) -> bool:
    """Return whether an address is that of a server.

    >>> is_server("https://purse.example.com"), is_server("sqlite:///purse.db")
    (True, False)
    """
    return isinstance(address, str) and address.partition(":")[0].lower() in (*_PORTS, UNIX)


def address_of(url: str) -> Address:
    """Return the parts of an address. Raise `InvalidInput` if it is not one of a server."""
    try:
        parts = urlsplit(url)
        scheme, host, port, path = parts.scheme, parts.hostname or "", parts.port, parts.path
        host = host if host.isascii() else host.encode("idna").decode()
        possible = url.isprintable() and (scheme == UNIX or scheme in _PORTS)
    except (TypeError, ValueError, AttributeError):
        raise invalid("storage", url, _ALLOWED) from None
    if "@" in parts.netloc:
        raise InvalidInput(f"storage: {_ALLOWED}, without a name or a password")
    if possible and scheme == UNIX:
        path = url.partition(":")[2].removeprefix("//")
        if path.startswith("/"):
            return Address(url, UNIX, "", 0, path)
    elif possible and host and path.isascii() and not {" ", "?", "#"} & set(url):
        return Address(url.rstrip("/"), scheme, host, port or _PORTS[scheme], path.rstrip("/"))
    raise invalid("storage", url, _ALLOWED)


def secret_of(token: str | None) -> str:
    """Return a token: the given one, or that of the environment; "" without either."""
    secret = os.environ.get(_VARIABLE, "").strip() if token is None else token
    if not isinstance(secret, str) or not secret.isascii() or not secret.isprintable():
        # without the value: it is secret
        raise InvalidInput(f"token: must be what `purse token new` printed ({_VARIABLE} or token=)")
    return secret


class _Proxy(NamedTuple):
    """The address of a proxy, and the header that it wants."""

    host: str
    port: int
    header: str


def proxy_for(address: Address) -> _Proxy | None:
    """Return the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name for a server, or None."""
    if address.scheme == UNIX or not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from base64 import b64encode
    from urllib.parse import unquote
    from urllib.request import getproxies_environment, proxy_bypass

    url = getproxies_environment().get(address.scheme)
    if not url or proxy_bypass(address.door):
        return None
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme != "http":
        raise InvalidInput("HTTP_PROXY, HTTPS_PROXY: must be http://HOST:PORT")
    header = ""
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        header = f"Proxy-Authorization: Basic {b64encode(secret.encode()).decode()}\r\n"
    return _Proxy(host, port or 80, header)
