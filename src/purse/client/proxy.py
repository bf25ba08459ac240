"""The proxy between here and a server, where the environment names one (`HTTPS_PROXY`, `HTTP_PROXY`
and `NO_PROXY`).
"""

from __future__ import annotations

import os
from typing import NamedTuple

from purse.client.address import Address
from purse.errors import InvalidInput


class Proxy(NamedTuple):
    """Where a proxy is, and what it wants to be told."""

    host: str
    port: int
    headers: dict[str, str]


def proxy_for(address: Address) -> Proxy | None:
    """Return the proxy for a server; None where there is none."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from base64 import b64encode
    from urllib.parse import unquote, urlsplit
    from urllib.request import getproxies_environment, proxy_bypass

    found = getproxies_environment().get("https" if address.secure else "http")
    if not found or proxy_bypass(address.host):
        return None
    try:
        parts = urlsplit(found if "://" in found else f"http://{found}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme != "http":
        raise InvalidInput("HTTP_PROXY, HTTPS_PROXY: must be http://HOST:PORT")
    headers = {}
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + b64encode(secret.encode()).decode()
    return Proxy(host, port or 80, headers)
