"""Completions for the Tab key: policies, worlds, criteria and the names of campaigns."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from importlib import import_module

import click

from purse.campaign import defaults
from purse.identification.recommendation import CRITERIA


def policies(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the policies whose names begin with what was typed."""
    from purse.policies import names

    return [name for name in names() if name.startswith(typed)]


def worlds(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the worlds whose names begin with what was typed."""
    from purse.worlds import names

    return [name for name in names() if name.startswith(typed)]


def criteria(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """Return the criteria for the best arm that begin with what was typed."""
    return [name for name in CRITERIA if name.startswith(typed)]


def names_of(
    kind: str, context: click.Context, parameter: click.Parameter, typed: str
) -> list[str]:
    """Return the names of campaigns or accounts that begin with what was typed; [] if the storage
    cannot be read: the tab key shows no error.
    """
    storage = context.params.get("storage") or defaults.STORAGE
    with suppress(Exception):
        of = getattr(import_module(f"purse.campaign.{kind}"), kind.title())
        return [name for name in of.names(storage=storage) if name.startswith(typed)]
    return []


campaigns, accounts = partial(names_of, "campaign"), partial(names_of, "account")
