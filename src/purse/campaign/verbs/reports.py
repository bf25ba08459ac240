"""The verbs of those who make calls: what a ticket cost, what it brought, and that its call did not
work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from purse.campaign.results import CampaignTicket, Receipt, Status
from purse.errors import PurseError


class ReportVerbs(ABC):
    """Reports on tickets."""

    @abstractmethod
    def tell(self, ticket: CampaignTicket | int, reward: Any, cost: Any) -> Receipt:
        """Report the reward and the cost of a ticket, and return a receipt.

        reward   from 0 to 1, or in the campaign's range
        cost     an amount, at least 0; for several resources a list, or {resource: amount}

        A repeat of the same report has no second effect. A cost above the hold is accepted: it is
        spent up to the hold, and the rest counts as overrun.

        Raise `Conflict` when the ticket was told before with another report; the first report
        stands.
        Raise `TicketError` when the campaign did not issue the ticket, or its round passed without
        a pull.
        """

    @abstractmethod
    def tell_many(
        self, reports: Iterable[tuple[CampaignTicket | int, Any, Any]]
    ) -> list[Receipt | PurseError]:
        """Report many tickets in one transaction, and return a receipt or an error for each.

        reports   triples of ticket, reward and cost, as `tell` takes them

        Each report stands alone: the error of one is returned in its place, and the others count.
        """

    @abstractmethod
    def settle(self, ticket: CampaignTicket | int, cost: Any) -> Receipt:
        """Report the cost of a ticket whose reward is not known yet, and return a receipt.

        cost   as for `tell`

        The money is spent and the rest of the hold released at once; the ticket waits for `reward`,
        and the policy learns when both are known. A repeat has no second effect.

        Raise `Conflict` when another cost was reported before; the first report stands.
        Raise `TicketError` as `tell` does.
        """

    @abstractmethod
    def reward(self, ticket: CampaignTicket | int, reward: Any) -> Receipt:
        """Report the reward of a ticket, before or after its cost, and return a receipt.

        reward   as for `tell`

        The policy learns when the cost is known, too, with the probability that the ticket was
        drawn with. It learns nothing from a ticket that was voided or failed. A repeat
        has no second effect.

        Raise `Conflict` when another reward was reported before; the first report stands.
        Raise `TicketError` as `tell` does.
        """

    @abstractmethod
    def fail(self, ticket: CampaignTicket | int, cost: Any = 0, reason: str = "") -> Receipt:
        """Report that the call of a ticket did not work, and return a receipt.

        cost     what it cost all the same, as for `tell`; 0: nothing
        reason   for people; the journal keeps the first 200 printable characters

        The cost is spent, the rest of the hold released, and nothing is learnt. An arm owes an
        initial pull that failed again, in a new round. A repeat has no second effect.

        Raise `Conflict` when the ticket was told, settled or voided, or failed with another cost,
        before.
        Raise `TicketError` as `tell` does.
        """

    @abstractmethod
    def void(self, ticket: CampaignTicket | int) -> Receipt:
        """Cancel a ticket for which nothing was spent: release its hold and learn nothing.

        An arm owes an initial pull that was cancelled again, in a new round. A repeat has no
        second effect.

        Raise `Conflict` when the ticket was told, settled or failed before.
        Raise `TicketError` when the campaign did not issue the ticket, or its round passed without
        a pull.
        """


class AskVerbs(ABC):
    """Asks for tickets."""

    @abstractmethod
    def ask(
        self,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        context: Any = None,
        labels: Mapping[str, str] | None = None,
    ) -> CampaignTicket:
        """Return a ticket for the next round, and hold the most that its arm may cost.

        request_id   1 to 200 printable characters that name this ask; a repeat returns the same
                     ticket and holds nothing more
        arms         the arms that may be chosen; or {arm: the most that this call may cost}, at
                     most the arm's own maximum, which is then held; None: all arms
        context      the values of the features, by name or in order, where there are features
        labels       what this call is for, such as {"tenant": "acme"}: `labels()` sums what was
                     spent for each value. A campaign has at most 8 keys; a key has at most 1,000
                     values, and what comes beyond is summed as "other". They stay in the journal

        Raise `InvalidInput` when the context does not fit the features.
        Raise `BudgetExhausted` when the budget cannot cover the pull; then nothing has changed.
        Raise `BudgetHeld`, a subclass, when the pull may fit once open tickets are told or voided.
        Raise `ArmsCoolingDown` when calls of all allowed arms failed just now.
        Raise `HorizonReached`, `CampaignPaused` or `CampaignEnded` when no round can be asked for.
        Raise `Conflict` when `request_id` was used before for another request, context or labels,
        or when its ticket is void or failed by now.
        """

    @abstractmethod
    def ask_many(
        self,
        n: int,
        request_id: str | None = None,
        *,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        contexts: Sequence[Any] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> list[CampaignTicket]:
        """Return as many tickets as fit, at least 1 and at most `n`, for one request.

        n            from 1 to 1,000
        request_id   as for `ask`; a repeat returns the same tickets
        arms         as for `ask`, the same for all tickets
        contexts     `n` of what `ask` takes as a context, where there are features; the tickets are
                     for the first of them, in order
        labels       as for `ask`, the same for all tickets

        Raise what `ask` raises when not even one ticket fits.
        """

    @abstractmethod
    def probabilities(
        self,
        arms: Sequence[str] | Mapping[str, Any] | None = None,
        context: Any = None,
    ) -> dict[str, float]:
        """Return {arm: the probability of this arm in the next round}.

        arms, context   as for `ask`
        """


class OperatorVerbs(ABC):
    """Changes of a campaign."""

    @abstractmethod
    def top_up(self, amount: Any, request_id: str | None = None) -> Status:
        """Add to the budget, once for each `request_id`, and return the new status.

        amount   a positive amount; for several resources one for each

        Raise `CampaignEnded` when the campaign has ended.
        Raise `Conflict` when `request_id` was used before for another request.
        """

    @abstractmethod
    def pause(self) -> Status:
        """Issue no tickets until `resume`, but accept reports; return the new status."""

    @abstractmethod
    def resume(self) -> Status:
        """Issue tickets again after `pause`; return the new status."""

    @abstractmethod
    def end(self) -> Status:
        """Issue no tickets from now on, for good, but accept reports; return the new status."""

    @abstractmethod
    def set_alerts(self, alerts: Sequence[str]) -> Status:
        """Make events by these rules from now on, and return the new status.

        alerts   as for `create`; an empty list ends all alerts
        """

    @abstractmethod
    def expire(self) -> int:
        """Expire the tickets past their deadline, as every ask does, and return their number.

        Their money is presumed spent.
        Tickets that have waited `reward_within` for their reward wait no longer.
        """

    @abstractmethod
    def add_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        """Add an arm, or take back a retired one with all that was learnt of it.

        cost_min, cost_max   what a pull costs, for several resources one amount for each; None: of
                             a new arm the widest that `create` allows, of a retired one as before

        The campaign needs a free place: see `capacity` of `create`. A new arm owes its initial
        pull where the policy begins so. Return the new status.

        Raise `InvalidInput` when there is no place, or the costs are outside what `create` allows:
        from `cost_min` to `cost_ceiling`.
        """

    @abstractmethod
    def retire_arm(self, name: str) -> Status:
        """Choose an arm no more, and return the new status; its open tickets are told as usual."""

    @abstractmethod
    def set_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        """Change what an arm may cost from the next ask on, and return the new status.

        cost_min, cost_max   as for `add_arm`; None: as before

        Raise `InvalidInput` when the costs are outside what `create` allows: from the arm's first
        `cost_min` to its `cost_ceiling`.
        """
