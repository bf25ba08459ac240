"""A campaign on a server in this process, behind a wire that breaks when a test wants it to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from purse.client.connection import Connection
from purse.client.exchange import Answer, Lost, Request

from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import in_memory
from tests.support.service import HERE, PROMPTS, TestClient, service

TERMS: dict[str, Any] = {key: value for key, value in PROMPTS.items() if key != "name"}


class Wire:
    """Sends to a service in this process. `trouble` says what goes wrong, request by request."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.trouble: list[Callable[[Request[Any]], Answer | Lost]] = []
        self.sent: list[Request[Any]] = []

    def send(self, request: Request[Any]) -> Answer | Lost:
        request.content()  # raises an error for what cannot be sent
        self.sent.append(request)
        return self.trouble.pop(0)(request) if self.trouble else self.deliver(request)

    def deliver(self, request: Request[Any]) -> Answer:
        answer = self.client.request(
            request.method,
            request.path,
            params=request.query,
            content=request.content(),
            headers={"Content-Type": "application/json"},
        )
        return Answer(answer.status_code, answer.text)

    def refuse(self, request: Request[Any]) -> Lost:
        return Lost("ConnectionRefusedError: refused")

    def lose(self, request: Request[Any]) -> Lost:
        """Do what is asked and drop the answer."""
        self.deliver(request)
        return Lost("TimeoutError: no answer")

    def busy(self, status: int, **more: str) -> Callable[[Request[Any]], Answer]:
        return lambda request: Answer(status, "<html>", **more)


class Far:
    """A campaign on a server, the wire to it, and the storage at its end."""

    def __init__(self, **terms: Any) -> None:
        self.storage = in_memory()
        self.wire = Wire(service(self.storage))
        self.connection = Connection(HERE)
        vars(self.connection)["_sender"] = self.wire
        self.campaign = self.create("prompts", **terms)
        self.waits: list[float] = []

    def create(self, name: str, **terms: Any) -> Campaign:
        return Campaign.create(name, **{**TERMS, **terms}, storage=self.connection)

    @property
    def here(self) -> Campaign:
        """The same campaign, where it is kept."""
        return Campaign.open("prompts", storage=self.storage)
