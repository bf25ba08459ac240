"""Routes of accounts: list, create, status, top up, pause, resume, end, alerts, audit,
journal.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from purse.base.json import compact
from purse.campaign.account_results import AccountStatus
from purse.campaign.local.account import LocalAccount
from purse.errors import CampaignEnded, CampaignExists, Conflict
from purse.service.auth import admin, reader
from purse.service.campaign_cache import CampaignCache
from purse.service.openapi import refusals
from purse.service.route import api_router
from purse.service.routes.common import (
    AccountName,
    Key,
    Lines,
    answer,
    journal_lines,
    pages_said,
    request_of,
)
from purse.service.schemas import account_responses, examples, responses
from purse.service.schemas.alerts import AccountAlerts
from purse.service.schemas.new_account import NewAccount
from purse.service.schemas.requests import JournalQuery, TopUp
from purse.service.threads import Threads


def account_routes(cache: CampaignCache, threads: Threads) -> APIRouter:
    """The routes."""
    router = api_router(threads, tags=["accounts"])
    read, manage = [Depends(reader)], [Depends(admin)]

    @router.get(
        "/accounts",
        summary="The names of all accounts",
        dependencies=read,
        response_model=account_responses.AccountNames,
        responses=refusals(campaign=False),
    )
    def list_accounts() -> Response:
        return answer({"accounts": LocalAccount.names(storage=cache.storage)})

    @router.post(
        "/accounts",
        summary="Create an account",
        status_code=201,
        dependencies=manage,
        response_model=account_responses.AccountStatus,
        responses=refusals(CampaignExists, CampaignEnded, body=True),
    )
    def create_account(body: NewAccount) -> Response:
        made = LocalAccount.create(**body.model_dump(), storage=cache.storage)
        return status_answer(made.status(), 201)

    @router.get(
        "/accounts/{account}",
        summary="How an account stands, and all that is below it",
        dependencies=read,
        response_model=account_responses.AccountStatus,
        responses=refusals(),
    )
    def get_account(account: AccountName) -> Response:
        return status_answer(cache.account(account).status())

    @router.post(
        "/accounts/{account}/top-ups",
        summary="Add to the budget of an account",
        dependencies=manage,
        response_model=account_responses.AccountStatus,
        responses=refusals(Conflict, CampaignEnded, body=True),
    )
    def top_up_account(account: AccountName, body: TopUp, idempotency_key: Key = None) -> Response:
        request = request_of(idempotency_key, body.request_id)
        return status_answer(cache.account(account).top_up(body.amount, request))

    turning: dict[str, Any] = {
        "dependencies": manage,
        "response_model": account_responses.AccountStatus,
        "responses": refusals(CampaignEnded, body=True),
    }

    @router.post(
        "/accounts/{account}/pause",
        summary="Let campaigns below it give out no tickets until it is resumed",
        **turning,
    )
    def pause_account(account: AccountName) -> Response:
        return status_answer(cache.account(account).pause())

    @router.post(
        "/accounts/{account}/resume",
        summary="Let campaigns below it give out tickets again",
        **turning,
    )
    def resume_account(account: AccountName) -> Response:
        return status_answer(cache.account(account).resume())

    @router.post(
        "/accounts/{account}/end",
        summary="Let campaigns below it give out no more tickets, for good",
        **turning,
    )
    def end_account(account: AccountName) -> Response:
        return status_answer(cache.account(account).end())

    @router.post(
        "/accounts/{account}/alerts",
        summary="Make events of an account by these rules from now on",
        dependencies=manage,
        response_model=account_responses.AccountStatus,
        responses=refusals(body=True),
    )
    def set_account_alerts(account: AccountName, body: AccountAlerts) -> Response:
        return status_answer(cache.account(account).set_alerts(body.alerts))

    @router.post(
        "/accounts/{account}/audit",
        summary="Check an account against its journal and those of its campaigns",
        dependencies=manage,
        response_model=responses.Audit,
        responses=refusals(body=True),
    )
    def audit_account(account: AccountName) -> Response:
        found = cache.account(account).audit()
        return answer({**asdict(found), "ok": found.ok})

    @router.get(
        "/accounts/{account}/journal",
        summary="The journal of an account",
        dependencies=read,
        response_class=Lines,
        responses={**refusals(), 200: pages_said(compact(examples.ACCOUNT_ENTRY) + "\n")},
    )
    def read_account_journal(
        account: AccountName, window: Annotated[JournalQuery, Query()]
    ) -> Response:
        return Lines("".join(journal_lines(cache.account(account).journal, window)))

    return router


def status_answer(status: AccountStatus, code: int = 200) -> Response:
    """How an account stands, as a reply."""
    return answer(status.as_dict(), code)
