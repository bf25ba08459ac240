"""A campaign's history that begins at the last checkpoint, follows the journal, and leaves
checkpoints for the next who looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol

from purse.campaign.audit import unchanged
from purse.campaign.checkpoint import HISTORY
from purse.campaign.entry import Entry
from purse.campaign.history import History
from purse.campaign.storage.base import LockedState, ReadSet, Storage, WriteSet
from purse.campaign.terms import Terms
from purse.errors import PurseError

CHECKPOINT_EVERY = 50_000  # entries


class ReadCampaign(Protocol):
    """A campaign whose storage this process reaches."""

    terms: Terms
    storage: Storage

    @property
    def name(self) -> str:
        """Its name."""

    def journal(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of the journal whose number is above `after`, in order."""


class FollowedHistory:
    """The history of one campaign as it grows."""

    def __init__(self, campaign: ReadCampaign) -> None:
        self.campaign = campaign
        self.history = History(campaign.terms)
        stored = campaign.storage.checkpoint(campaign.name, HISTORY)
        if stored is not None:
            found = campaign.storage.told(campaign.name, stored.seq, 1).digest
            if found == stored.digest:
                self.history.restore(stored)
        self._kept = self.history.seq

    def follow(self) -> History:
        """Return the history up to the last entry of the journal."""
        self.history.fold(self.campaign.journal(after=self.history.seq))
        if self.history.seq >= self._kept + CHECKPOINT_EVERY:
            self._kept = self.history.seq
            with suppress(PurseError):  # a checkpoint only saves time
                wants = ReadSet(told_after=self.history.seq)
                self.campaign.storage.change(self.campaign.name, wants, self._keep)
        return self.history

    def _keep(self, found: LockedState) -> WriteSet | None:
        if not found.digest or found.head.id != self.campaign.terms.id:
            return None
        return unchanged(found)._replace(checkpoints=[self.history.checkpoint(found.digest)])
