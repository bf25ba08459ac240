"""Amounts, arms and their costs as they are typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from purse.errors import InvalidInput, invalid, unknown

if TYPE_CHECKING:
    from purse.campaign.account import Account
    from purse.campaign.campaign import Campaign

F = TypeVar("F", bound=Callable[..., Any])


def arm_of(text: str, n_resources: int) -> tuple[str, list[str]]:
    """Return the name of an arm and its largest cost."""
    name, most = pair_of("arm", text)
    return name, amounts(f"arm {name}", most, n_resources)


def pair_of(field: str, text: str) -> tuple[str, str]:
    """Return a name, which may have an equals sign in it, and an amount."""
    name, equals, amount = text.rpartition("=")
    if not (name and equals):
        raise invalid(field, text, "must be NAME=COST, such as small=0.01")
    return name, amount


def amounts(field: str, text: str, count: int) -> list[str]:
    """Return an amount for each of `count` resources; one amount stands for all.

    The library checks the amounts.
    """
    parts = text.split(",")
    if len(parts) not in (1, count):
        raise invalid(field, text, allowed(text, count))
    return parts * count if len(parts) == 1 else parts


def allowed(text: str, count: int) -> str:
    """Return what is allowed where amounts were typed that are too many or too few.

    >>> allowed("0,5", 1)
    'must be one amount, as there is one resource; the decimal point is a point: 0.5'
    """
    if count == 1:
        point = f": {text.replace(',', '.')}" if text.count(",") == 1 else ""
        return f"must be one amount, as there is one resource; the decimal point is a point{point}"
    return f"must be one amount, or {count} between commas, one for each resource"


def listed(text: str) -> str | list[str]:
    """Return one amount, or a list of those between commas."""
    parts = text.split(",")
    return parts if len(parts) > 1 else text


def typed(field: str, text: str, campaign: Campaign | Account) -> str | list[str]:
    """Return one amount, or one for each of several resources of a campaign or an account between
    commas.
    """
    parts = listed(text)
    if isinstance(parts, list) and len(parts) != (count := len(campaign.status().purses)):
        raise invalid(field, text, allowed(text, count))
    return parts


def bounds(
    field: str, texts: Iterable[str], declared: dict[str, list[str]], n_resources: int
) -> list[list[str]] | None:
    """Return how far the costs of each arm may be moved; None where nothing is said.

    texts      amounts for all arms, and NAME=COST for single ones
    declared   what the others have
    """
    found = dict(declared)
    for text in texts:
        if "=" not in text:
            found = dict.fromkeys(found, amounts(field, text, n_resources))
    for text in texts:
        if "=" in text:
            name, amount = pair_of(field, text)
            if name not in found:
                raise unknown(f"arm in {field}", name, found)
            found[name] = amounts(field, amount, n_resources)
    return list(found.values()) if texts else None


def choosing(function: F) -> F:
    """Add the options that say which arms may be chosen."""
    for option in (
        click.option(
            "--most",
            "most",
            multiple=True,
            metavar="NAME=COST",
            help="Arm that may be chosen and the most that this call of it may cost, which is "
            "held; repeat it for each arm.",
        ),
        click.option(
            "--arm",
            "names",
            multiple=True,
            metavar="NAME",
            help="Arm that may be chosen; repeat it for several [default: all arms].",
        ),
    ):
        function = option(function)
    return function


def chosen(names: tuple[str, ...], most: tuple[str, ...]) -> list[str] | dict[str, Any] | None:
    """Return the arms that may be chosen, as `Campaign.ask` takes them."""
    if names and most:
        raise InvalidInput("give either --arm or --most: --most says which arms may be chosen, too")
    found = dict(pair_of("most", text) for text in most)
    if len(found) < len(most):
        raise invalid("most", list(most), "must be different names")
    return {name: listed(amount) for name, amount in found.items()} or list(names) or None
