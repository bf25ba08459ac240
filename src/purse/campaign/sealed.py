"""Bodies of checkpoints that show whether they are whole."""

from __future__ import annotations

from hashlib import blake2b

SEAL = 16  # bytes


def sealed(body: bytes) -> bytes:
    """Return a body with a digest before it."""
    return blake2b(body, digest_size=SEAL).digest() + body


def opened(body: bytes) -> bytes | None:
    """Return the body that was sealed; None if it is damaged."""
    found = bytes(body)[SEAL:]
    return found if sealed(found) == bytes(body) else None
