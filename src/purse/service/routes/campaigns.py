"""Routes of whole campaigns: list, create, status, top up, pause, resume, close, journal."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from purse.base.json import compact
from purse.campaign.campaign import Campaign
from purse.errors import CampaignClosed, CampaignExists, Conflict
from purse.service.auth import admin, reader
from purse.service.campaign_cache import CampaignCache
from purse.service.openapi import refusals
from purse.service.routes.common import Key, Name, answer, request_of
from purse.service.schemas import examples, responses
from purse.service.schemas.requests import JournalQuery, NewCampaign, TopUp

LINES = "application/x-ndjson"


class Lines(Response):
    """JSON lines."""

    media_type = LINES


def campaigns(cache: CampaignCache) -> APIRouter:
    """The routes."""
    router = APIRouter(tags=["campaigns"])
    read, manage = [Depends(reader)], [Depends(admin)]

    @router.get(
        "/campaigns",
        summary="The names of all campaigns",
        dependencies=read,
        response_model=responses.Names,
        responses=refusals(campaign=False),
    )
    def list_campaigns() -> Response:
        return answer({"campaigns": cache.storage.names()})

    @router.post(
        "/campaigns",
        summary="Create a campaign",
        status_code=201,
        dependencies=manage,
        response_model=responses.Status,
        responses=refusals(CampaignExists, body=True, campaign=False),
    )
    def create_campaign(body: NewCampaign) -> Response:
        cache.drop(body.name)  # an older one of this name is gone
        made = cache.put(Campaign.create(**body.model_dump(), storage=cache.storage))
        return answer(made.status().as_dict(), 201)

    @router.get(
        "/campaigns/{name}",
        summary="How a campaign stands",
        dependencies=read,
        response_model=responses.Status,
        responses=refusals(),
    )
    def get_campaign(name: Name) -> Response:
        return answer(cache.get(name).status().as_dict())

    @router.post(
        "/campaigns/{name}/top-ups",
        summary="Add to the budget",
        dependencies=manage,
        response_model=responses.Status,
        responses=refusals(Conflict, CampaignClosed, body=True),
    )
    def top_up(name: Name, body: TopUp, idempotency_key: Key = None) -> Response:
        return answer(
            cache.get(name)
            .top_up(body.amount, request_of(idempotency_key, body.request_id))
            .as_dict()
        )

    turning: dict[str, Any] = {
        "dependencies": manage,
        "response_model": responses.Status,
        "responses": refusals(CampaignClosed, body=True),
    }

    @router.post(
        "/campaigns/{name}/pause", summary="Give out no tickets until it is resumed", **turning
    )
    def pause_campaign(name: Name) -> Response:
        return answer(cache.get(name).pause().as_dict())

    @router.post("/campaigns/{name}/resume", summary="Give out tickets again", **turning)
    def resume_campaign(name: Name) -> Response:
        return answer(cache.get(name).resume().as_dict())

    @router.post("/campaigns/{name}/close", summary="Give out no more tickets, for good", **turning)
    def close_campaign(name: Name) -> Response:
        return answer(cache.get(name).close().as_dict())

    @router.get(
        "/campaigns/{name}/journal",
        summary="The journal, which is the truth",
        dependencies=read,
        response_class=Lines,
        responses={
            **refusals(),
            200: {
                "description": "Entries, one JSON object on each line.",
                "content": {LINES: {"example": compact(examples.ENTRY) + "\n"}},
            },
        },
    )
    def read_journal(name: Name, window: Annotated[JournalQuery, Query()]) -> Response:
        entries = cache.storage.entries(name, window.after, window.limit)
        return Lines("".join(compact(entry._asdict()) + "\n" for entry in entries))

    return router
