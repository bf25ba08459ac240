"""Checkpoints: what a journal comes to at one of its entries, so that a reader need not begin at
the first one.

A checkpoint is a cache, but for those of webhooks. It counts if it is whole and the journal still
has the digest that it had when the checkpoint was made; otherwise its reader begins at an earlier
entry.

kind           body
policy         what the policy has learnt; made every few thousand entries
history        what the dashboard shows
audit          what an audit has found to be right
webhook NAME   how far a receiver was told
"""

from __future__ import annotations

from hashlib import blake2b

POLICY, HISTORY, AUDIT = "policy", "history", "audit"
SEAL = 16  # bytes


def sealed(body: bytes) -> bytes:
    """Return a body with a digest before it."""
    return blake2b(body, digest_size=SEAL).digest() + body


def opened(body: bytes) -> bytes | None:
    """Return the body that was sealed; None if it is damaged."""
    found = bytes(body)[SEAL:]
    return found if sealed(found) == bytes(body) else None
