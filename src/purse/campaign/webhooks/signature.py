"""Signatures by the Standard Webhooks scheme: HMAC-SHA256 over "id.timestamp.body"."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

from purse.errors import InvalidInput

PREFIX = "whsec_"
BYTES = 32  # of a new secret
LEAST, MOST = 24, 64  # bytes of a secret


def new_secret() -> str:
    """Return a secret for a webhook."""
    return PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()


def key_of(secret: str) -> bytes:
    """Return the bytes of a secret. Raise `InvalidInput`, which does not show it, where it is
    none.
    """
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (AttributeError, ValueError, binascii.Error):
        key = b""
    if (
        not isinstance(secret, str)
        or not secret.startswith(PREFIX)
        or not LEAST <= len(key) <= MOST
    ):
        raise InvalidInput(
            f"secret: must be {PREFIX} and {LEAST} to {MOST} bytes in base64, or be left out"
        )
    return key


def sign(secret: str, key: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message.

    key         of the event
    timestamp   seconds since 1970
    """
    text = f"{key}.{timestamp}.".encode() + body
    digest = hmac.new(key_of(secret), text, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"
