"""The app: campaigns, tickets and the dashboard behind one gate."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from purse.campaign.storage import connect
from purse.service import problems
from purse.service.access import reader
from purse.service.campaigns import campaigns
from purse.service.feed import Feed, dashboard
from purse.service.gate import Gate
from purse.service.metrics import Meters
from purse.service.openapi import describe
from purse.service.settings import Settings
from purse.service.shelf import Shelf
from purse.service.tickets import tickets
from purse.service.tokens import TokenFile
from purse.service.watch import watch


def make_app(settings: Settings) -> FastAPI:
    """The app for these settings; its storage is closed when it shuts down."""
    tokens = None if settings.tokens is None else TokenFile(settings.tokens)
    if tokens is not None:
        tokens.current()  # a file that cannot be read is refused now
    storage = connect(settings.storage)
    shelf, feed = Shelf(storage), Feed(storage)
    meters = Meters(shelf.statuses, lambda: storage.now() / 1000)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        storage.close()

    app = FastAPI(
        title="purse",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
    )
    for router in (
        campaigns(shelf),
        tickets(shelf, meters),
        watch(shelf, meters),
        dashboard(feed, reader),
    ):
        app.include_router(router)
    app.openapi = partial(describe, app)  # type: ignore[method-assign]
    app.state.feed, app.state.shelf = feed, shelf
    problems.install(app)
    app.add_middleware(Gate, settings=settings, tokens=tokens, meters=meters)
    return app
