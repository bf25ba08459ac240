"""The app: campaigns, tickets and the dashboard behind one middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from purse.campaign.storage.connect import connect
from purse.campaign.webhooks.file import read_file
from purse.campaign.webhooks.follower import Follower, following
from purse.service import problems
from purse.service.auth import reader
from purse.service.campaign_cache import CampaignCache
from purse.service.live_view import LiveViews
from purse.service.metrics import Metrics
from purse.service.middleware import RequestMiddleware
from purse.service.openapi import describe
from purse.service.overview import Overview
from purse.service.routes.accounts import account_routes
from purse.service.routes.alerts import alert_routes
from purse.service.routes.arms import arm_routes
from purse.service.routes.campaigns import campaigns
from purse.service.routes.dashboard import dashboard
from purse.service.routes.health import health_routes
from purse.service.routes.recommendation import recommendation_routes
from purse.service.routes.tickets import tickets
from purse.service.settings import Settings
from purse.service.threads import Threads
from purse.service.tokens import TokenFile


def make_app(settings: Settings) -> FastAPI:
    """The app for these settings; its storage is closed when it shuts down."""
    tokens = None if settings.tokens is None else TokenFile(settings.tokens)
    if tokens is not None:
        tokens.current()  # a file that cannot be read is refused now
    receivers = [] if settings.webhooks is None else read_file(settings.webhooks)
    storage = connect(settings.storage)
    cache = CampaignCache(storage, settings.allow_policy_files)
    views, threads = LiveViews(storage), Threads()
    followers = [Follower(storage, each) for each in receivers]
    now = lambda: storage.now() / 1000  # noqa: E731
    metrics = Metrics(cache.statuses, cache.account_statuses, now, followers)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        with following(followers):
            yield
        storage.close()

    app = FastAPI(
        title="purse",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    for router in (
        tickets(cache, threads, metrics),
        campaigns(cache, threads),
        account_routes(cache, threads),
        arm_routes(cache, threads),
        alert_routes(cache, threads),
        recommendation_routes(cache, threads),
        health_routes(cache, threads, metrics),
    ):
        # all in one list, tickets first: to look for a route takes time
        app.router.routes.extend(router.routes)
    app.include_router(dashboard(views, Overview(cache, views, settings.storage), reader))
    app.openapi = partial(describe, app)  # type: ignore[method-assign]
    app.state.views, app.state.cache, app.state.tokens = views, cache, tokens
    app.state.threads = threads
    problems.install(app)
    app.add_middleware(RequestMiddleware, settings=settings, tokens=tokens, metrics=metrics)
    if settings.trusted_proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(settings.trusted_proxies))
    return app
