"""Whether the service is alive and ready, its numbers, and its description."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from purse.service.budgets import Budgets
from purse.service.metrics import MEDIA_TYPE, Metrics
from purse.service.openapi import document_json
from purse.service.routes import JSON, Operation, answer_json, route
from purse.service.threads import Threads

OK = {"status": "ok"}


def health_routes(budgets: Budgets, threads: Threads, metrics: Metrics) -> Iterator[Route]:
    """Yield the routes."""

    async def alive(_: Scope) -> Response:
        return answer_json(OK)

    async def ready(_: Scope) -> Response:
        await threads.read(budgets.storage.names)
        return answer_json(OK)

    async def numbers(_: Scope) -> Response:
        return Response(await threads.read(metrics.text), media_type=MEDIA_TYPE)

    async def described(_: Scope) -> Response:
        return Response(document_json(), media_type=JSON)

    yield route("/healthz", GET=Operation(None, alive))
    yield route("/readyz", GET=Operation(None, ready))
    yield route("/metrics", GET=Operation("read", numbers))
    yield route("/openapi.json", GET=Operation(None, described))
