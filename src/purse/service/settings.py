"""What a service is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from purse.base import validation
from purse.campaign import defaults
from purse.errors import InvalidInput

if TYPE_CHECKING:
    from purse.campaign.storage.base import Storage

LOOPBACK = ("127.0.0.1", "::1", "localhost")
LOGS = ("json", "text")
SMALLEST_BODY = 1_000  # one report fits


@dataclass(frozen=True)
class Settings:
    """All that a service needs to know. Where it can be reached from elsewhere it needs tokens."""

    storage: str | Storage = defaults.STORAGE
    host: str = "127.0.0.1"
    port: int = 8000
    # the file of tokens; None: whoever is on this machine may do everything
    tokens: Path | None = None
    rate: float | None = None  # requests per second of one token, or of one address without a token
    max_body: int = 1_000_000  # bytes
    log: str = "json"

    def __post_init__(self) -> None:
        validation.integer("port", self.port, low=0, high=65_535)
        validation.integer("max_body", self.max_body, low=SMALLEST_BODY)
        validation.choice("log", self.log, LOGS)
        if self.rate is not None:
            validation.number("rate", self.rate, above=0)
        if self.tokens is None and self.host not in LOOPBACK:
            raise InvalidInput(
                f"host={self.host!r}: can be reached from other machines, so it needs "
                "tokens: purse token new NAME --role admin, then purse serve --tokens "
                "FILE"
            )
