"""What the Tab key completes: policies, worlds, criteria and the names of campaigns."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from purse.base.recommendation import CRITERIA
from purse.campaign import defaults

if TYPE_CHECKING:
    from purse.campaign.account import Account
    from purse.campaign.campaign import Campaign


def policies(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the policies whose names begin with what was typed."""
    from purse.policies import names

    return [name for name in names() if name.startswith(typed)]


def worlds(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the worlds whose names begin with what was typed."""
    from purse.worlds import names

    return [name for name in names() if name.startswith(typed)]


def criteria(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return what an arm may be best by, of that which begins with what was typed."""
    return [name for name in CRITERIA if name.startswith(typed)]


def campaigns(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the campaigns of the storage whose names begin with what was typed."""
    from purse.campaign.campaign import Campaign

    return names_of(Campaign, context, typed)


def accounts(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the accounts of the storage whose names begin with what was typed."""
    from purse.campaign.account import Account

    return names_of(Account, context, typed)


def names_of(kind: type[Campaign] | type[Account], context: click.Context, typed: str) -> list[str]:
    """Return the names of a kind that begin with what was typed; none where the storage cannot be
    read: who types a command sees no error then.
    """
    storage = context.params.get("storage") or defaults.STORAGE
    with suppress(Exception):
        return [name for name in kind.names(storage=storage) if name.startswith(typed)]
    return []
