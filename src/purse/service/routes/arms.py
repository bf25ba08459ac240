"""Routes of arms: add, retire and change them. Their names stand in the body, since a path cannot
carry every name: "..", for one, is lost on the way.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Response

from purse.errors import CampaignEnded
from purse.service.auth import admin
from purse.service.campaign_cache import CampaignCache
from purse.service.openapi import refusals
from purse.service.route import api_router
from purse.service.routes.common import Name, status_answer
from purse.service.schemas import responses
from purse.service.schemas.arms import ChangedArm, NewArm, RetiredArm
from purse.service.threads import Threads


def arm_routes(cache: CampaignCache, threads: Threads) -> APIRouter:
    """The routes. Each does nothing where what is wanted is so already."""
    router = api_router(threads, tags=["arms"])
    common: dict[str, Any] = {
        "dependencies": [Depends(admin)],
        "response_model": responses.Status,
        "responses": refusals(CampaignEnded, body=True),
    }

    @router.post(
        "/campaigns/{name}/arms", summary="Add an arm, or take back a retired one", **common
    )
    def add_arm(name: Name, body: NewArm) -> Response:
        campaign = cache.get(name)
        status = campaign.add_arm(body.name, cost_min=body.cost_min, cost_max=body.cost_max)
        return status_answer(status)

    @router.post(
        "/campaigns/{name}/arms/set",
        summary="Change what an arm may cost, from the next ask on",
        **common,
    )
    def set_arm(name: Name, body: ChangedArm) -> Response:
        campaign = cache.get(name)
        status = campaign.set_arm(body.name, cost_min=body.cost_min, cost_max=body.cost_max)
        return status_answer(status)

    @router.post("/campaigns/{name}/arms/retire", summary="Choose an arm no more", **common)
    def retire_arm(name: Name, body: RetiredArm) -> Response:
        return status_answer(cache.get(name).retire_arm(body.name))

    return router
