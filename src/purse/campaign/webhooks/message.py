"""Makes the message about an event: the same key and the same body, however often it is sent.

`standard` is JSON for programs, signed by the Standard Webhooks scheme, which is HMAC-SHA256 over
"id.timestamp.body". `slack` is a line of text for people, for an address that is a secret itself.
"""

import base64
import binascii
import hashlib
import hmac
import html
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import repeat
from typing import Any

from purse._version import __version__
from purse.base.json import compact_bytes
from purse.campaign.api.states import ACCOUNT, CAMPAIGN
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.records import Balance, text

STANDARD, SLACK = FORMATS = ("standard", "slack")
_TYPE = "purse.alert"
_PREFIX = "whsec_"
_LEAST, _MOST = 24, 64  # bytes of a secret
_ABOUT = ("resource", "arm", "requests", "affords")  # what an event is about, if it is
_HEADERS = {"Content-Type": "application/json", "User-Agent": f"purse/{__version__}"}


def read_secret(text: str) -> bytes:
    """Return the bytes of a secret. Raise `ValueError`, which does not show it."""
    try:
        key = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if not text.startswith(_PREFIX) or not _LEAST <= len(key) <= _MOST:
        raise ValueError(f"must hold {_PREFIX} and {_LEAST} to {_MOST} bytes in base64")
    return key


def standard(
    secret: bytes, terms: Mapping[str, Any], event: LedgerEntry, timestamp: int
) -> tuple[dict[str, str], bytes]:
    """Return headers and body of a signed message.

    terms       the body of the first entry of the journal
    timestamp   seconds since 1970
    """
    facts = _facts_of(terms, event)
    at = datetime.fromtimestamp(event.at / 1000, UTC).isoformat(timespec="milliseconds")
    body = compact_bytes({"type": _TYPE, "timestamp": at, "data": facts})
    signed = f"{facts['key']}.{timestamp}.".encode() + body
    digest = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
    return {
        **_HEADERS,
        "webhook-id": facts["key"],
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{digest}",
    }, body


def slack(terms: Mapping[str, Any], event: LedgerEntry) -> tuple[dict[str, str], bytes]:
    """Return headers and body of a message for Slack."""
    facts = _facts_of(terms, event)
    about = facts.get("resource", facts.get("arm"))
    left = "; ".join(map(_in_words, facts["purses"], terms["budget"], repeat(facts.get("period"))))
    words = f"{facts['kind']} {facts['name']}: alert {facts['rule']}"
    words += ("" if about is None else f" ({about})") + f"; {left}"
    words += "; an ask was refused" if "refused" in facts else ""
    words += f"; may cost {', '.join(facts['most'])} from now on" if "most" in facts else ""
    if "affords" in facts:
        words += f"; about {facts['requests']} more requests, money for {facts['affords']}"
    return _HEADERS, compact_bytes({"text": html.escape(words, quote=False)})


def _in_words(purse: Mapping[str, str], allowance: int, period: int | None) -> str:
    """Return the balance of a resource for people. An event tells of all periods; of this one it
    tells what is left.

    allowance   of each period, in units
    """
    left, name = purse["left"], purse["resource"]
    if left.startswith("-"):
        return f"{left[1:]} {name} above its budget"
    if period is None:
        return f"{purse['spent']} of {purse['budget']} {name} spent, {left} left"
    return f"{left} {name} left in period {period}, whose allowance is {text(allowance)}"


def _facts_of(terms: Mapping[str, Any], event: LedgerEntry) -> dict[str, Any]:
    """Return the facts of an event for a message; amounts are decimal text."""
    body = event.body
    return {
        "kind": CAMPAIGN if "arms" in terms else ACCOUNT,
        "name": terms["name"],
        "key": f"{terms['id']}/{body['key']}",
        "entry": event.seq,
        "rule": body["rule"],
        **{word: body[word] for word in _ABOUT if word in body},
        **{word: list(map(text, body[word])) for word in ("refused", "most") if word in body},
        **({"period": body["period"]} if body["period"] else {}),
        "purses": [
            {"resource": resource, **Balance(*units).in_text()}
            for resource, units in zip(terms["resources"], body["balances"], strict=True)
        ],
    }
