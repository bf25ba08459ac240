"""Routes for those who watch over the service: whether it is alive and ready, and its numbers."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Response

from purse.service.auth import reader
from purse.service.campaign_cache import CampaignCache
from purse.service.metrics import MEDIA_TYPE, Metrics
from purse.service.openapi import refusals
from purse.service.route import api_router
from purse.service.routes.common import answer
from purse.service.schemas import responses
from purse.service.threads import Threads

EXAMPLE = 'purse_left{campaign="prompts",resource="USD"} 24.9979\n'


class Numbers(Response):
    """Text that Prometheus reads."""

    media_type = MEDIA_TYPE


def health_routes(cache: CampaignCache, threads: Threads, metrics: Metrics) -> APIRouter:
    """The routes."""
    router = api_router(threads, tags=["watch"])
    public = refusals(campaign=False, token=False)

    @router.get(
        "/healthz",
        summary="Whether the server is alive",
        response_model=responses.Health,
        responses=public,
    )
    async def alive() -> Response:
        return answer({"status": "ok"})

    @router.get(
        "/readyz",
        summary="Whether the storage answers",
        response_model=responses.Health,
        responses=public,
    )
    def ready() -> Response:
        cache.storage.names()
        return answer({"status": "ok"})

    @router.get(
        "/metrics",
        summary="Numbers for Prometheus",
        dependencies=[Depends(reader)],
        response_class=Numbers,
        responses={
            **refusals(campaign=False),
            200: {
                "description": "The numbers.",
                "content": {MEDIA_TYPE: {"example": EXAMPLE}},
            },
        },
    )
    def numbers() -> Response:
        return Numbers(metrics.text())

    return router
