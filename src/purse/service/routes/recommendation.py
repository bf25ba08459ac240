"""The route that says which arm is best."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from purse.service.auth import reader
from purse.service.campaign_cache import CampaignCache
from purse.service.openapi import refusals
from purse.service.route import api_router
from purse.service.routes.common import Name, answer
from purse.service.schemas.recommendation import Recommendation, RecommendationQuery
from purse.service.threads import Threads


def recommendation_routes(cache: CampaignCache, threads: Threads) -> APIRouter:
    """The routes."""
    router = api_router(threads, tags=["campaigns"])

    @router.get(
        "/campaigns/{name}/recommendation",
        summary="Which arm is best, and how sure that is",
        dependencies=[Depends(reader)],
        response_model=Recommendation,
        responses=refusals(),
    )
    def recommend_arm(name: Name, question: Annotated[RecommendationQuery, Query()]) -> Response:
        return answer(cache.get(name).recommend(**question.model_dump()).as_dict())

    return router
