"""The rules of a campaign: each method looks at the ledger, decides what the next entry is, and
answers. It writes nothing to a storage itself.

A method raises before it decides on an entry, so that a refusal changes nothing; only a conflict is
both refused and kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from purse.campaign.arm_rules import ArmRules
from purse.campaign.ask_rules import AskRules
from purse.campaign.records import check_budget
from purse.campaign.report_rules import ReportRules
from purse.campaign.states import CLOSED, RUNNING
from purse.errors import CampaignClosed


class Transaction(AskRules, ReportRules, ArmRules):
    """All rules of a campaign."""

    def top_up(self, units: Sequence[int], request: str) -> None:
        """Add to the budget, once for each request."""
        if self.repeated(request, "topped_up", units=list(units)) is None:
            if self.ledger.head.status == CLOSED:
                raise CampaignClosed(f"campaign {self.terms.name!r} is closed")
            check_budget(self.ledger.balances, units)
            self.add("topped_up", {"units": list(units)}, request=request)

    def set_status(self, kind: str, status: str) -> None:
        """Pause, resume or close; nothing happens where that is so already, and closed is for
        good.
        """
        if self.ledger.head.status == status:
            return
        if self.ledger.head.status == CLOSED:
            raise CampaignClosed(f"campaign {self.terms.name!r} is closed")
        self.add(kind, self.resumption() if status == RUNNING else {})

    def set_alerts(self, alerts: Sequence[str]) -> None:
        """Make events by these rules from now on; nothing happens where that is so already."""
        if list(alerts) != list(self.ledger.head.alerts):
            self.add("alerts_set", {"alerts": list(alerts)})
