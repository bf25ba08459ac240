"""The verbs of those who make calls: what a ticket cost, what it brought, and that its call did not
work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from purse.campaign.results import CampaignTicket, Receipt
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
