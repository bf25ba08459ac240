"""Webhooks of a campaign or an account, kept in its storage."""

from __future__ import annotations

from abc import abstractmethod

from purse.campaign.results import AddedWebhook, Webhook
from purse.campaign.storage.base import Storage
from purse.campaign.verbs.webhooks import WebhookVerbs
from purse.campaign.webhooks import manage


class LocalWebhooks(WebhookVerbs):
    """Addresses that are told of events."""

    storage: Storage

    @property
    @abstractmethod
    def name(self) -> str: ...

    def add_webhook(self, url: str, secret: str | None = None) -> AddedWebhook:
        return manage.add(self.storage, self.name, url, secret)

    def webhooks(self) -> list[Webhook]:
        return manage.listed(self.storage, self.name)

    def remove_webhook(self, id: str) -> bool:
        return manage.remove(self.storage, self.name, id)
