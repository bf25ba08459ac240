"""Webhooks of a campaign or an account, as requests."""

from __future__ import annotations

import json

from purse.campaign.results import AddedWebhook, Webhook
from purse.client.exchange import Request
from purse.client.verbs.common import result
from purse.client.wire import quoted, result_of


def add_webhook(name: str, url: str, secret: str | None = None) -> Request[AddedWebhook]:
    """Send the events from now on to an address; the secret is made here, so that the request can
    be sent again.
    """
    if secret is None:
        from purse.campaign.webhooks.signature import new_secret  # what few clients need

        secret = new_secret()
    body = {"url": url, "secret": secret}
    return result(AddedWebhook, "POST", f"/webhooks/{quoted(name)}", body)


def webhooks(name: str) -> Request[list[Webhook]]:
    """List the webhooks."""
    return Request("GET", f"/webhooks/{quoted(name)}", webhooks_of)


def webhooks_of(text: str) -> list[Webhook]:
    """Return the webhooks of an answer."""
    return [result_of(Webhook, each) for each in json.loads(text)["webhooks"]]


def remove_webhook(name: str, id: str) -> Request[bool]:
    """Send nothing more to an address."""
    where = f"/webhooks/{quoted(name)}/remove"
    return Request("POST", where, lambda text: bool(json.loads(text)["removed"]), {"id": id})
