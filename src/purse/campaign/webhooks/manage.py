"""Webhooks of a campaign or an account: add, list, remove."""

from __future__ import annotations

import secrets

from purse.campaign.make_results import webhook
from purse.campaign.results import AddedWebhook, Webhook
from purse.campaign.storage.base import Storage
from purse.campaign.webhooks.records import NewWebhook
from purse.campaign.webhooks.signature import key_of, new_secret
from purse.campaign.webhooks.target import read_target
from purse.errors import InvalidInput, invalid

MOST = 20  # webhooks of one campaign or account


def add(storage: Storage, name: str, url: str, secret: str | None = None) -> AddedWebhook:
    """Add a webhook, which is told of the events from now on. The same address and secret again
    change nothing.

    Raise `InvalidInput` where the address or the secret cannot be used, or there are too many.
    """
    target, secret = read_target(url), new_secret() if secret is None else secret
    key_of(secret)
    made = NewWebhook(secrets.token_hex(8), url, target.shown, secret, storage.now())
    number = storage.add_webhook(name, made)
    if number == made.id and len(storage.webhooks(name)) > MOST:  # one that was there may stay
        storage.remove_webhook(name, number)
        raise InvalidInput(f"url: {name!r} has {MOST} webhooks already, the most there may be")
    return AddedWebhook(number, target.shown, secret)


def listed(storage: Storage, name: str) -> list[Webhook]:
    """Return the webhooks, the oldest first."""
    return [webhook(record) for record in storage.webhooks(name)]


def remove(storage: Storage, name: str, id: str) -> bool:
    """Tell a webhook of nothing more; return whether it was there."""
    if not isinstance(id, str):
        raise invalid("id", id, "must be the id of a webhook")
    return storage.remove_webhook(name, id)
