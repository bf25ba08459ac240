"""Checkpoints: what a journal comes to at one of its entries, so that nobody has to begin at the
first one.

A checkpoint is a cache. It counts where it is whole and the journal still has the digest that it
had when the checkpoint was made; otherwise its reader begins at an earlier entry.

kind      body
policy    what the policy has learnt; made every few thousand entries
history   what the dashboard shows
ledger    balances, counts and tickets that are not told, as an audit has found them to be right
booked    the last entry of each account above the campaign that the same audit has compared
"""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

POLICY, HISTORY, LEDGER, BOOKED = KINDS = ("policy", "history", "ledger", "booked")


class Checkpoint(NamedTuple):
    """A checkpoint as it is stored; make it with `checkpoint`."""

    kind: str
    seq: int  # of the last entry that is in it
    digest: str  # of the journal up to that entry
    checksum: str  # of all that is in it
    body: bytes

    @property
    def is_whole(self) -> bool:
        """Whether it is as it was made."""
        return self == checkpoint(self.kind, self.seq, self.digest, self.body)


def checkpoint(kind: str, seq: int, digest: str, body: bytes) -> Checkpoint:
    """Make a checkpoint of the journal up to entry `seq`."""
    whole = blake2b(f"{kind} {seq} {digest} ".encode() + body, digest_size=16)
    return Checkpoint(kind, seq, digest, whole.hexdigest(), body)
