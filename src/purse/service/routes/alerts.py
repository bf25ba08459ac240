"""Routes of alerts and webhooks. Webhooks have a path of their own, for campaigns and accounts
alike; the address of one never stands in a path, which is logged.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends, Response

from purse.campaign.webhooks import manage
from purse.service.auth import admin
from purse.service.campaign_cache import CampaignCache
from purse.service.openapi import refusals
from purse.service.problems import SECRET
from purse.service.route import api_router
from purse.service.routes.common import Name, answer, status_answer
from purse.service.schemas import responses
from purse.service.schemas.alerts import Alerts, RemovedWebhook, WebhookWish
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

    @router.get(
        "/webhooks/{name}",
        summary="The webhooks of a campaign, and how their deliveries stand",
        tags=[SECRET],
        response_model=responses.Webhooks,
        responses=refusals(),
    )
    def list_webhooks(name: Name) -> Response:
        return answer({"webhooks": [each.as_dict() for each in manage.listed(cache.storage, name)]})

    @router.post(
        "/webhooks/{name}",
        summary="Send the events from now on to an address",
        tags=[SECRET],
        response_model=responses.AddedWebhook,
        responses=refusals(body=True),
    )
    def add_webhook(name: Name, body: WebhookWish) -> Response:
        return answer(manage.add(cache.storage, name, body.url, body.secret).as_dict())

    @router.post(
        "/webhooks/{name}/remove",
        summary="Send nothing more to an address",
        tags=[SECRET],
        response_model=responses.Removed,
        responses=refusals(body=True),
    )
    def remove_webhook(name: Name, body: RemovedWebhook) -> Response:
        return answer({"removed": manage.remove(cache.storage, name, body.id)})

    return router
