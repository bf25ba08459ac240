"""Errors as the service names them. The service answers with a slug, and the client raises the
error that the slug stands for. A slug stays when its error gets another name.
"""

from __future__ import annotations

from typing import NamedTuple

from purse import errors
from purse.errors import PurseError

PREFIX = "urn:purse:problem:"


class ProblemType(NamedTuple):
    """A kind of problem."""

    slug: str
    status: int
    title: str


OF_ERRORS: dict[type[PurseError], ProblemType] = {
    errors.InvalidInput: ProblemType("invalid-input", 400, "A value cannot be used"),
    errors.NoSuchCampaign: ProblemType("no-such-campaign", 404, "There is no such campaign"),
    errors.TicketError: ProblemType("ticket-error", 404, "There is no such ticket to report on"),
    errors.Conflict: ProblemType("conflict", 409, "The request conflicts with an earlier one"),
    errors.CampaignExists: ProblemType("campaign-exists", 409, "There is a campaign of this name"),
    errors.AskRefused: ProblemType("game-over", 409, "No further round can be asked for"),
    errors.BudgetExhausted: ProblemType(
        "budget-exhausted", 409, "The rest of the budget cannot cover the pull"
    ),
    errors.BudgetHeld: ProblemType(
        "budget-held", 409, "What is held for open tickets leaves too little"
    ),
    errors.ArmsCoolingDown: ProblemType(
        "arms-cooling-down", 503, "Calls of all allowed arms failed just now"
    ),
    errors.HorizonReached: ProblemType("horizon-reached", 409, "All rounds have been asked for"),
    errors.CampaignPaused: ProblemType("campaign-paused", 409, "The campaign is paused"),
    errors.CampaignClosed: ProblemType("campaign-closed", 409, "The campaign is closed"),
    errors.StorageUnavailable: ProblemType(
        "storage-unavailable", 503, "The storage does not answer"
    ),
    errors.MissingExtra: ProblemType("missing-extra", 500, "The server lacks a package"),
    PurseError: ProblemType("error", 500, "The server could not do this"),
}
OF_SLUGS = {kind.slug: error for error, kind in OF_ERRORS.items()}
