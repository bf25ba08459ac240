"""A campaign as an integration needs it: one that can pay calls, its costs, the arm of a ticket,
and when to ask again.
"""

import time
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from purse.base import amounts
from purse.campaign.api.results import CampaignTicket
from purse.campaign.campaign import Campaign
from purse.campaign.terms.arms import Arms
from purse.errors import ArmsCoolingDown, AskRefused, BudgetHeld, PurseError, invalid

ANY: Final = "any"  # the arm of a campaign that only caps: it pays every model
_STEP, _LONGEST_STEP = 0.02, 0.25  # seconds between two asks while money is held


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


def pause_before_next_ask(error: PurseError, begun: float, wait: float) -> float | None:
    """Return after how many seconds to ask again, as a refusal may be over then; None: no more.

    begun   when the first ask was made, by the monotonic clock
    wait    seconds to wait in all
    """
    if not isinstance(error, (ArmsCoolingDown, BudgetHeld)):
        return None
    waited = time.monotonic() - begun
    pause = max(_STEP, min(waited, _LONGEST_STEP), getattr(error, "seconds", 0.0))
    return pause if waited + pause <= wait else None
