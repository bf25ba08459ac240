"""Changes of a campaign, committed to its storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from purse.campaign import operations
from purse.campaign.alert_rules import read_alerts
from purse.campaign.by_name import names
from purse.campaign.local.base import BaseCampaign
from purse.campaign.results import Status
from purse.campaign.states import CLOSED, PAUSED, RUNNING
from purse.campaign.storage.base import MOST_DUE
from purse.campaign.verbs.operators import OperatorVerbs
from purse.errors import invalid


class LocalOperators(BaseCampaign, OperatorVerbs):
    """Changes of a campaign."""

    def top_up(self, amount: Any, request_id: str | None = None) -> Status:
        units, request = self.terms.amounts("amount", amount), self._request(request_id)
        if min(units) < 0 or max(units) == 0:
            raise invalid("amount", amount, "must be positive")
        self._committer.do(operations.top_up(units, request))
        return self.status()

    def pause(self) -> Status:
        return self._set_status("paused", PAUSED)

    def resume(self) -> Status:
        return self._set_status("resumed", RUNNING)

    def close(self) -> Status:
        return self._set_status("closed", CLOSED)

    def _set_status(self, kind: str, status: str) -> Status:
        self._committer.do(operations.set_status(kind, status))
        return self.status()

    def set_alerts(self, alerts: Sequence[str]) -> Status:
        self._committer.do(operations.set_alerts(read_alerts(alerts)))
        return self.status()

    def expire(self) -> int:
        count, total = MOST_DUE, 0
        while count == MOST_DUE:
            count = self._committer.do(operations.expire())
            total += count
        return total

    def add_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        (name,) = names("name", [name])
        low, high = self._bounds(cost_min, cost_max)
        self._committer.do(operations.add_arm(name, low, high))
        return self.status()

    def retire_arm(self, name: str) -> Status:
        self._committer.do(operations.retire_arm(name))
        return self.status()

    def set_arm(self, name: str, *, cost_min: Any = None, cost_max: Any = None) -> Status:
        low, high = self._bounds(cost_min, cost_max)
        self._committer.do(operations.set_arm(name, low, high))
        return self.status()

    def _bounds(self, *given: Any) -> tuple[Sequence[int] | None, Sequence[int] | None]:
        """Return an arm's least and most costs in units; None where they are not given."""
        low, high = (
            None if value is None else self.terms.amounts(field, value)
            for field, value in zip(("cost_min", "cost_max"), given, strict=True)
        )
        return low, high
