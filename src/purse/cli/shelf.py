"""Verbs that list: `policies`, `environments`."""

from __future__ import annotations

import inspect

import click

from purse.printing import describe


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def policies(name: str | None, as_json: bool) -> None:
    """List the policies, or explain one."""
    from purse import policies as shelf

    modules = {each: shelf.load(each) for each in ([name] if name else shelf.names())}
    describe(
        "policy",
        name,
        {each: (module.params, inspect.getdoc(module) or "") for each, module in modules.items()},
        as_json,
    )


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def environments(name: str | None, as_json: bool) -> None:
    """List the worlds, or explain one."""
    from purse import environments as shelf

    makers = {each: shelf.function(each) for each in ([name] if name else shelf.names())}
    describe(
        "world",
        name,
        {
            each: (maker, f"{inspect.getmodule(maker).__doc__}\n\n{inspect.getdoc(maker)}")
            for each, maker in makers.items()
        },
        as_json,
    )
