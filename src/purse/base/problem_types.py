"""Errors as the service and the command line name them. The service answers with a slug, and the
client raises the error that the slug stands for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from purse import errors
from purse.base import exit_codes
from purse.errors import ArmsCoolingDown, PurseError

PREFIX = "urn:purse:problem:"


class ProblemType(NamedTuple):
    """A kind of problem."""

    slug: str
    status: int  # of HTTP
    title: str
    exit_code: int = exit_codes.MISTAKE  # of the command line


OF_ERRORS: dict[type[PurseError], ProblemType] = {
    errors.InvalidInput: ProblemType("invalid-input", 400, "A value cannot be used"),
    errors.NotFound: ProblemType("not-found", 404, "There is no such campaign or account"),
    errors.TicketError: ProblemType("ticket-error", 404, "There is no such ticket to report on"),
    errors.Conflict: ProblemType("conflict", 409, "The request conflicts with an earlier one"),
    errors.CampaignExists: ProblemType(
        "campaign-exists", 409, "There is a campaign or an account of this name"
    ),
    errors.AskRefused: ProblemType(
        "game-over", 409, "No further round can be asked for", exit_codes.OVER
    ),
    errors.BudgetExhausted: ProblemType(
        "budget-exhausted", 409, "The rest of the budget cannot cover the pull", exit_codes.OVER
    ),
    errors.BudgetHeld: ProblemType(
        "budget-held", 409, "What is held for open tickets leaves too little", exit_codes.HELD
    ),
    errors.ArmsCoolingDown: ProblemType(
        "arms-cooling-down", 503, "Calls of all allowed arms failed just now", exit_codes.COOLING
    ),
    errors.HorizonReached: ProblemType(
        "horizon-reached", 409, "All rounds have been asked for", exit_codes.OVER
    ),
    errors.CampaignPaused: ProblemType(
        "campaign-paused", 409, "The campaign, or an account above it, is paused", exit_codes.PAUSED
    ),
    errors.CampaignEnded: ProblemType(
        "campaign-ended", 409, "The campaign, or an account above it, has ended", exit_codes.OVER
    ),
    errors.PolicyFileRefused: ProblemType(
        "policy-file", 403, "Policy files are not run by this service"
    ),
    errors.StorageUnavailable: ProblemType(
        "storage-unavailable", 503, "The storage does not answer", exit_codes.UNAVAILABLE
    ),
    errors.NoSuchStorage: ProblemType("no-such-storage", 500, "There is no such storage"),
    errors.MissingExtra: ProblemType("missing-extra", 500, "The server lacks a package"),
    PurseError: ProblemType("error", 500, "The server could not do this"),
}
OF_SLUGS = {kind.slug: error for error, kind in OF_ERRORS.items()}


def kind_of(error: PurseError) -> ProblemType:
    """Return the kind of an error, or of its nearest parent that has one."""
    return next(OF_ERRORS[parent] for parent in type(error).__mro__ if parent in OF_ERRORS)


def facts(kind: ProblemType, detail: str) -> dict[str, Any]:
    """Return a problem as JSON has it."""
    return {
        "type": PREFIX + kind.slug,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
    }


def of_error(error: PurseError) -> dict[str, Any]:
    """Return the problem that an error stands for."""
    return {**facts(kind_of(error), str(error)), **numbers_of(error)}


def numbers_of(error: PurseError) -> dict[str, float]:
    """Return the numbers of an error, as JSON has them beside its text."""
    return {"seconds": error.seconds} if isinstance(error, ArmsCoolingDown) else {}
