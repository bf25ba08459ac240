"""Routes of whole campaigns: list, create, status, top up, pause, resume, end, alarms, audit,
journal.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Response

from purse.base.json import compact
from purse.campaign.local.campaign import LocalCampaign
from purse.errors import CampaignEnded, CampaignExists, Conflict
from purse.service import problems
from purse.service.auth import actor, admin, reader
from purse.service.campaign_cache import CampaignCache
from purse.service.openapi import refusals
from purse.service.policy_files import without_folder
from purse.service.route import api_router
from purse.service.routes.common import (
    Key,
    Lines,
    Name,
    answer,
    journal_lines,
    pages_said,
    request_of,
    status_answer,
)
from purse.service.schemas import examples, responses
from purse.service.schemas.audit import AuditWish
from purse.service.schemas.new_campaign import NewCampaign
from purse.service.schemas.requests import JournalQuery, TopUp
from purse.service.threads import Threads


def campaigns(cache: CampaignCache, threads: Threads) -> APIRouter:
    """The routes."""
    router = api_router(threads, tags=["campaigns"])
    read, manage = [Depends(reader)], [Depends(admin)]

    @router.get(
        "/campaigns",
        summary="The names of all campaigns",
        dependencies=read,
        response_model=responses.Names,
        responses=refusals(campaign=False),
    )
    def list_campaigns() -> Response:
        return answer({"campaigns": LocalCampaign.names(storage=cache.storage)})

    @router.post(
        "/campaigns",
        summary="Create a campaign",
        status_code=201,
        dependencies=manage,
        response_model=responses.Status,
        responses=refusals(CampaignExists, CampaignEnded, body=True),
    )
    def create_campaign(body: NewCampaign) -> Response:
        cache.drop(body.name)  # an older one of this name is gone
        made = cache.put(LocalCampaign.create(**body.model_dump(), storage=cache.storage))
        return status_answer(made.status(), 201)

    @router.get(
        "/campaigns/{name}",
        summary="How a campaign stands",
        dependencies=read,
        response_model=responses.Status,
        responses=refusals(),
    )
    def get_campaign(name: Name) -> Response:
        return status_answer(cache.get(name).status())

    @router.post(
        "/campaigns/{name}/top-ups",
        summary="Add to the budget",
        dependencies=manage,
        response_model=responses.Status,
        responses=refusals(Conflict, CampaignEnded, body=True),
    )
    def top_up(name: Name, body: TopUp, idempotency_key: Key = None) -> Response:
        request = request_of(idempotency_key, body.request_id)
        return status_answer(cache.get(name).top_up(body.amount, request))

    turning: dict[str, Any] = {
        "dependencies": manage,
        "response_model": responses.Status,
        "responses": refusals(CampaignEnded, body=True),
    }

    @router.post(
        "/campaigns/{name}/pause", summary="Give out no tickets until it is resumed", **turning
    )
    def pause_campaign(name: Name) -> Response:
        return status_answer(cache.get(name).pause())

    @router.post("/campaigns/{name}/resume", summary="Give out tickets again", **turning)
    def resume_campaign(name: Name) -> Response:
        return status_answer(cache.get(name).resume())

    @router.post("/campaigns/{name}/end", summary="Give out no more tickets, for good", **turning)
    def end_campaign(name: Name) -> Response:
        return status_answer(cache.get(name).end())

    @router.post(
        "/campaigns/{name}/expire",
        summary="Expire the tickets past their deadline, as every ask does",
        dependencies=[Depends(actor)],
        response_model=responses.Expired,
        responses=refusals(body=True),
    )
    def expire_tickets(name: Name) -> Response:
        campaign = cache.get(name)
        expired = campaign.expire()
        return answer({**without_folder(campaign.status().as_dict()), "expired": expired})

    @router.post(
        "/campaigns/{name}/audit",
        summary="Check a campaign against its journal",
        dependencies=manage,
        response_model=responses.Audit,
        responses=refusals(body=True, more=(problems.POLICY_FILE,)),
    )
    def audit_campaign(
        name: Name,
        body: Annotated[AuditWish, Body()] = AuditWish(),  # noqa: B008 - it never changes
    ) -> Response:
        noted = None if body.noted is None else (body.noted.entries, body.noted.digest)
        campaign = cache.get_to_ask(name)  # an audit plays the policy again
        found = campaign.audit(full=body.full, acknowledged=body.acknowledged, noted=noted)
        return answer({**asdict(found), "ok": found.ok})

    @router.get(
        "/campaigns/{name}/journal",
        summary="The journal, which is the truth",
        dependencies=read,
        response_class=Lines,
        responses={**refusals(), 200: pages_said(compact(examples.ENTRY) + "\n")},
    )
    def read_journal(name: Name, window: Annotated[JournalQuery, Query()]) -> Response:
        return Lines("".join(journal_lines(cache.get(name).journal, window)))

    return router
