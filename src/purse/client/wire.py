"""What goes to the service and comes from it, as JSON has it and as `purse.Campaign` has it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints
from urllib.parse import quote

from purse.base.problem_types import OF_SLUGS, PREFIX
from purse.base.recommendation import ArmVerdict, MeanBounds, Recommendation
from purse.campaign.account_results import AccountStatus, LevelStatus
from purse.campaign.results import (
    Alarm,
    Audit,
    BalanceStatus,
    CampaignTicket,
    CoolingArm,
    FeatureStatus,
    LabelStatus,
    PeriodStatus,
    Receipt,
    Status,
)
from purse.errors import ArmsCoolingDown, InvalidInput, PurseError

T = TypeVar("T")
LONGEST_PAUSE = 60.0  # seconds
RESULTS = (
    AccountStatus,
    Alarm,
    ArmVerdict,
    Audit,
    BalanceStatus,
    CampaignTicket,
    CoolingArm,
    FeatureStatus,
    LabelStatus,
    LevelStatus,
    MeanBounds,
    PeriodStatus,
    Receipt,
    Recommendation,
    Status,
)


Reader: TypeAlias = Callable[[Any], Any]


@cache
def readers(kind: Any) -> dict[str, Reader | None]:
    """How each field of a result is read; None where it is in JSON what it is in the result."""
    return {field: reader_of(hint) for field, hint in get_type_hints(kind).items()}


def reader_of(hint: Any) -> Reader | None:
    """How a value of this type is read: lists are tuples, and objects results."""
    if get_origin(hint) is tuple:
        read = reader_of(get_args(hint)[0])
        return tuple if read is None else lambda values: tuple(map(read, values))
    if get_origin(hint) is UnionType:
        hint = next((each for each in get_args(hint) if each in RESULTS), hint)
    if hint not in RESULTS:
        return None
    return lambda value: None if value is None else result_of(hint, value)


def path(name: str, *parts: object) -> str:
    """The address of a campaign, or of something in it."""
    return "/".join(["/campaigns", quoted(name), *map(str, parts)])


def quoted(name: str) -> str:
    """A name as a part of a path."""
    return quote(str(name), safe="")


def account_path(name: str, *parts: object) -> str:
    """The address of an account, or of something in it."""
    return "/".join(["/accounts", quoted(name), *map(str, parts)])


def encoded(body: Mapping[str, Any]) -> bytes:
    """A body as JSON; decimals as their text."""
    try:
        return json.dumps(body, allow_nan=False, default=plain).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"this cannot be sent as JSON: {error}") from None


def plain(value: Any) -> Any:
    """What JSON does not know, in words that it does."""
    from decimal import Decimal  # here: few send such amounts

    return (
        format(value, "f")
        if isinstance(value, Decimal)
        else value.tolist()
        if hasattr(value, "tolist")
        else dict(value)
        if isinstance(value, Mapping)
        else list(value)
    )


def amount_text(amount: Any) -> str | None:
    """An amount for a query, as decimal text; None where there is none.

    >>> amount_text(1e-5), amount_text("0.01"), amount_text(3)
    ('0.000010000', '0.01', '3')
    """
    if isinstance(amount, float):
        return f"{amount:.9f}"
    if hasattr(amount, "as_tuple"):  # a decimal number
        return format(amount, "f")
    return None if amount is None else str(amount)


def error_of(problem: Mapping[str, Any]) -> PurseError:
    """The same error that `Campaign` would have raised."""
    kind = OF_SLUGS.get(str(problem["type"]).removeprefix(PREFIX), PurseError)
    detail = str(problem["detail"])
    if issubclass(kind, ArmsCoolingDown):
        return kind(detail, float(problem.get("seconds", 0.0)))
    return kind(detail)


def result_of(kind: type[T], facts: Mapping[str, Any]) -> T:
    """A result as `Campaign` has it. What a newer server says besides is left out, and what an
    older one does not say has its default.
    """
    return kind(
        **{
            field: facts[field] if read is None else read(facts[field])
            for field, read in readers(cast(Any, kind)).items()
            if field in facts
        }
    )


def seconds_of(wanted: str) -> float:
    """The seconds that the server wants to be left alone, up to a minute."""
    return min(float(wanted), LONGEST_PAUSE) if wanted.isdecimal() else 0.0
