"""`purse.Client`: the campaigns of a server by their names. `purse.Campaign.open` with the address
of the server has one of them, with the same verbs.

Every request can be sent twice without a second effect, so the client repeats a request that got no
answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from purse.base.recommendation import CONFIDENCE, REWARD, Recommendation
from purse.campaign.addresses import REMOTE, REMOTE_ACCOUNT
from purse.campaign.entry import Entry
from purse.campaign.results import CampaignTicket, LabelStatus, Receipt, Status
from purse.campaign.states import OPEN
from purse.client.connection import RETRIES, TIMEOUT, Connection
from purse.client.verbs import asks, operators, records, reports
from purse.client.verbs.common import Arms, Labels, Ticket
from purse.client.verbs.reports import tell_many
from purse.errors import PurseError

if TYPE_CHECKING:
    import httpx


class Client:
    """A connection to `purse serve`, which several threads may share.

    url       the address of the server, such as http://127.0.0.1:8000
    token     the token that `purse token new` printed; None: the environment variable PURSE_TOKEN,
              or no token where there is none
    timeout   seconds to wait for an answer
    retries   how often a request without an answer is repeated
    transport   a transport of httpx, in place of connections to the address

    Every method raises the error that `Campaign` would raise. It raises `StorageUnavailable` when
    no answer came after all repeats.
    """

    campaign_class = REMOTE  # of `Campaign.open(name, storage=client)`
    account_class = REMOTE_ACCOUNT  # and of `Account.open`

    def __init__(
        self,
        url: str,
        token: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        *,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.connection = Connection(url, token, timeout, retries, transport)
        self.url, self.retries = self.connection.url, retries

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Close all connections to the server."""
        self.connection.close()

    def create(self, name: str, **terms: Any) -> Status:
        """Create a campaign on the server and return its status.

        terms   the arguments of `Campaign.create` except for `storage`

        Raise `CampaignExists` when the server has a campaign of this name.
        """
        exist_ok = terms.pop("exist_ok", False)
        return self.connection.do(operators.create(name, terms, exist_ok))

    def campaigns(self) -> list[str]:
        """Return the names of all campaigns on the server."""
        return self.connection.do(records.names())

    def status(self, name: str) -> Status:
        """Return the balances, counts and alarms of a campaign."""
        return self.connection.do(records.status(name))

    def ask(
        self,
        name: str,
        request_id: str | None = None,
        *,
        arms: Arms = None,
        context: Any = None,
        labels: Labels = None,
    ) -> CampaignTicket:
        """Return a ticket for the next round, and hold the most that its arms may cost.

        request_id   a name for this ask, under which a repeat returns the same ticket
        arms         the arms that may be chosen; or {arm: the most that this call may cost}, which
                     is then held; None: all arms
        context      the values of the features, by name or in order, where there are features
        labels       what this call is for, such as {"tenant": "acme"}, summed by `labels`

        Raise `BudgetExhausted` when the budget cannot cover the pull; then nothing has changed.
        Raise `ArmsCoolingDown` when calls of all allowed arms failed just now. It is not repeated:
        its `seconds` say how long to wait.
        """
        return self.connection.do(
            asks.ask(name, request_id, arms=arms, context=context, labels=labels)
        )

    def ask_many(
        self,
        name: str,
        n: int,
        request_id: str | None = None,
        *,
        arms: Arms = None,
        contexts: Sequence[Any] | None = None,
        labels: Labels = None,
    ) -> list[CampaignTicket]:
        """Return as many tickets as fit, at least 1 and at most `n`, for one request.

        n            from 1 to 1,000
        request_id   as for `ask`; a repeat returns the same tickets
        arms         as for `ask`, the same for all tickets
        contexts     `n` of what `ask` takes as a context, where there are features
        labels       as for `ask`, the same for all tickets
        """
        return self.connection.do(
            asks.ask_many(name, n, request_id, arms=arms, contexts=contexts, labels=labels)
        )

    def probabilities(self, name: str, arms: Arms = None, context: Any = None) -> dict[str, float]:
        """Return {arm: the probability of this arm in the next round}.

        arms, context   as for `ask`
        """
        return self.connection.do(asks.probabilities(name, arms, context))

    def tell(self, name: str, ticket: Ticket, reward: Any, cost: Any) -> Receipt:
        """Report the reward and the cost of a ticket, and return a receipt.

        reward   from 0 to 1; with several plays one for each, shape (m,)
        cost     an amount, at least 0; with several plays or resources one for each, shape (m, d)

        Raise `Conflict` when the ticket was told before with another report; the first report
        stands.
        """
        return self.connection.do(reports.tell(name, ticket, reward, cost))

    def tell_many(
        self, name: str, reports: Iterable[tuple[Ticket, Any, Any]]
    ) -> list[Receipt | PurseError]:
        """Report many tickets in one request, and return a receipt or an error for each.

        reports   triples of ticket, reward and cost, as `tell` takes them

        Each report stands alone: the error of one is returned in its place, and the others count.
        """
        return self.connection.do(tell_many(name, reports))

    def settle(self, name: str, ticket: Ticket, cost: Any) -> Receipt:
        """Report the cost of a ticket whose reward is not known yet, and return a receipt."""
        return self.connection.do(reports.settle(name, ticket, cost))

    def reward(self, name: str, ticket: Ticket, reward: Any) -> Receipt:
        """Report the reward of a ticket, before or after its cost, and return a receipt."""
        return self.connection.do(reports.reward(name, ticket, reward))

    def fail(self, name: str, ticket: Ticket, cost: Any = 0, reason: str = "") -> Receipt:
        """Report that the call of a ticket did not work, and return a receipt."""
        return self.connection.do(reports.fail(name, ticket, cost, reason))

    def void(self, name: str, ticket: Ticket) -> Receipt:
        """Cancel a ticket for which nothing was spent: release its hold and learn nothing."""
        return self.connection.do(reports.void(name, ticket))

    def top_up(self, name: str, amount: Any, request_id: str | None = None) -> Status:
        """Add to the budget, once for each `request_id`, and return the new status."""
        return self.connection.do(operators.top_up(name, amount, request_id))

    def add_arm(self, name: str, arm: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        """Add an arm, or take back a retired one, and return the new status.

        cost_min, cost_max   what a pull costs, for several resources one amount for each; None: the
                             floor and the ceiling of its place

        Raise `InvalidInput` when there is no place, or the costs are outside floor and ceiling.
        """
        change = operators.add_arm(name, arm, cost_min=cost_min, cost_max=cost_max)
        return self.connection.do(change)

    def retire_arm(self, name: str, arm: str) -> Status:
        """Choose an arm no more, and return the new status; its open tickets are told as usual."""
        return self.connection.do(operators.retire_arm(name, arm))

    def set_arm(self, name: str, arm: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        """Change what an arm may cost from the next ask on, and return the new status.

        cost_min, cost_max   as for `add_arm`; None: as before

        Raise `InvalidInput` when the costs are outside the arm's floor and ceiling.
        """
        change = operators.set_arm(name, arm, cost_min=cost_min, cost_max=cost_max)
        return self.connection.do(change)

    def pause(self, name: str) -> Status:
        """Issue no tickets until `resume`, but accept reports; return the new status."""
        return self.connection.do(operators.pause(name))

    def resume(self, name: str) -> Status:
        """Issue tickets again after `pause`; return the new status."""
        return self.connection.do(operators.resume(name))

    def close(self, name: str) -> Status:
        """Issue no tickets from now on, for good, but accept reports; return the new status."""
        return self.connection.do(operators.close(name))

    def acknowledge(self, name: str, kind: str, count: int | None = None) -> Status:
        """End the alarm about reports that somebody has looked at, and return the new status.

        kind    "overrun", "conflict", "below-minimum", "outside-range" or "other-labels"
        count   how many such reports were looked at, the first ones; None: all so far
        """
        return self.connection.do(operators.acknowledge(name, kind, count))

    def expire(self, name: str) -> Status:
        """Expire the tickets past their deadline, as every ask does; return the new status."""
        return self.connection.do(operators.expire_and_look(name))

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
        question = {"cap": cap, "confidence": confidence, "within": within, "resource": resource}
        return self.connection.do(records.recommend(name, by, **question))

    def tickets(
        self, name: str, states: Sequence[str] = OPEN, limit: int = 1000
    ) -> list[CampaignTicket]:
        """Return at most `limit` tickets in these states, the oldest first."""
        return self.connection.do(records.tickets(name, states, limit))

    def labels(self, name: str) -> list[LabelStatus]:
        """Return what was spent for each label of asks, in the order of keys and values."""
        return self.connection.do(records.labels(name))

    def journal(self, name: str, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of the journal whose number is above `after`, in order."""
        while entries := self.connection.do(records.journal_page(name, after)):
            yield from entries
            after = entries[-1].seq
