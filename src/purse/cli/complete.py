"""Completions for the Tab key: policies, worlds, criteria and the names of campaigns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TypeAlias

import click

from purse.campaign.api import defaults
from purse.identification.recommendation import CRITERIA

Completion: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]


def among(names: Callable[[], Iterable[str]]) -> Completion:
    """Return what finds the names that begin with what was typed."""
    return lambda context, parameter, typed: [name for name in names() if name.startswith(typed)]


policies = among(lambda: import_module("purse.policies").names())
worlds = among(lambda: import_module("purse.worlds").names())
criteria = among(lambda: CRITERIA)


def names_of(
    kind: str, context: click.Context, parameter: click.Parameter, typed: str
) -> list[str]:
    """Return the campaigns or accounts that begin so; [] if the storage cannot be read."""
    storage = context.params.get("storage") or defaults.STORAGE
    with suppress(Exception):
        of = getattr(import_module(f"purse.campaign.{kind}"), kind.title())
        return [name for name in of.names(storage=storage) if name.startswith(typed)]
    return []


campaigns, accounts = partial(names_of, "campaign"), partial(names_of, "account")
