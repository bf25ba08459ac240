"""Routes of tickets: ask, tell, settle, reward, fail, void, look."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Query, Response

from purse.base.problem_types import of_error
from purse.campaign.results import Receipt
from purse.errors import (
    ArmsCoolingDown,
    AskRefused,
    BudgetExhausted,
    BudgetHeld,
    CampaignEnded,
    CampaignPaused,
    Conflict,
    HorizonReached,
    PurseError,
    TicketError,
)
from purse.service import problems
from purse.service.auth import actor, reader
from purse.service.campaign_cache import CampaignCache
from purse.service.metrics import Metrics
from purse.service.openapi import refusals
from purse.service.route import api_router
from purse.service.routes.common import Key, Name, answer, request_of
from purse.service.schemas import responses
from purse.service.schemas.fields import LARGEST_ID
from purse.service.schemas.requests import (
    Ask,
    Failure,
    Gain,
    LabelQuery,
    Look,
    Outcome,
    Reports,
    Settlement,
    TicketQuery,
)
from purse.service.threads import Threads

Number = Annotated[
    int, Path(ge=1, le=LARGEST_ID, description="The ticket.", openapi_examples={"1": {"value": 1}})
]


def tickets(cache: CampaignCache, threads: Threads, metrics: Metrics) -> APIRouter:
    """The routes."""
    router = api_router(threads, tags=["tickets"])
    read, act = [Depends(reader)], [Depends(actor)]

    @router.post(
        "/campaigns/{name}/asks",
        summary="Ask for tickets",
        dependencies=act,
        response_model=responses.Tickets,
        responses=refusals(
            Conflict,
            BudgetExhausted,
            BudgetHeld,
            ArmsCoolingDown,
            HorizonReached,
            AskRefused,
            CampaignPaused,
            CampaignEnded,
            body=True,
            more=(problems.POLICY_FILE,),
        ),
    )
    def ask(
        name: Name,
        body: Annotated[Ask, Body()] = Ask(),  # noqa: B008 - it never changes
        idempotency_key: Key = None,
    ) -> Response:
        campaign, request = cache.get_to_ask(name), request_of(idempotency_key, body.request_id)
        wishes: dict[str, Any] = {"arms": body.arms, "labels": body.labels}
        given = (
            [campaign.ask(request, context=body.context, **wishes)]
            if body.n == 1 and body.contexts is None
            else campaign.ask_many(body.n, request, contexts=body.contexts, **wishes)
        )
        metrics.asks.labels(name).inc(len(given))
        return answer({"tickets": [ticket.as_dict() for ticket in given]})

    @router.post(
        "/campaigns/{name}/probabilities",
        summary="The probability of each arm in the next round",
        dependencies=act,
        response_model=responses.Probabilities,
        responses=refusals(
            BudgetExhausted,
            BudgetHeld,
            ArmsCoolingDown,
            body=True,
            more=(problems.POLICY_FILE,),
        ),
    )
    def probabilities(
        name: Name,
        body: Annotated[Look, Body()] = Look(),  # noqa: B008 - it never changes
    ) -> Response:
        found = cache.get_to_ask(name).probabilities(body.arms, body.context)
        return answer({"probabilities": found})

    @router.post(
        "/campaigns/{name}/tells",
        summary="Tell what several tickets brought and cost",
        dependencies=act,
        response_model=responses.Receipts,
        responses=refusals(body=True),
    )
    def tell_many(name: Name, body: Reports) -> Response:
        found = cache.get(name).tell_many(
            [(report.ticket, report.reward, report.cost) for report in body.reports]
        )
        metrics.tells.labels(name).inc(sum(isinstance(each, Receipt) for each in found))
        return answer(
            {
                "receipts": [
                    receipt_or_error(report.ticket, each)
                    for report, each in zip(body.reports, found, strict=True)
                ]
            }
        )

    @router.post(
        "/campaigns/{name}/tickets/{id}/tell",
        summary="Tell what a ticket brought and cost",
        dependencies=act,
        response_model=responses.Receipt,
        responses=refusals(TicketError, Conflict, body=True),
    )
    def tell(name: Name, id: Number, body: Outcome) -> Response:
        receipt = cache.get(name).tell(id, body.reward, body.cost)
        metrics.tells.labels(name).inc()
        return answer(receipt.as_dict())

    @router.post(
        "/campaigns/{name}/tickets/{id}/settle",
        summary="Tell what a ticket cost, whose reward comes later",
        dependencies=act,
        response_model=responses.Receipt,
        responses=refusals(TicketError, Conflict, body=True),
    )
    def settle(name: Name, id: Number, body: Settlement) -> Response:
        return answer(cache.get(name).settle(id, body.cost).as_dict())

    @router.post(
        "/campaigns/{name}/tickets/{id}/reward",
        summary="Tell what a ticket brought, before or after its cost",
        dependencies=act,
        response_model=responses.Receipt,
        responses=refusals(TicketError, Conflict, body=True),
    )
    def reward(name: Name, id: Number, body: Gain) -> Response:
        return answer(cache.get(name).reward(id, body.reward).as_dict())

    @router.post(
        "/campaigns/{name}/tickets/{id}/fail",
        summary="Tell that the call of a ticket did not work",
        dependencies=act,
        response_model=responses.Receipt,
        responses=refusals(TicketError, Conflict, body=True),
    )
    def fail(
        name: Name,
        id: Number,
        body: Annotated[Failure, Body()] = Failure(),  # noqa: B008 - it never changes
    ) -> Response:
        return answer(cache.get(name).fail(id, body.cost, body.reason).as_dict())

    @router.post(
        "/campaigns/{name}/tickets/{id}/void",
        summary="Cancel a ticket and release what is held for it",
        dependencies=act,
        response_model=responses.Receipt,
        responses=refusals(TicketError, Conflict, body=True),
    )
    def void(name: Name, id: Number) -> Response:
        return answer(cache.get(name).void(id).as_dict())

    @router.get(
        "/campaigns/{name}/tickets",
        summary="Tickets, oldest first",
        dependencies=read,
        response_model=responses.Tickets,
        responses=refusals(),
    )
    def list_tickets(name: Name, choice: Annotated[TicketQuery, Query()]) -> Response:
        found = cache.get(name).tickets(choice.state, choice.limit, choice.after)
        return answer({"tickets": [ticket.as_dict() for ticket in found]})

    @router.get(
        "/campaigns/{name}/tickets/{id}",
        summary="One ticket",
        dependencies=read,
        response_model=responses.Ticket,
        responses=refusals(TicketError),
    )
    def get_ticket(name: Name, id: Number) -> Response:
        return answer(cache.get(name).ticket(id).as_dict())

    @router.get(
        "/campaigns/{name}/labels",
        summary="The labels on which most was spent",
        dependencies=read,
        response_model=responses.Labels,
        responses=refusals(),
    )
    def list_labels(name: Name, choice: Annotated[LabelQuery, Query()]) -> Response:
        found = cache.get(name).labels(choice.key, choice.limit)
        return answer({"labels": [label.as_dict() for label in found]})

    return router


def receipt_or_error(ticket: int, answered: Receipt | PurseError) -> dict[str, Any]:
    """One answer among several."""
    return (
        answered.as_dict()
        if isinstance(answered, Receipt)
        else {"ticket": ticket, "error": of_error(answered)}
    )
