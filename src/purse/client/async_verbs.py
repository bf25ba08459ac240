"""The verbs of a campaign for coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from purse.base.recommendation import CONFIDENCE, REWARD, Recommendation
from purse.campaign.campaign import Campaign
from purse.campaign.journal import Entry
from purse.campaign.results import (
    Audit,
    CampaignTicket,
    LabelStatus,
    Receipt,
    Status,
)
from purse.campaign.states import OPEN
from purse.client.async_base import AsyncBase
from purse.client.async_connection import AsyncConnection
from purse.client.remote_campaign import RemoteCampaign
from purse.client.verbs import asks, operators, records, reports
from purse.client.verbs.common import Arms, Labels, Ticket
from purse.client.verbs.reports import tell_many
from purse.errors import PurseError


class AsyncVerbs(AsyncBase[Campaign]):
    """The verbs of a campaign, each awaited."""

    async def ask(
        self,
        request_id: str | None = None,
        *,
        arms: Arms = None,
        context: Any = None,
        labels: Labels = None,
    ) -> CampaignTicket:
        return await self._do(asks.ask, request_id, arms=arms, context=context, labels=labels)

    async def ask_many(
        self,
        n: int,
        request_id: str | None = None,
        *,
        arms: Arms = None,
        contexts: Sequence[Any] | None = None,
        labels: Labels = None,
    ) -> list[CampaignTicket]:
        wishes = {"arms": arms, "contexts": contexts, "labels": labels}
        return await self._do(asks.ask_many, n, request_id, **wishes)

    async def probabilities(self, arms: Arms = None, context: Any = None) -> dict[str, float]:
        return await self._do(asks.probabilities, arms, context)

    async def tell(self, ticket: Ticket, reward: Any, cost: Any) -> Receipt:
        return await self._do(reports.tell, ticket, reward, cost)

    async def tell_many(
        self, reports: Iterable[tuple[Ticket, Any, Any]]
    ) -> list[Receipt | PurseError]:
        return await self._do(tell_many, reports)

    async def settle(self, ticket: Ticket, cost: Any) -> Receipt:
        return await self._do(reports.settle, ticket, cost)

    async def reward(self, ticket: Ticket, reward: Any) -> Receipt:
        return await self._do(reports.reward, ticket, reward)

    async def fail(self, ticket: Ticket, cost: Any = 0, reason: str = "") -> Receipt:
        return await self._do(reports.fail, ticket, cost, reason)

    async def void(self, ticket: Ticket) -> Receipt:
        return await self._do(reports.void, ticket)

    async def top_up(self, amount: Any, request_id: str | None = None) -> Status:
        return await self._do(operators.top_up, amount, request_id)

    async def pause(self) -> Status:
        return await self._do(operators.pause)

    async def resume(self) -> Status:
        return await self._do(operators.resume)

    async def end(self) -> Status:
        return await self._do(operators.end)

    async def set_alerts(self, alerts: Sequence[str]) -> Status:
        return await self._do(operators.set_alerts, alerts)

    async def expire(self) -> int:
        return await self._do(operators.expire)

    async def add_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        return await self._do(operators.add_arm, name, cost_min=cost_min, cost_max=cost_max)

    async def retire_arm(self, name: str) -> Status:
        return await self._do(operators.retire_arm, name)

    async def set_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        return await self._do(operators.set_arm, name, cost_min=cost_min, cost_max=cost_max)

    async def status(self) -> Status:
        return await self._do(records.status)

    async def recommend(
        self,
        by: str = REWARD,
        *,
        cap: Any = None,
        confidence: float = CONFIDENCE,
        within: float = 0.0,
        resource: str | None = None,
    ) -> Recommendation:
        question = {"cap": cap, "confidence": confidence, "within": within, "resource": resource}
        return await self._do(records.recommend, by, **question)

    async def tickets(
        self, states: Sequence[str] = OPEN, limit: int = 1000, after: int = 0
    ) -> list[CampaignTicket]:
        return await self._do(records.tickets, states, limit, after)

    async def ticket(self, number: int) -> CampaignTicket:
        return await self._do(records.ticket, number)

    async def labels(self, key: str | None = None, limit: int = 100) -> list[LabelStatus]:
        return await self._do(records.labels, key, limit)

    async def journal(self, after: int = 0) -> AsyncIterator[Entry]:
        async for entry in self._entries(records.journal_page, after):
            yield entry

    async def audit(
        self,
        *,
        full: bool = False,
        acknowledged: Iterable[int] = (),
        noted: tuple[int, str] | None = None,
    ) -> Audit:
        return await self._do(records.audit, full=full, acknowledged=acknowledged, noted=noted)

    async def export(self, file: str | Path | IO[str], *, contexts: bool = True) -> int:
        kept = self._kept
        if isinstance(kept, AsyncConnection):  # files are written in a thread in any case
            kept = RemoteCampaign(self.name, kept.for_threads())
        return await asyncio.to_thread(kept.export, file, contexts=contexts)
