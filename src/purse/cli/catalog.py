"""Verbs that list: `policies`, `worlds`."""

from __future__ import annotations

import inspect

import click

from purse.cli import complete, groups
from purse.cli.options import json_option
from purse.cli.output import describe


@click.command()
@click.argument("name", required=False, shell_complete=complete.policies)
@json_option
def policies(name: str | None, as_json: bool) -> None:
    """List the policies, or explain one."""
    from purse import policies as catalog

    modules = {each: catalog.load(each) for each in ([name] if name else catalog.names())}
    texts = {each: (made.params, inspect.getdoc(made) or "") for each, made in modules.items()}
    describe("policy", name, texts, as_json, groups.POLICIES, catalog.DEFAULT)


@click.command()
@click.argument("name", required=False, shell_complete=complete.worlds)
@json_option
def worlds(name: str | None, as_json: bool) -> None:
    """List the worlds, or explain one."""
    from purse import worlds as catalog

    makers = {each: catalog.function(each) for each in ([name] if name else catalog.names())}
    texts = {
        each: (maker, f"{inspect.getmodule(maker).__doc__}\n\n{inspect.getdoc(maker)}")
        for each, maker in makers.items()
    }
    describe("world", name, texts, as_json, groups.WORLDS)
