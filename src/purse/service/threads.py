"""The threads in which routes use the storage: those that write may wait for its lock, and those
that read have threads of their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import anyio
from anyio.to_thread import run_sync
from fastapi import Response
from fastapi.routing import APIRoute

from purse.base.problem_types import OF_ERRORS
from purse.errors import StorageUnavailable
from purse.service.problems import ProblemError

WRITERS = 40  # requests that write at once; those that wait together share a transaction
MOST_WAITING = 200  # requests that wait for one of these threads; more are answered with 503
READERS = 20  # requests that read at once


class Threads:
    """The threads of one app."""

    def __init__(self) -> None:
        self.writers = anyio.CapacityLimiter(WRITERS)
        self.readers = anyio.CapacityLimiter(READERS)

    async def write(self, work: Callable[[], Response]) -> Response:
        """Do what writes; refuse it at once where too many wait already."""
        waiting = self.writers.statistics().tasks_waiting
        if waiting >= MOST_WAITING:
            raise ProblemError(
                OF_ERRORS[StorageUnavailable],
                f"{waiting} requests wait for the storage already; nothing is lost, send the same "
                "request again",
            )
        return await run_sync(work, limiter=self.writers)

    async def read(self, work: Callable[[], Response]) -> Response:
        """Do what only reads."""
        return await run_sync(work, limiter=self.readers)

    @property
    def route_class(self) -> type[APIRoute]:
        """The class of routes whose functions run in these threads: GET reads, all else writes."""
        threads = self

        class ThreadedRoute(APIRoute):
            def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
                reads = "GET" in (options.get("methods") or ("GET",))
                run = threads.read if reads else threads.write
                super().__init__(path, in_thread(endpoint, run), **options)

        return ThreadedRoute


def in_thread(endpoint: Callable[..., Any], run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a coroutine function that has a plain function run in a thread; any other is returned
    as it is.
    """
    if inspect.iscoroutinefunction(endpoint):
        return endpoint

    @wraps(endpoint)
    async def threaded(**values: Any) -> Any:
        return await run(partial(endpoint, **values))

    # FastAPI would look for the names of types here, and not where the endpoint is
    threaded.__signature__ = inspect.signature(endpoint, eval_str=True)  # type: ignore[attr-defined]
    return threaded
