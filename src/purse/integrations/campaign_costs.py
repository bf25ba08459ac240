"""A campaign as an integration needs it: one that can pay calls, its costs, the arm of a ticket."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any

from purse.base import amounts
from purse.campaign.api.results import CampaignTicket
from purse.campaign.campaign import Campaign
from purse.campaign.terms.arms import Arms
from purse.errors import AskRefused, invalid


def check_campaign(field: str, campaign: Any) -> None:
    """Raise `InvalidInput` if a campaign cannot pay single calls in dollars."""
    if not isinstance(campaign, Campaign):
        raise invalid(field, campaign, "must be a purse.Campaign; its verbs run in threads here")
    if len(campaign.status().purses) != 1:
        raise invalid(field, campaign, "must have one resource, dollars")


def largest_costs(campaign: Campaign) -> dict[str, Decimal]:
    """Return {arm: the most that a call may cost} of a campaign.

    As it is now; on a server, as it was created, and the server refuses what is not so any more.
    """
    if not hasattr(campaign, "terms"):
        return _created_with(campaign)
    arms = Arms(campaign.terms, campaign.storage.overview(campaign.name).head.arms)
    return {
        name: Decimal(amounts.text(maximum[0]))
        for name, maximum, retired in zip(arms.names, arms.cost_max, arms.is_retired, strict=True)
        if not retired
    }


@lru_cache(maxsize=64)
def _created_with(campaign: Campaign) -> dict[str, Decimal]:
    """Return the maxima in the first entry of the journal, which never changes."""
    first = next(iter(campaign.journal())).body
    maxima = (Decimal(amounts.text(units[0])) for units in first["cost_max"])
    return dict(zip(first["arms"], maxima, strict=True))


def chosen_arm(ticket: CampaignTicket) -> str:
    """Return the arm of a ticket; raise `AskRefused` if its round passes."""
    if ticket.skipped:
        raise AskRefused(
            "the request passes, as money is worth more in others; a campaign with skip=False "
            "answers every request that it can pay"
        )
    return ticket.arm
