"""The route of alerts."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Response

from purse.service.auth import admin
from purse.service.campaign_cache import CampaignCache
from purse.service.openapi import refusals
from purse.service.route import api_router
from purse.service.routes.common import Name, status_answer
from purse.service.schemas import responses
from purse.service.schemas.alerts import Alerts
from purse.service.threads import Threads


def alert_routes(cache: CampaignCache, threads: Threads) -> APIRouter:
    """The routes."""
    router = api_router(threads, dependencies=[Depends(admin)])

    @router.post(
        "/campaigns/{name}/alerts",
        summary="Make events by these rules from now on",
        tags=["campaigns"],
        response_model=responses.Status,
        responses=refusals(body=True),
    )
    def set_alerts(name: Name, body: Alerts) -> Response:
        return status_answer(cache.get(name).set_alerts(body.alerts))

    return router
