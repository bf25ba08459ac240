"""Every error that purse raises on purpose is a `PurseError`, and its message says what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class PurseError(Exception):
    """The parent of all errors of this package."""


class InvalidInput(PurseError, ValueError):
    """A value that cannot be used. The message names the field, the value and what is allowed."""


class AskRefused(PurseError):
    """No further round can be asked for."""


class BudgetExhausted(AskRefused):
    """The rest of the budget cannot cover the pull."""


class BudgetHeld(BudgetExhausted):
    """The pull would fit, were nothing held for tickets that are out: it may fit once they are told
    or voided.
    """


class HorizonReached(AskRefused):
    """All rounds of the horizon have been asked for."""


class CampaignPaused(AskRefused):
    """The campaign takes reports and gives out no tickets until it is resumed."""


class CampaignClosed(AskRefused):
    """The campaign takes reports and gives out no more tickets."""


class TicketError(PurseError):
    """A report for a ticket that was never issued, or that is finished already."""


class Conflict(PurseError):
    """Something else has been said before under the same ticket or request; what was said first
    stands.
    """


class NoSuchCampaign(PurseError):
    """There is no campaign of this name."""


class CampaignExists(PurseError):
    """There is a campaign of this name already."""


class StorageUnavailable(PurseError):
    """The storage does not answer. What was asked for may be asked for again: repeats have no
    second effect.
    """


class MissingExtra(PurseError):
    """A package that is needed for this is not installed. The message says how to get it."""


def invalid(field: str, value: object, allowed: str) -> InvalidInput:
    """The error for a bad value, on one line: `budget=-1: must be positive`."""
    shown = shorten(" ".join(repr(value).split()))
    return InvalidInput(f"{field}={shown}: {allowed}")


def shorten(text: str, most: int = 120) -> str:
    """The text, or its beginning where it is long."""
    return text if len(text) <= most else text[: most - 4] + " ..."


def unknown(kind: str, name: str, known: Iterable[str]) -> InvalidInput:
    """The error for a name that does not exist, with the nearest one that does."""
    names = sorted(known)
    near = get_close_matches(name, names, 1, 0.4)
    hint = f"did you mean {near[0]!r}?" if near else "known: " + ", ".join(names)
    return InvalidInput(
        f"unknown {kind} {name!r}; {hint}" if names else f"unknown {kind} {name!r}; there are none"
    )
