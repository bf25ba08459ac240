"""What goes to the service and comes from it, as JSON has it and as `purse.Campaign` has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from purse import errors
from purse.campaign.results import Alarm, BalanceStatus, CampaignTicket, Receipt, Status
from purse.errors import InvalidInput, PurseError


def encoded(body: Mapping[str, Any]) -> bytes:
    """A body as JSON; decimals as their text."""
    try:
        return json.dumps(body, allow_nan=False, default=plain).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"this cannot be sent as JSON: {error}") from None


def plain(value: Any) -> Any:
    """What JSON does not know, in words that it does."""
    return (
        format(value, "f")
        if isinstance(value, Decimal)
        else value.tolist()
        if hasattr(value, "tolist")
        else list(value)
    )


def error_of(problem: Mapping[str, Any]) -> PurseError:
    """The same error that `Campaign` would have raised."""
    word = str(problem["type"]).rpartition(":")[2]
    kind = getattr(errors, "".join(part.capitalize() for part in word.split("-")), PurseError)
    return (
        kind(str(problem["detail"]))
        if isinstance(kind, type) and issubclass(kind, PurseError)
        else PurseError(str(problem["detail"]))
    )


def status_of(facts: Mapping[str, Any]) -> Status:
    """A status as `Campaign` has it."""
    purses = tuple(BalanceStatus(**each) for each in facts["purses"])
    return Status(
        **{
            **facts,
            "arms": tuple(facts["arms"]),
            "purses": purses,
            "alarms": tuple(Alarm(**each) for each in facts["alarms"]),
        }
    )


def receipt_of(facts: Mapping[str, Any]) -> Receipt:
    """A receipt as `Campaign` has it."""
    return Receipt(
        **{**facts, **{name: tuple(facts[name]) for name in ("spent", "refunded", "overrun")}}
    )


def tickets_of(facts: Mapping[str, Any]) -> list[CampaignTicket]:
    """Tickets as `Campaign` has them."""
    return [
        CampaignTicket(*(frozen(each[name]) for name in CampaignTicket._fields))
        for each in facts["tickets"]
    ]


def frozen(value: Any) -> Any:
    """Lists as tuples."""
    return tuple(value) if isinstance(value, list) else value
