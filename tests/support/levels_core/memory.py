"""A storage in memory, as tests of today make it."""

from __future__ import annotations

from purse.campaign.storage import sqlite
from purse.campaign.storage.storage import Storage


class Memory(Storage):
    """A storage in the memory of this process."""

    def __init__(self) -> None:
        super().__init__(sqlite.Memory())
