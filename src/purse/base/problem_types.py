"""Errors as the service and the command line name them. The service answers with a slug, and the
client raises the error that the slug stands for.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from purse import errors
from purse.base.exit_codes import COOLING, HELD, MISTAKE, OVER, PAUSED, UNAVAILABLE
from purse.errors import ArmsCoolingDown, PurseError

PREFIX = "urn:purse:problem:"


class ProblemType(NamedTuple):
    """A kind of problem."""

    slug: str
    status: int  # of HTTP
    title: str
    exit_code: int = MISTAKE  # of the command line


_ROWS: dict[type[PurseError], tuple[Any, ...]] = {
    errors.InvalidInput: (400, "A value cannot be used"),
    errors.NotFound: (404, "There is no such campaign or account"),
    errors.TicketError: (404, "There is no such ticket to report on"),
    errors.Conflict: (409, "The request conflicts with an earlier one"),
    errors.CampaignExists: (409, "There is a campaign or an account of this name"),
    errors.AskRefused: (409, "No further round can be asked for", OVER),
    errors.BudgetExhausted: (409, "The rest of the budget cannot cover the pull", OVER),
    errors.BudgetHeld: (409, "What is held for open tickets leaves too little", HELD),
    errors.LabelExhausted: (409, "The rest of a label's limit cannot cover the pull", OVER),
    errors.LabelHeld: (409, "What is held for a label leaves too little", HELD),
    errors.ArmsCoolingDown: (503, "Calls of all allowed arms failed just now", COOLING),
    errors.HorizonReached: (409, "All rounds have been asked for", OVER),
    errors.CampaignPaused: (409, "The campaign, or an account above it, is paused", PAUSED),
    errors.CampaignEnded: (409, "The campaign, or an account above it, has ended", OVER),
    errors.PolicyFileRefused: (403, "Policy files are not run by this service"),
    errors.StorageUnavailable: (503, "The storage does not answer", UNAVAILABLE),
    errors.NoSuchStorage: (500, "There is no such storage"),
    errors.MissingExtra: (500, "The server lacks a package"),
    PurseError: (500, "The server could not do this"),
}
_OTHER_SLUGS: dict[type[PurseError], str] = {
    errors.AskRefused: "game-over",
    errors.PolicyFileRefused: "policy-file",
    PurseError: "error",
}


def _slug_of(error: type[PurseError]) -> str:
    """Return the words of the error's name: "not-found" of `NotFound`."""
    return _OTHER_SLUGS.get(error) or re.sub(r"(?<=[a-z])(?=[A-Z])", "-", error.__name__).lower()


OF_ERRORS = {error: ProblemType(_slug_of(error), *row) for error, row in _ROWS.items()}
_FIELDS: dict[type[Any], tuple[str, ...]] = {
    ArmsCoolingDown: ("seconds",),
    errors.LabelExhausted: ("key", "value", "left"),
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
    return {**facts(kind_of(error), str(error)), **fields_of(error)}


def fields_of(error: PurseError) -> dict[str, Any]:
    """Return the fields of an error, as JSON has them beside its text."""
    return {name: getattr(error, name) for name in _fields(type(error))}


def error_of(kind: type[PurseError], problem: Mapping[str, Any]) -> PurseError:
    """Return an error of a kind from JSON. An older server may not say all of its fields."""
    fields = {name: problem[name] for name in _fields(kind) if name in problem}
    return kind(str(problem["detail"]), **fields)


def _fields(kind: type[PurseError]) -> tuple[str, ...]:
    """Return the fields of a kind of errors besides its text."""
    return next((_FIELDS[parent] for parent in kind.__mro__ if parent in _FIELDS), ())
