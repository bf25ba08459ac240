"""The verbs that choose arms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from purse.campaign.results import CampaignTicket


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
        Raise `HorizonReached`, `CampaignPaused` or `CampaignClosed` when no round can be asked for.
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
