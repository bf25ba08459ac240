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

_Completion: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]


def _among(names: Callable[[], Iterable[str]]) -> _Completion:
    """Return what finds the names that begin with what was typed."""
    return lambda context, parameter, typed: [name for name in names() if name.startswith(typed)]


policies = _among(lambda: import_module("purse.policies").names())
worlds = _among(lambda: import_module("purse.worlds").names())
criteria = _among(lambda: CRITERIA)


def _names_of(
    kind: str, context: click.Context, parameter: click.Parameter, typed: str
) -> list[str]:
    """Return the campaigns or accounts that begin so; [] if the storage cannot be read."""
    storage = context.params.get("storage") or defaults.STORAGE
    with suppress(Exception):
        of = getattr(import_module(f"purse.campaign.{kind}"), kind.title())
        return [name for name in of.names(storage=storage) if name.startswith(typed)]
    return []


campaigns, accounts = partial(_names_of, "campaign"), partial(_names_of, "account")
