"""Verbs that look up: `policies`, `worlds`; and `warm`, which compiles ahead."""

from __future__ import annotations

import inspect
from typing import Any

import click

from purse.cli import complete
from purse.cli.options import json_option, policies_argument, workers_option
from purse.cli.output import describe


@click.command()
@click.argument("name", required=False, shell_complete=complete.policies)
@json_option
def policies(name: str | None, as_json: bool) -> None:
    """List the policies, or explain one."""
    from purse import policies as catalog

    modules = {policy: catalog.load(policy) for policy in ([name] if name else catalog.names())}
    texts = {
        policy: (module.params, inspect.getdoc(module) or "") for policy, module in modules.items()
    }
    describe("policies", name, texts, as_json, catalog.GROUPS, catalog.DEFAULT)


@click.command()
@click.argument("name", required=False, shell_complete=complete.worlds)
@json_option
def worlds(name: str | None, as_json: bool) -> None:
    """List the worlds, or explain one."""
    from purse import worlds as catalog

    makers = {world: catalog.function(world) for world in ([name] if name else catalog.names())}
    texts = {
        world: (maker, f"{inspect.getmodule(maker).__doc__}\n\n{inspect.getdoc(maker)}")
        for world, maker in makers.items()
    }
    describe("lab worlds", name, texts, as_json, catalog.GROUPS)


@click.command()
@policies_argument
@workers_option
def warm(policies: tuple[str, ...], workers: int | None) -> None:
    """Compile policies now, so that nothing has to wait for it later.

    POLICY is a name, name:option=value,... or the path of a policy file. The default is what
    compare, replay and campaigns take if no policy is named. Compiles on all cores what
    simulations, replays and live use need. Prints where the machine code is kept.
    """
    from purse.lab.replay import warm as ahead

    given: dict[str, Any] = {"policies": policies} if policies else {}
    click.echo(f"Compiled code is in {ahead.warm(**given, n_workers=workers)}")
