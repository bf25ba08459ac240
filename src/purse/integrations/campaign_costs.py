"""What an integration has to know of a campaign: that it can pay calls, and the most of each."""

from __future__ import annotations

import inspect
from decimal import Decimal
from typing import Any

from purse.base import amounts
from purse.campaign.arms import Arms
from purse.errors import invalid


def check_campaign(field: str, campaign: Any) -> None:
    """Raise `InvalidInput` where a campaign cannot pay single calls in dollars."""
    if inspect.iscoroutinefunction(getattr(campaign, "ask", None)):
        raise invalid(field, campaign, "must be a purse.Campaign; its verbs run in threads here")
    status = campaign.status()
    if len(status.purses) != 1 or status.plays != 1:
        raise invalid(
            field, campaign, "must have one resource, dollars, and one play in each round"
        )


def largest_costs(campaign: Any) -> dict[str, Decimal] | None:
    """Return {arm: the most that a call may cost} of a campaign, as it is now.

    None where only a server knows it: it refuses a call that may cost more.
    """
    if not hasattr(campaign, "terms"):
        return None
    arms = Arms(campaign.terms, campaign.storage.overview(campaign.name).head.arms)
    return {
        name: Decimal(amounts.text(most[0]))
        for name, most, retired in zip(arms.names, arms.cost_max, arms.is_retired, strict=True)
        if not retired
    }
