"""Routes of whole campaigns: list, create, status, top up, pause, resume, close, journal."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Response

from purse.campaign.campaign import Campaign
from purse.campaign.journal import compact
from purse.errors import CampaignClosed, CampaignExists, Conflict, InvalidInput
from purse.service import examples, replies
from purse.service.access import admin, reader
from purse.service.bodies import NewCampaign, TopUp, Window
from purse.service.openapi import refusals
from purse.service.shelf import Shelf
from purse.service.values import NAME, REQUEST_ID

LINES = "application/x-ndjson"
Name = Annotated[
    str,
    Path(
        pattern=NAME,
        description="The campaign.",
        openapi_examples={"prompts": {"value": "prompts"}},
    ),
]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=REQUEST_ID,
        description="The same as `request_id` in the body.",
    ),
]


class Lines(Response):
    """JSON lines."""

    media_type = LINES


def answer(content: Any, status: int = 200) -> Response:
    """A reply as JSON; it is built from plain values, so nothing has to look at it again."""
    return Response(compact(content), status, media_type="application/json")


def request_of(key: str | None, given: str | None) -> str | None:
    """What a request is called, in its header or its body."""
    if key is not None and given is not None and key != given:
        raise InvalidInput(
            f"Idempotency-Key={key!r}: must be the same as request_id={given!r}, or one "
            "of them left out"
        )
    return given if key is None else key


def campaigns(shelf: Shelf) -> APIRouter:
    """The routes."""
    router = APIRouter(tags=["campaigns"])
    read, manage = [Depends(reader)], [Depends(admin)]

    @router.get(
        "/campaigns",
        summary="The names of all campaigns",
        dependencies=read,
        response_model=replies.Names,
        responses=refusals(campaign=False),
    )
    def list_campaigns() -> Response:
        return answer({"campaigns": shelf.storage.names()})

    @router.post(
        "/campaigns",
        summary="Create a campaign",
        status_code=201,
        dependencies=manage,
        response_model=replies.Status,
        responses=refusals(CampaignExists, body=True, campaign=False),
    )
    def create_campaign(body: NewCampaign) -> Response:
        shelf.drop(body.name)  # an older one of this name is gone
        made = shelf.put(Campaign.create(**body.model_dump(), storage=shelf.storage))
        return answer(made.status().as_dict(), 201)

    @router.get(
        "/campaigns/{name}",
        summary="How a campaign stands",
        dependencies=read,
        response_model=replies.Status,
        responses=refusals(),
    )
    def get_campaign(name: Name) -> Response:
        return answer(shelf.get(name).status().as_dict())

    @router.post(
        "/campaigns/{name}/top-ups",
        summary="Add to the budget",
        dependencies=manage,
        response_model=replies.Status,
        responses=refusals(Conflict, CampaignClosed, body=True),
    )
    def top_up(name: Name, body: TopUp, idempotency_key: Key = None) -> Response:
        return answer(
            shelf.get(name)
            .top_up(body.amount, request_of(idempotency_key, body.request_id))
            .as_dict()
        )

    turning: dict[str, Any] = {
        "dependencies": manage,
        "response_model": replies.Status,
        "responses": refusals(CampaignClosed, body=True),
    }

    @router.post(
        "/campaigns/{name}/pause", summary="Give out no tickets until it is resumed", **turning
    )
    def pause_campaign(name: Name) -> Response:
        return answer(shelf.get(name).pause().as_dict())

    @router.post("/campaigns/{name}/resume", summary="Give out tickets again", **turning)
    def resume_campaign(name: Name) -> Response:
        return answer(shelf.get(name).resume().as_dict())

    @router.post("/campaigns/{name}/close", summary="Give out no more tickets, for good", **turning)
    def close_campaign(name: Name) -> Response:
        return answer(shelf.get(name).close().as_dict())

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
    def read_journal(name: Name, window: Annotated[Window, Query()]) -> Response:
        entries = shelf.storage.entries(name, window.after, window.limit)
        return Lines("".join(compact(entry._asdict()) + "\n" for entry in entries))

    return router
