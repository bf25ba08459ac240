"""Routes for those who watch over the service: whether it is alive and ready, and its numbers."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Response

from purse.service import metrics, replies
from purse.service.access import reader
from purse.service.campaigns import answer
from purse.service.metrics import Meters
from purse.service.openapi import refusals
from purse.service.shelf import Shelf

EXAMPLE = 'purse_left{campaign="prompts",resource="USD"} 24.9979\n'


class Numbers(Response):
    """Text that Prometheus reads."""

    media_type = metrics.MEDIA_TYPE


def watch(shelf: Shelf, meters: Meters) -> APIRouter:
    """The routes."""
    router = APIRouter(tags=["watch"])
    public = refusals(campaign=False, token=False)

    @router.get(
        "/healthz",
        summary="Whether the server is alive",
        response_model=replies.Health,
        responses=public,
    )
    async def alive() -> Response:
        return answer({"status": "ok"})

    @router.get(
        "/readyz",
        summary="Whether the storage answers",
        response_model=replies.Health,
        responses=public,
    )
    def ready() -> Response:
        shelf.storage.names()
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
                "content": {metrics.MEDIA_TYPE: {"example": EXAMPLE}},
            },
        },
    )
    def numbers() -> Response:
        return Numbers(meters.text())

    return router
