"""A campaign's history that begins at the last checkpoint, follows the journal, and leaves
checkpoints for the next who looks.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from purse.campaign.entry import Entry
from purse.campaign.history import History
from purse.campaign.records import HISTORY, opened, sealed
from purse.campaign.storage.storage import Storage
from purse.campaign.terms import Terms
from purse.errors import PurseError

CHECKPOINT_EVERY = 50_000  # entries
PAGE_SIZE = 500  # entries read at a time: larger pages keep the garbage collector busy


class ReadCampaign(Protocol):
    """A campaign whose storage this process reaches."""

    name: str

    @property
    def terms(self) -> Terms:
        """What it was created with."""

    @property
    def storage(self) -> Storage:
        """What keeps it."""


class FollowedHistory:
    """The history of one campaign as it grows."""

    def __init__(self, campaign: ReadCampaign) -> None:
        self.campaign = campaign
        self.history = self._kept_history() or History(campaign.terms)
        self._kept = self.history.seq

    def _kept_history(self) -> History | None:
        """Return the history at its last checkpoint; None where it is damaged, or of another
        journal.
        """
        name, storage = self.campaign.name, self.campaign.storage
        row = storage.checkpoint(name, HISTORY)
        if row is None or storage.told(name, row.seq, 1)[0] != row.digest:
            return None
        body = opened(row.body)
        return None if body is None else History.from_json(self.campaign.terms, body)

    def follow(self) -> History:
        """Return the history up to the last entry of the journal."""
        level, storage, name = self.history.level, self.campaign.storage, self.campaign.name
        while page := storage.entries(name, level.seq, PAGE_SIZE):
            self.history.fold((entry for entry, _, _ in page), self._load)
            level.head.digest = page[-1][2]
        if level.seq >= self._kept + CHECKPOINT_EVERY:
            self._kept, body = level.seq, sealed(self.history.to_json())
            with suppress(PurseError):  # a checkpoint only saves time
                storage.keep(name, HISTORY, level.seq, level.head.digest, body)
        return self.history

    def _load(self, ticket: int) -> list[Entry]:
        return self.campaign.storage.about(self.campaign.name, ticket)
