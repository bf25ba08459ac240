"""`purse.Client`: a campaign on a server, with the verbs, types and errors of `purse.Campaign`.
Needs the extra `client`.

Every request can be sent twice without a second effect, so whatever got no answer is sent again.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from purse.base.optional import needs
from purse.campaign.journal import Entry
from purse.campaign.results import CampaignTicket, Receipt, Status
from purse.campaign.states import OPEN
from purse.client.wire import T, encoded, error_of, path, pause_of, refusal, result_of
from purse.errors import CampaignExists, PurseError, StorageUnavailable, invalid, shorten

if TYPE_CHECKING:
    import httpx

AGAIN = (429, 502, 503, 504)
SHORTEST, LONGEST = 0.1, 10.0  # seconds between attempts: doubled each time, up to the longest
PAGE_SIZE = 1000  # entries of a journal at a time
Ticket = CampaignTicket | int


class Client:
    """A connection to `purse serve`. Several threads may use it."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        timeout: float = 10,
        retries: int = 5,
        *,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        with needs("the client", "client"):
            import httpx

        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.url, self.retries = url, retries
        self._http = httpx.Client(
            base_url=url, headers=headers, timeout=timeout, transport=transport
        )
        self._no_answer = httpx.TransportError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def create(self, name: str, **terms: Any) -> Status:
        """A new campaign, with the arguments of `Campaign.create` except for the storage."""
        return self._result(Status, "POST", "/campaigns", {"name": name, **terms})

    def campaigns(self) -> list[str]:
        """The names of all campaigns."""
        return list(self._send("GET", "/campaigns").json()["campaigns"])

    def status(self, name: str) -> Status:
        """How a campaign stands."""
        return self._result(Status, "GET", path(name))

    def ask(self, name: str, request_id: str | None = None) -> CampaignTicket:
        """A ticket for the next round."""
        return self.ask_many(name, 1, request_id)[0]

    def ask_many(self, name: str, n: int, request_id: str | None = None) -> list[CampaignTicket]:
        """As many tickets as fit, up to n and at least one."""
        body = {"n": n, "request_id": uuid.uuid4().hex if request_id is None else request_id}
        return tickets_of(self._send("POST", path(name, "asks"), body))

    def tell(self, name: str, ticket: Ticket, reward: Any, cost: Any) -> Receipt:
        """Report what a ticket brought and cost."""
        where = path(name, "tickets", number(name, ticket), "tell")
        return self._result(Receipt, "POST", where, {"reward": reward, "cost": cost})

    def tell_many(
        self, name: str, reports: Iterable[tuple[Ticket, Any, Any]]
    ) -> list[Receipt | PurseError]:
        """Many reports at once. Each stands alone: the error of one is returned in its place."""
        body = {
            "reports": [
                {"ticket": number(name, ticket), "reward": reward, "cost": cost}
                for ticket, reward, cost in reports
            ]
        }
        found = self._send("POST", path(name, "tells"), body).json()["receipts"]
        return [
            error_of(each["error"]) if "error" in each else result_of(Receipt, each)
            for each in found
        ]

    def void(self, name: str, ticket: Ticket) -> Receipt:
        """Cancel a ticket."""
        return self._result(Receipt, "POST", path(name, "tickets", number(name, ticket), "void"))

    def top_up(self, name: str, amount: Any, request_id: str | None = None) -> Status:
        """Add to the budget."""
        body = {
            "amount": amount,
            "request_id": uuid.uuid4().hex if request_id is None else request_id,
        }
        return self._result(Status, "POST", path(name, "top-ups"), body)

    def pause(self, name: str) -> Status:
        """Give out no tickets until `resume`."""
        return self._result(Status, "POST", path(name, "pause"))

    def resume(self, name: str) -> Status:
        """Give out tickets again."""
        return self._result(Status, "POST", path(name, "resume"))

    def close(self, name: str) -> Status:
        """Give out no more tickets, for good."""
        return self._result(Status, "POST", path(name, "close"))

    def tickets(
        self, name: str, states: Sequence[str] = OPEN, limit: int = 1000
    ) -> list[CampaignTicket]:
        """Tickets in these states, oldest first."""
        query = {"state": list(states), "limit": limit}
        return tickets_of(self._send("GET", path(name, "tickets"), query=query))

    def journal(self, name: str, after: int = 0) -> Iterator[Entry]:
        """The entries after this one."""
        while lines := self._send(
            "GET", path(name, "journal"), query={"after": after, "limit": PAGE_SIZE}
        ).text.splitlines():
            for line in lines:
                entry = Entry(**json.loads(line))
                yield entry
                after = entry.seq

    def _result(
        self, kind: type[T], method: str, where: str, body: Mapping[str, Any] | None = None
    ) -> T:
        """What the server answers, as a result of this type."""
        return result_of(kind, self._send(method, where, body).json())

    def _send(
        self,
        method: str,
        where: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """Send a request, again where no answer comes, and raise what the server refused it
        with.
        """
        content = None if body is None else encoded(body)
        headers = {} if content is None else {"Content-Type": "application/json"}
        trouble = ""
        for attempt in range(self.retries + 1):
            wait = random.uniform(0, min(LONGEST, SHORTEST * 2**attempt))
            try:
                response = self._http.request(
                    method, where, content=content, headers=headers, params=query
                )
            except self._no_answer as error:
                trouble = f"{type(error).__name__}: {error}"
            else:
                if response.status_code < 300:
                    return response
                refused = refusal(response)
                if response.status_code not in AGAIN:
                    if attempt and isinstance(refused, CampaignExists):
                        raise CampaignExists(
                            f"{refused}; an earlier attempt of this call, which got no "
                            "answer, may have made it"
                        )
                    raise refused
                trouble, wait = str(refused), wait + pause_of(response)
            if attempt < self.retries:
                time.sleep(wait)
        raise StorageUnavailable(
            f"{self.url} does not answer after {self.retries + 1} attempts: {shorten(trouble)}"
        )


def number(name: str, ticket: Ticket) -> int:
    """The number of a ticket of this campaign."""
    if isinstance(ticket, CampaignTicket):
        if ticket.campaign != name:
            raise invalid("ticket", ticket, f"must be one of campaign {name!r}")
        return ticket.id
    return ticket


def tickets_of(response: httpx.Response) -> list[CampaignTicket]:
    """The tickets of an answer."""
    return [result_of(CampaignTicket, each) for each in response.json()["tickets"]]
