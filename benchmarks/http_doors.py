"""What the benchmarks ask and tell over HTTP, with Python's own library."""

from __future__ import annotations

import http.client
import json
import threading
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from benchmarks.doors import COST, REWARD
from benchmarks.load import Player


class Http(NamedTuple):
    """A campaign behind `purse serve`, over connections of the standard library that stay open, one
    for each thread.
    """

    url: str
    name: str
    batch: int

    def enter(self) -> Player:
        """Connect."""
        return HttpOne(self) if self.batch == 1 else HttpMany(self)


class HttpMany:
    """Asks for many tickets at a time, over HTTP."""

    def __init__(self, door: Http) -> None:
        self.where, self.path, self.batch = (
            urlsplit(door.url).netloc,
            f"/campaigns/{door.name}",
            door.batch,
        )
        self._local = threading.local()

    def send(self, path: str, body: dict[str, Any]) -> Any:
        """Return a request about the campaign, and its answer."""
        return self.exchange("POST", self.path + path, json.dumps(body))

    def exchange(self, method: str, path: str, content: str | None = None) -> Any:
        """Return a request and its answer."""
        if not hasattr(self._local, "line"):
            self._local.line = http.client.HTTPConnection(self.where)
        kind = {} if content is None else {"Content-Type": "application/json"}
        self._local.line.request(method, path, content, kind)
        answer = self._local.line.getresponse()
        reply = json.loads(answer.read())
        assert answer.status == http.HTTPStatus.OK, reply
        return reply

    def close(self) -> None:
        """Close the connection of this thread."""
        self._local.line.close()

    def ask(self) -> Any:
        """Tickets."""
        return self.send("/asks", {"n": self.batch})["tickets"]

    def tell(self, answer: Any) -> int:
        """Report on the tickets; return their number."""
        reports = [{"ticket": ticket["id"], "reward": REWARD, "cost": COST} for ticket in answer]
        return len(self.send("/tells", {"reports": reports})["receipts"])


class HttpOne(HttpMany):
    """Asks for one ticket at a time, over HTTP."""

    def ask(self) -> Any:
        """Return a ticket."""
        return self.send("/asks", {"n": 1})["tickets"][0]["id"]

    def tell(self, answer: Any) -> int:
        """Report on the ticket; return 1, the number of tickets."""
        self.send(f"/tickets/{answer}/tell", {"reward": REWARD, "cost": COST})
        return 1


class Health(NamedTuple):
    """Health checks, two in the place of an ask and a tell."""

    url: str
    name: str

    def enter(self) -> Player:
        """Connect."""
        return HealthChecks(Http(self.url, self.name, 1))


class HealthChecks(HttpOne):
    """Asks whether the server is alive."""

    def ask(self) -> Any:
        """Return whether it is."""
        return self.exchange("GET", "/healthz")

    def tell(self, answer: Any) -> int:
        """Once more."""
        self.exchange("GET", "/healthz")
        return 1
