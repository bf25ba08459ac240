"""Webhooks of a campaign or an account on a server."""

from __future__ import annotations

from abc import abstractmethod

from purse.campaign.results import AddedWebhook, Webhook
from purse.campaign.verbs.webhooks import WebhookVerbs
from purse.client.connection import Connection
from purse.client.verbs import webhooks


class RemoteWebhooks(WebhookVerbs):
    """Addresses that are told of events."""

    _connection: Connection

    @property
    @abstractmethod
    def name(self) -> str: ...

    def add_webhook(self, url: str, secret: str | None = None) -> AddedWebhook:
        return self._connection.do(webhooks.add_webhook(self.name, url, secret))

    def webhooks(self) -> list[Webhook]:
        return self._connection.do(webhooks.webhooks(self.name))

    def remove_webhook(self, id: str) -> bool:
        return self._connection.do(webhooks.remove_webhook(self.name, id))
