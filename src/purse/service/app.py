"""The app: verbs, numbers and the dashboard behind one middleware."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from purse.campaign.run.local_level import connect_storage
from purse.campaign.webhooks.file import read_file
from purse.campaign.webhooks.follower import Follower, following
from purse.policies import runs_files
from purse.service.auth import Guard
from purse.service.budgets import Budgets
from purse.service.dashboard import dashboard_routes
from purse.service.live_view import LiveViews, Overview
from purse.service.metrics import ACCOUNTS, CAMPAIGNS, MEDIA_TYPE, Metrics
from purse.service.middleware import RequestMiddleware
from purse.service.openapi import document_json
from purse.service.routes import (
    JSON,
    Operation,
    Threads,
    absent,
    answer_json,
    option_of,
    route,
    verb_routes,
)
from purse.service.settings import Settings
from purse.service.tokens import TokenFile

_OK = {"status": "ok"}


class Service:
    """The app for some settings; its storage is closed when it shuts down. Starlette's router finds
    the routes; its own app would add two layers that answer errors, as the middleware here does.
    """

    def __init__(self, settings: Settings) -> None:
        tokens = None if settings.tokens is None else TokenFile(settings.tokens)
        if tokens is not None:
            tokens.current()  # a file that cannot be read is refused now
        receivers = [] if settings.webhooks is None else read_file(settings.webhooks)
        self.storage = storage = connect_storage(settings.storage, create=True)
        self.budgets, self._runs_files = Budgets(storage), settings.allow_policy_files
        self.views, self.threads = LiveViews(storage), Threads()
        self.followers = [Follower(storage, receiver) for receiver in receivers]
        guard = Guard(tokens, socket=settings.socket is not None)
        metrics = Metrics(self.budgets, self.followers)
        overview = Overview(self.budgets, self.views, settings.storage)
        self.routes = [
            *verb_routes(self.budgets, self.threads, metrics),
            *self._own_routes(metrics),
            *dashboard_routes(self.views, overview, guard),
        ]
        router = Router(
            self.routes, redirect_slashes=False, default=absent, lifespan=self._lifespan
        )
        self._app: ASGIApp = RequestMiddleware(router, settings, guard, metrics, storage)
        if settings.trusted_proxies:
            trusted = list(settings.trusted_proxies)
            self._app = cast(ASGIApp, ProxyHeadersMiddleware(cast(Any, self._app), trusted))

    def _own_routes(self, metrics: Metrics) -> Iterator[Route]:
        """Yield the routes of the service itself: health, numbers and description."""

        async def alive(_: Scope) -> Response:
            return answer_json(_OK)

        async def ready(_: Scope) -> Response:
            await self.threads.read(self.storage.names)
            return answer_json(_OK)

        async def numbers(scope: Scope) -> Response:
            reach = scope["state"]["reach"]
            shown = option_of(scope, "show", (ACCOUNTS, CAMPAIGNS), ACCOUNTS)
            text = await self.threads.read(
                lambda: metrics.text(reach and reach.names(), campaigns=shown == CAMPAIGNS)
            )
            return Response(text, media_type=MEDIA_TYPE)

        async def described(_: Scope) -> Response:
            return Response(document_json(), media_type=JSON)

        yield route("/healthz", GET=Operation(None, alive))
        yield route("/readyz", GET=Operation(None, ready))
        yield route("/metrics", GET=Operation("read", numbers))
        yield route("/openapi.json", GET=Operation(None, described))

    @asynccontextmanager
    async def _lifespan(self, _: object) -> AsyncIterator[None]:
        with following(self.followers):
            yield
        self.storage.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or begin and end with the server."""
        runs_files.set(self._runs_files)  # for all that the request begins
        await self._app(scope, receive, send)
