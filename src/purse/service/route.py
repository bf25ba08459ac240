"""Routes: FastAPI describes them, and this answers them. FastAPI's own way to the function takes
several times as long.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar

from fastapi import APIRouter, Response
from fastapi.params import Depends
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send

from purse.service.auth import Role
from purse.service.parameters import Parameters
from purse.service.threads import Threads


class StorageRoute(APIRoute):
    """A route whose function returns a response and depends on roles alone. A plain function runs
    in a thread: that of GET among those that read, any other among those that write.
    """

    threads: ClassVar[Threads]

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.parameters = Parameters(endpoint)
        self.roles = [role_of(each) for each in self.dependencies]
        self.known = frozenset(self.methods or ())
        self.run = (
            directly
            if inspect.iscoroutinefunction(endpoint)
            else self.threads.read
            if "GET" in self.known
            else self.threads.write
        )

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. The middleware has read its body, which comes in one piece."""
        if scope["method"] not in self.known:
            await super().handle(scope, receive, send)  # which refuses it
            return
        for role in self.roles:
            role.check(scope["state"]["principal"])
        body = (await receive())["body"] if self.parameters.body else b""
        values = self.parameters.read(scope, body)
        response = await self.run(partial(self.endpoint, **values))
        await response(scope, receive, send)


def role_of(dependency: Depends) -> Role:
    """The role that a route depends on."""
    assert isinstance(dependency.dependency, Role)
    return dependency.dependency


async def directly(work: Callable[[], Awaitable[Response]]) -> Response:
    """Do what needs no thread."""
    return await work()


def api_router(threads: Threads, **options: Any) -> APIRouter:
    """A router whose functions run in these threads. The description of the API calls them by their
    names.
    """
    route_class = type("Route", (StorageRoute,), {"threads": threads})
    return APIRouter(
        route_class=route_class,
        generate_unique_id_function=lambda route: route.name,
        **options,
    )
