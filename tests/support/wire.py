"""A campaign on a server in this process, behind a wire that breaks when a test wants it to."""

from __future__ import annotations

from collections.abc import Callable
from http.client import HTTPMessage
from typing import Any, NamedTuple, TypeAlias

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from purse.client import Server
from tests.support.service import HERE, PROMPTS, TestClient, service

TERMS: dict[str, Any] = {key: value for key, value in PROMPTS.items() if key != "name"}
Answer: TypeAlias = tuple[int, HTTPMessage, bytes]


class Sent(NamedTuple):
    """A request."""

    method: str
    path: str
    content: bytes


class Wire:
    """Sends to a service in this process. `trouble` says what goes wrong, request by request."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.trouble: list[Callable[[Sent], Answer]] = []
        self.sent: list[Sent] = []

    def send(self, method: str, path: str, content: bytes, timeout: float) -> Answer:
        request = Sent(method, path, content)
        self.sent.append(request)
        return self.trouble.pop(0)(request) if self.trouble else self.deliver(request)

    def deliver(self, request: Sent) -> Answer:
        headers = {"Content-Type": "application/json"}
        answer = self.client.request(
            request.method, request.path, content=request.content, headers=headers
        )
        return answer.status_code, headed(answer.headers), answer.content

    def refuse(self, request: Sent) -> Answer:
        raise ConnectionRefusedError("refused")

    def lose(self, request: Sent) -> Answer:
        """Do what is asked and drop the answer."""
        self.deliver(request)
        raise TimeoutError("no answer")

    def busy(self, status: int, text: bytes = b"<html>", **more: str) -> Callable[[Sent], Answer]:
        headers = {name.replace("_", "-"): value for name, value in more.items()}
        return lambda request: (status, headed(headers), text)


def headed(facts: Any) -> HTTPMessage:
    """Headers, as the standard library has them."""
    headers = HTTPMessage()
    for name, value in facts.items():
        headers[name] = value
    return headers


class Far:
    """A campaign on a server, the wire to it, and the storage at its end."""

    def __init__(self, **terms: Any) -> None:
        self.storage = in_memory()
        self.wire = Wire(service(self.storage))
        self.server = Server(HERE)
        vars(self.server)["_links"] = self.wire
        self.campaign = self.create("prompts", **terms)
        self.waits: list[float] = []

    def create(self, name: str, **terms: Any) -> Campaign:
        return Campaign.create(name, **{**TERMS, **terms}, storage=self.server)

    @property
    def here(self) -> Campaign:
        """The same campaign, where it is kept."""
        return Campaign.open("prompts", storage=self.storage)
