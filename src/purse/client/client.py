"""`purse.Client`: campaigns on a server, with the verbs, types and errors of `purse.Campaign`.

It needs the extra `client`. Every request can be sent twice without a second effect, so the client
repeats a request that got no answer.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from purse.base.optional import needs
from purse.base.recommendation import CONFIDENCE, REWARD, Recommendation
from purse.campaign.journal import Entry
from purse.campaign.results import CampaignTicket, Receipt, Status
from purse.campaign.states import OPEN
from purse.client.wire import (
    T,
    amount_text,
    encoded,
    error_of,
    path,
    pause_of,
    refusal,
    result_of,
)
from purse.errors import (
    ArmsCoolingDown,
    CampaignExists,
    PurseError,
    StorageUnavailable,
    invalid,
    shorten,
)

if TYPE_CHECKING:
    import httpx

AGAIN = (429, 502, 503, 504)
SHORTEST, LONGEST = 0.1, 10.0  # seconds between attempts: doubled each time, up to the longest
PAGE_SIZE = 1000  # entries of a journal at a time
Ticket = CampaignTicket | int
Arms = Sequence[str] | Mapping[str, Any] | None


class Client:
    """A connection to `purse serve`, which several threads may share.

    url       the address of the server, such as http://127.0.0.1:8000
    token     the token that `purse token new` printed; None: no token
    timeout   seconds to wait for an answer
    retries   how often a request without an answer is repeated

    Every method raises the error that `Campaign` would raise. It raises `StorageUnavailable` when
    no answer came after all repeats.
    """

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
        """Close all connections to the server."""
        self._http.close()

    def create(self, name: str, **terms: Any) -> Status:
        """Create a campaign on the server and return its status.

        terms   the arguments of `Campaign.create` except for `storage`

        Raise `CampaignExists` when the server has a campaign of this name.
        """
        return self._result(Status, "POST", "/campaigns", {"name": name, **terms})

    def campaigns(self) -> list[str]:
        """Return the names of all campaigns on the server."""
        return self._send(lambda answer: list(answer.json()["campaigns"]), "GET", "/campaigns")

    def status(self, name: str) -> Status:
        """Return the balances, counts and alarms of a campaign."""
        return self._result(Status, "GET", path(name))

    def ask(
        self,
        name: str,
        request_id: str | None = None,
        *,
        arms: Arms = None,
        context: Any = None,
    ) -> CampaignTicket:
        """Return a ticket for the next round, and hold the most that its arms may cost.

        request_id   a name for this ask, under which a repeat returns the same ticket
        arms         the arms that may be chosen; or {arm: the most that this call may cost}, which
                     is then held; None: all arms
        context      the values of the features, by name or in order, where there are features

        Raise `BudgetExhausted` when the budget cannot cover the pull; then nothing has changed.
        Raise `ArmsCoolingDown` when calls of all allowed arms failed just now. It is not repeated:
        its `seconds` say how long to wait.
        """
        return self._ask(name, 1, request_id, arms=arms, context=context)[0]

    def ask_many(
        self,
        name: str,
        n: int,
        request_id: str | None = None,
        *,
        arms: Arms = None,
        contexts: Sequence[Any] | None = None,
    ) -> list[CampaignTicket]:
        """Return as many tickets as fit, at least 1 and at most `n`, for one request.

        n            from 1 to 1,000
        request_id   as for `ask`; a repeat returns the same tickets
        arms         as for `ask`, the same for all tickets
        contexts     `n` of what `ask` takes as a context, where there are features
        """
        return self._ask(name, n, request_id, arms=arms, contexts=contexts)

    def _ask(
        self, name: str, n: int, request_id: str | None, **fields: Any
    ) -> list[CampaignTicket]:
        request = uuid.uuid4().hex if request_id is None else request_id
        body = {"n": n, "request_id": request, **given(**fields)}
        return self._send(tickets_of, "POST", path(name, "asks"), body)

    def probabilities(self, name: str, arms: Arms = None, context: Any = None) -> dict[str, float]:
        """Return {arm: the probability of this arm in the next round}.

        arms, context   as for `ask`
        """
        return self._send(
            lambda answer: dict(answer.json()["probabilities"]),
            "POST",
            path(name, "probabilities"),
            given(arms=arms, context=context),
        )

    def tell(self, name: str, ticket: Ticket, reward: Any, cost: Any) -> Receipt:
        """Report the reward and the cost of a ticket, and return a receipt.

        reward   from 0 to 1; with several plays one for each, shape (m,)
        cost     an amount, at least 0; with several plays or resources one for each, shape (m, d)

        Raise `Conflict` when the ticket was told before with another report; the first report
        stands.
        """
        where = path(name, "tickets", number(name, ticket), "tell")
        return self._result(Receipt, "POST", where, {"reward": reward, "cost": cost})

    def tell_many(
        self, name: str, reports: Iterable[tuple[Ticket, Any, Any]]
    ) -> list[Receipt | PurseError]:
        """Report many tickets in one request, and return a receipt or an error for each.

        reports   triples of ticket, reward and cost, as `tell` takes them

        Each report stands alone: the error of one is returned in its place, and the others count.
        """
        body = {
            "reports": [
                {"ticket": number(name, ticket), "reward": reward, "cost": cost}
                for ticket, reward, cost in reports
            ]
        }
        return self._send(receipts_of, "POST", path(name, "tells"), body)

    def settle(self, name: str, ticket: Ticket, cost: Any) -> Receipt:
        """Report the cost of a ticket whose reward is not known yet, and return a receipt."""
        where = path(name, "tickets", number(name, ticket), "settle")
        return self._result(Receipt, "POST", where, {"cost": cost})

    def reward(self, name: str, ticket: Ticket, reward: Any) -> Receipt:
        """Report the reward of a ticket, before or after its cost, and return a receipt."""
        where = path(name, "tickets", number(name, ticket), "reward")
        return self._result(Receipt, "POST", where, {"reward": reward})

    def fail(self, name: str, ticket: Ticket, cost: Any = 0, reason: str = "") -> Receipt:
        """Report that the call of a ticket did not work, and return a receipt."""
        where = path(name, "tickets", number(name, ticket), "fail")
        return self._result(Receipt, "POST", where, {"cost": cost, "reason": reason})

    def void(self, name: str, ticket: Ticket) -> Receipt:
        """Cancel a ticket for which nothing was spent: release its hold and learn nothing."""
        return self._result(Receipt, "POST", path(name, "tickets", number(name, ticket), "void"))

    def top_up(self, name: str, amount: Any, request_id: str | None = None) -> Status:
        """Add to the budget, once for each `request_id`, and return the new status."""
        body = {
            "amount": amount,
            "request_id": uuid.uuid4().hex if request_id is None else request_id,
        }
        return self._result(Status, "POST", path(name, "top-ups"), body)

    def add_arm(self, name: str, arm: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        """Add an arm, or take back a retired one, and return the new status.

        cost_min, cost_max   what a pull costs, for several resources one amount for each; None: the
                             floor and the ceiling of its place

        Raise `InvalidInput` when there is no place, or the costs are outside floor and ceiling.
        """
        body = {"name": arm, **given(cost_min=cost_min, cost_max=cost_max)}
        return self._result(Status, "POST", path(name, "arms"), body)

    def retire_arm(self, name: str, arm: str) -> Status:
        """Choose an arm no more, and return the new status; its open tickets are told as usual."""
        return self._result(Status, "POST", path(name, "arms", "retire"), {"name": arm})

    def set_arm(self, name: str, arm: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        """Change what an arm may cost from the next ask on, and return the new status.

        cost_min, cost_max   as for `add_arm`; None: as before

        Raise `InvalidInput` when the costs are outside the arm's floor and ceiling.
        """
        body = {"name": arm, **given(cost_min=cost_min, cost_max=cost_max)}
        return self._result(Status, "POST", path(name, "arms", "set"), body)

    def pause(self, name: str) -> Status:
        """Issue no tickets until `resume`, but accept reports; return the new status."""
        return self._result(Status, "POST", path(name, "pause"))

    def resume(self, name: str) -> Status:
        """Issue tickets again after `pause`; return the new status."""
        return self._result(Status, "POST", path(name, "resume"))

    def close(self, name: str) -> Status:
        """Issue no tickets from now on, for good, but accept reports; return the new status."""
        return self._result(Status, "POST", path(name, "close"))

    def acknowledge(self, name: str, kind: str, count: int | None = None) -> Status:
        """End the alarm about reports that somebody has looked at, and return the new status.

        kind    "overrun", "conflict", "below-minimum" or "outside-range"
        count   how many such reports were looked at, the first ones; None: all so far
        """
        body = {"kind": kind, **given(count=count)}
        return self._result(Status, "POST", path(name, "acknowledge"), body)

    def expire(self, name: str) -> Status:
        """Expire the tickets past their deadline, as every ask does; return the new status."""
        return self._result(Status, "POST", path(name, "expire"))

    def recommend(
        self,
        name: str,
        by: str = REWARD,
        *,
        cap: Any = None,
        confidence: float = CONFIDENCE,
        within: float = 0.0,
        resource: str | None = None,
    ) -> Recommendation:
        """Return which arm is best, and how sure that is.

        by, cap, confidence, within, resource   as for `Campaign.recommend`

        Raise `InvalidInput` when the policy chooses arms by the context.
        """
        query = given(
            by=by, cap=amount_text(cap), confidence=confidence, within=within, resource=resource
        )
        return self._send(
            lambda answer: result_of(Recommendation, answer.json()),
            "GET",
            path(name, "recommendation"),
            query=query,
        )

    def tickets(
        self, name: str, states: Sequence[str] = OPEN, limit: int = 1000
    ) -> list[CampaignTicket]:
        """Return at most `limit` tickets in these states, the oldest first."""
        query = {"state": list(states), "limit": limit}
        return self._send(tickets_of, "GET", path(name, "tickets"), query=query)

    def journal(self, name: str, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of the journal whose number is above `after`, in order."""
        where = path(name, "journal")
        while entries := self._send(
            entries_of, "GET", where, query={"after": after, "limit": PAGE_SIZE}
        ):
            yield from entries
            after = entries[-1].seq

    def _result(
        self, kind: type[T], method: str, where: str, body: Mapping[str, Any] | None = None
    ) -> T:
        """Return the server's answer as a result of this type."""
        return self._send(lambda answer: result_of(kind, answer.json()), method, where, body)

    def _send(
        self,
        read: Callable[[httpx.Response], T],
        method: str,
        where: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> T:
        """Send a request, repeat it where no answer comes or none that can be read, and return
        what `read` makes of the answer.

        Raise the error that the server answered with.
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
                    try:
                        return read(response)
                    except (KeyError, TypeError, ValueError):
                        trouble = f"an answer that cannot be read: {response.text}"
                else:
                    refused = refusal(response)
                    if response.status_code not in AGAIN or isinstance(refused, ArmsCoolingDown):
                        raise told_as_such(refused) if attempt else refused
                    trouble, wait = str(refused), wait + pause_of(response)
            if attempt < self.retries:
                time.sleep(wait)
        raise StorageUnavailable(
            f"{self.url} does not answer after {self.retries + 1} attempts: {shorten(trouble)}"
        )


def told_as_such(refused: PurseError) -> PurseError:
    """Return the error of a later attempt; a creation that is refused may be our own."""
    if not isinstance(refused, CampaignExists):
        return refused
    return CampaignExists(
        f"{refused}; an earlier attempt of this call, which got no answer, may have created it"
    )


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None: older servers know no others."""
    return {name: value for name, value in fields.items() if value is not None}


def number(name: str, ticket: Ticket) -> int:
    """Return the number of a ticket of this campaign."""
    if isinstance(ticket, CampaignTicket):
        if ticket.campaign != name:
            raise invalid("ticket", ticket, f"must be one of campaign {name!r}")
        return ticket.id
    return ticket


def tickets_of(response: httpx.Response) -> list[CampaignTicket]:
    """Return the tickets of an answer."""
    return [result_of(CampaignTicket, each) for each in response.json()["tickets"]]


def receipts_of(response: httpx.Response) -> list[Receipt | PurseError]:
    """Return the receipts and errors of an answer."""
    return [
        error_of(each["error"]) if "error" in each else result_of(Receipt, each)
        for each in response.json()["receipts"]
    ]


def entries_of(response: httpx.Response) -> list[Entry]:
    """Return the entries of an answer, which has one on each line."""
    return [Entry(**json.loads(line)) for line in response.text.splitlines()]
