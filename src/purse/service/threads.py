"""The threads in which verbs use the storage: those that write may wait for its lock, and those
that read have threads of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from purse.base.problem_types import OF_ERRORS
from purse.errors import StorageUnavailable
from purse.service.problems import ProblemError

_WRITERS = 40  # requests that write at once; those that wait together share a transaction
_MOST_WAITING = 200  # requests that wait for one of these threads; more are answered with 503
_READERS = 20  # requests that read at once
T = TypeVar("T")


class Threads:
    """The threads of one app."""

    def __init__(self) -> None:
        self._writers = ThreadPoolExecutor(_WRITERS, "purse-writer")
        self._readers = ThreadPoolExecutor(_READERS, "purse-reader")
        self._writing = 0  # requests that write, or wait to

    @property
    def waiting(self) -> int:
        """Requests that wait for a thread that writes."""
        return max(0, self._writing - _WRITERS)

    async def write(self, work: Callable[[], T]) -> T:
        """Do what writes; refuse it at once if too many wait already."""
        if self.waiting >= _MOST_WAITING:
            raise ProblemError(
                OF_ERRORS[StorageUnavailable],
                f"{self.waiting} requests wait for the storage already; nothing is lost, send the "
                "same request again",
            )
        self._writing += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._writers, work)
        finally:
            self._writing -= 1

    async def read(self, work: Callable[[], T]) -> T:
        """Do what only reads."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)
