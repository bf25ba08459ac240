"""Webhooks of a campaign or an account, for coroutines."""

from __future__ import annotations

from purse.campaign.results import AddedWebhook, Webhook
from purse.client.async_base import AsyncBase, K
from purse.client.verbs import webhooks


class AsyncWebhooks(AsyncBase[K]):
    """Addresses that are told of events."""

    async def add_webhook(self, url: str, secret: str | None = None) -> AddedWebhook:
        return await self._do(webhooks.add_webhook, url, secret)

    async def webhooks(self) -> list[Webhook]:
        return await self._do(webhooks.webhooks)

    async def remove_webhook(self, id: str) -> bool:
        return await self._do(webhooks.remove_webhook, id)
