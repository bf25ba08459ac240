"""Verbs that list: `policies`, `worlds`."""

from __future__ import annotations

import inspect

import click

from purse.cli.output import describe


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def policies(name: str | None, as_json: bool) -> None:
    """List the policies, or explain one."""
    from purse import policies as catalog

    modules = {each: catalog.load(each) for each in ([name] if name else catalog.names())}
    describe(
        "policy",
        name,
        {each: (module.params, inspect.getdoc(module) or "") for each, module in modules.items()},
        as_json,
    )


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def worlds(name: str | None, as_json: bool) -> None:
    """List the worlds, or explain one."""
    from purse import worlds as catalog

    makers = {each: catalog.function(each) for each in ([name] if name else catalog.names())}
    describe(
        "world",
        name,
        {
            each: (maker, f"{inspect.getmodule(maker).__doc__}\n\n{inspect.getdoc(maker)}")
            for each, maker in makers.items()
        },
        as_json,
    )
