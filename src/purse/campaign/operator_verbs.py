"""The verbs of those who run a campaign: budget, status, deadlines, arms."""

from __future__ import annotations

from typing import Any

from purse.base import validation
from purse.campaign import operations
from purse.campaign.base_campaign import BaseCampaign
from purse.campaign.by_name import names
from purse.campaign.records import ACKNOWLEDGED
from purse.campaign.results import Status
from purse.campaign.states import CLOSED, PAUSED, RUNNING
from purse.campaign.storage.base import MOST_DUE
from purse.errors import invalid


class OperatorVerbs(BaseCampaign):
    """Changes of a campaign."""

    def top_up(self, amount: Any, request_id: str | None = None) -> Status:
        """Add to the budget, once for each `request_id`, and return the new status.

        amount   a positive amount; for several resources one for each

        Raise `CampaignClosed` when the campaign is closed.
        Raise `Conflict` when `request_id` was used before for another request.
        """
        units, request = self.terms.amounts("amount", amount), self._request(request_id)
        if min(units) < 0 or max(units) == 0:
            raise invalid("amount", amount, "must be positive")
        self._committer.do(operations.top_up(units, request))
        return self.status()

    def pause(self) -> Status:
        """Issue no tickets until `resume`, but accept reports; return the new status."""
        return self._set_status("paused", PAUSED)

    def resume(self) -> Status:
        """Issue tickets again after `pause`; return the new status."""
        return self._set_status("resumed", RUNNING)

    def close(self) -> Status:
        """Issue no tickets from now on, for good, but accept reports; return the new status."""
        return self._set_status("closed", CLOSED)

    def _set_status(self, kind: str, status: str) -> Status:
        self._committer.do(operations.set_status(kind, status))
        return self.status()

    def acknowledge(self, kind: str, count: int | None = None) -> Status:
        """End the alarm about reports that somebody has looked at, and return the new status.

        kind    "overrun", "conflict", "below-minimum" or "outside-range": other alarms end when
                their cause does
        count   how many such reports were looked at, the first ones; None: all so far

        The reports stay counted, and the next one raises the alarm again.

        Raise `InvalidInput` when there are fewer than `count` such reports.
        """
        kind = validation.choice("kind", kind, tuple(ACKNOWLEDGED))
        if count is not None:
            count = validation.integer("count", count, low=1, high=2**62)
        self._committer.do(operations.acknowledge(kind, count))
        return self.status()

    def expire(self) -> int:
        """Expire the tickets past their deadline, as every ask does, and return their number.

        Their money is presumed spent, or released where the terms say `on_expiry="release"`.
        Tickets that have waited `reward_within` for their reward wait no longer.
        """
        count, total = MOST_DUE, 0
        while count == MOST_DUE:
            count = self._committer.do(operations.expire())
            total += count
        return total

    def add_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        """Add an arm, or take back a retired one with all that was learnt of it.

        cost_min, cost_max   what a pull costs, for several resources one amount for each; None: the
                             floor and the ceiling of its place

        The campaign needs a free place: see `capacity` of `create`. A new arm owes its initial
        pull where the policy begins so. Return the new status.

        Raise `InvalidInput` when there is no place, or the costs are outside floor and ceiling.
        """
        (name,) = names("name", [name])
        return self._change_arm("add_arm", name, cost_min, cost_max)

    def retire_arm(self, name: str) -> Status:
        """Choose an arm no more, and return the new status; its open tickets are told as usual."""
        self._committer.do(operations.change_arm("retire_arm", name))
        return self.status()

    def set_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        """Change what an arm may cost from the next ask on, and return the new status.

        cost_min, cost_max   as for `add_arm`; None: as before

        Raise `InvalidInput` when the costs are outside the arm's floor and ceiling.
        """
        return self._change_arm("set_arm", name, cost_min, cost_max)

    def _change_arm(self, verb: str, name: str, cost_min: Any, cost_max: Any) -> Status:
        low, high = (
            None if value is None else self.terms.amounts(field, value)
            for field, value in (("cost_min", cost_min), ("cost_max", cost_max))
        )
        self._committer.do(operations.change_arm(verb, name, low, high))
        return self.status()
