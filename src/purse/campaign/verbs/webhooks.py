"""The verbs of those who want to be told: webhooks of a campaign or an account."""

from __future__ import annotations

from abc import ABC, abstractmethod

from purse.campaign.results import AddedWebhook, Webhook


class WebhookVerbs(ABC):
    """Addresses that are told of events."""

    @abstractmethod
    def add_webhook(self, url: str, secret: str | None = None) -> AddedWebhook:
        """Send the events from now on to an address, and return its id and secret.

        url      such as https://hooks.example.com/purse; it is never shown again
        secret   "whsec_" and 24 to 64 bytes in base64; None: a new one. Receivers check the
                 signature of each message with it

        The same address and secret again change nothing.

        Raise `InvalidInput` when the address or the secret cannot be used.
        """

    @abstractmethod
    def webhooks(self) -> list[Webhook]:
        """Return the webhooks, the oldest first, and how their deliveries stand."""

    @abstractmethod
    def remove_webhook(self, id: str) -> bool:
        """Send nothing more to an address, and return whether it was there.

        What waits for it is dropped.
        """
