"""What is sent of an event: the same bytes and the same key however often."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from purse._version import __version__
from purse.base import amounts
from purse.base.json import compact_bytes
from purse.campaign.journal import Entry
from purse.campaign.records import Balance
from purse.campaign.states import ACCOUNT, CAMPAIGN
from purse.campaign.webhooks.signature import sign

TYPE = "purse.alert"


def key_of(terms: Mapping[str, Any], event: Entry) -> str:
    """Return the key of an event among those of all campaigns and accounts.

    terms   the body of the first entry
    """
    return f"{terms['id']}/{event.body['key']}"


def body_of(terms: Mapping[str, Any], event: Entry) -> bytes:
    """Return the message, as JSON; amounts are decimal text."""
    said = event.body
    data: dict[str, Any] = {
        "kind": CAMPAIGN if "arms" in terms else ACCOUNT,
        "name": terms["name"],
        "key": key_of(terms, event),
        "entry": event.seq,
        "rule": said["rule"],
        **{word: said[word] for word in ("resource", "arm") if word in said},
        **({"refused": list(map(amounts.text, said["refused"]))} if "refused" in said else {}),
        **({"period": said["period"]} if said["period"] else {}),
        "purses": [
            purse_of(resource, Balance(*units))
            for resource, units in zip(terms["resources"], said["balances"], strict=True)
        ],
    }
    at = datetime.fromtimestamp(event.at / 1000, UTC).isoformat(timespec="milliseconds")
    return compact_bytes({"type": TYPE, "timestamp": at, "data": data})


def purse_of(resource: str, purse: Balance) -> dict[str, str]:
    """Return the balance of a resource at the moment of the event."""
    units = {**purse._asdict(), "left": purse.left}
    return {"resource": resource, **{word: amounts.text(part) for word, part in units.items()}}


def headers_of(secret: str, key: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers of a message; `timestamp` is in seconds since 1970."""
    return {
        "Content-Type": "application/json",
        "User-Agent": f"purse/{__version__}",
        "webhook-id": key,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(secret, key, timestamp, body),
    }
