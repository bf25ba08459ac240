"""The verbs of those who run a campaign: budget, status, deadlines, arms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from purse.campaign.results import Status


class OperatorVerbs(ABC):
    """Changes of a campaign."""

    @abstractmethod
    def top_up(self, amount: Any, request_id: str | None = None) -> Status:
        """Add to the budget, once for each `request_id`, and return the new status.

        amount   a positive amount; for several resources one for each

        Raise `CampaignClosed` when the campaign is closed.
        Raise `Conflict` when `request_id` was used before for another request.
        """

    @abstractmethod
    def pause(self) -> Status:
        """Issue no tickets until `resume`, but accept reports; return the new status."""

    @abstractmethod
    def resume(self) -> Status:
        """Issue tickets again after `pause`; return the new status."""

    @abstractmethod
    def close(self) -> Status:
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
