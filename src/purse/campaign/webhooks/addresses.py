"""Which network addresses may be called: those of the public internet, and no others unless the
operator allows them.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

from purse.campaign.webhooks.errors import NotSent
from purse.campaign.webhooks.target import Target

Resolve = Callable[[str, int], list[Any]]  # rows as `socket.getaddrinfo` returns them
MOST_ADDRESSES = 16  # of one name
NAT64 = IPv6Network("64:ff9b::/96")  # an IPv4 address in its last 32 bits
SITE_LOCAL = IPv6Network("fec0::/10")
IPV4_COMPATIBLE = IPv6Network("::/96")


def resolve(host: str, port: int) -> list[Any]:
    """Return the addresses of a host, as the system finds them."""
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def checked(target: Target, look_up: Resolve, *, allow_private: bool) -> list[tuple[int, Any]]:
    """Return (family, address) of each address of a host: those to connect to, and no look-up
    comes after this one.

    Raise `NotSent` where there are none, or one of them must not be called.
    """
    try:
        rows = look_up(target.host, target.port)
    except (OSError, UnicodeError):
        raise NotSent("no such host") from None
    found = [(row[0], row[4]) for row in rows if row[0] in (socket.AF_INET, socket.AF_INET6)]
    if not found or len(found) > MOST_ADDRESSES:
        raise NotSent("no such host")
    if not allow_private and not all(is_public(str(place[0])) for _, place in found):
        raise NotSent("address not allowed")
    return found


def is_public(text: str) -> bool:
    """Whether an address is one of the public internet, and not one that leads to another kind.

    >>> [is_public(text) for text in ("1.1.1.1", "127.0.0.1", "169.254.169.254", "10.1.2.3")]
    [True, False, False, False]
    >>> [is_public(text) for text in ("2606:4700::1111", "::1", "::ffff:127.0.0.1", "fe80::1%eth0")]
    [True, False, False, False]
    """
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        inner = embedded(address)
        if inner is not None:
            return is_public(str(inner))
        if address in SITE_LOCAL or address in IPV4_COMPATIBLE or address.scope_id is not None:
            return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified
    )


def embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to; None where it is none of the kind."""
    if address.teredo is not None:
        return address.teredo[1]
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
