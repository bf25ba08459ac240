"""A storage in memory, as tests of today make it."""

from __future__ import annotations

from purse.levels import sqlite
from purse.levels.storage import Storage


class Memory(Storage):
    """A storage in the memory of this process."""

    def __init__(self) -> None:
        super().__init__(sqlite.Memory())
