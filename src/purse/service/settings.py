"""The settings of a service."""

import re
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING

from purse.base import validation
from purse.campaign.api import defaults
from purse.errors import InvalidInput, invalid

if TYPE_CHECKING:
    from purse.campaign.storage.storage import Storage

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_LOGS = ("json", "text")
_SMALLEST_BODY = 1_000  # one report fits


@dataclass(frozen=True)
class Settings:
    """The settings of a service. It needs tokens if other machines can reach it."""

    storage: "str | Storage" = defaults.STORAGE
    host: str = "127.0.0.1"
    port: int = 8000
    # the path of a Unix socket to listen on instead; all who can open it may do everything
    socket: Path | None = None
    # the file of tokens; None: all users of this machine may do everything
    tokens: Path | None = None
    rate: float | None = None  # requests per second of one token, or of one address without a token
    max_body: int = 1_000_000  # bytes
    log: str = "json"
    # addresses or networks of proxies whose X-Forwarded-For says who sent a request
    trusted_proxies: tuple[str, ...] = ()
    # whether to run the .py files that campaigns in the storage name as their policy
    allow_policy_files: bool = False
    # the file of receivers that are told of events; None: no receiver
    webhooks: Path | None = None

    def __post_init__(self) -> None:
        validation.integer("port", self.port, low=0, high=65_535)
        validation.integer("max_body", self.max_body, low=_SMALLEST_BODY)
        validation.choice("log", self.log, _LOGS)
        if self.rate is not None:
            validation.number("rate", self.rate, above=0)
        for address in self.trusted_proxies:
            try:
                ip_network(address)
            except ValueError:
                raise invalid(
                    "trusted_proxies", address, "must be an address or a network, such as 10.0.0.2"
                ) from None
        proxies = ", ".join(self.trusted_proxies)
        if proxies and self.tokens is None:
            needed = "needs tokens, since requests through a proxy are refused without"
            raise invalid("trusted_proxies", proxies, needed)
        if proxies and self.socket is not None:
            useless = "must be left out with socket, which has no addresses"
            raise invalid("trusted_proxies", proxies, useless)
        if self.tokens is None and self.host not in LOOPBACK:
            raise InvalidInput(
                f"host={self.host!r}: can be reached from other machines, so it needs "
                "tokens: purse token new NAME --role admin, then purse serve --tokens "
                "FILE"
            )


def absolute(address: str) -> str:
    """Return an address that means the same in every folder.

    >>> absolute("sqlite:////srv/purse.db")
    'sqlite:////srv/purse.db'
    """
    before, scheme, path = address.partition("sqlite:///")
    return f"{scheme}{Path(path).absolute()}" if scheme and path and not before else address


def address_shown(storage: "str | Storage") -> str:
    """Return the address of a storage, without user, password and options.

    >>> address_shown("postgresql://me:secret@host/base?sslmode=require")
    'postgresql://host/base'
    """
    if not isinstance(storage, str):
        return type(storage).__name__
    return re.sub(r"(?<=//)[^/@]*@|\?.*", "", storage)
