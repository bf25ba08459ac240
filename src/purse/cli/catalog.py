"""Verbs that look up: `policies`, `worlds`; and `warm`, which compiles ahead."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import click

from purse.base.catalog import Groups, grouped
from purse.cli.options import (
    complete_policies,
    complete_worlds,
    json_option,
    policies_argument,
    workers_option,
)
from purse.cli.output import columns, print_hanging, print_json


@click.command()
@click.argument("name", required=False, shell_complete=complete_policies)
@json_option
def policies(name: str | None, as_json: bool) -> None:
    """List the policies, or explain one."""
    from purse import policies as catalog

    modules = {policy: catalog.load(policy) for policy in ([name] if name else catalog.names())}
    texts = {
        policy: (module.params, inspect.getdoc(module) or "") for policy, module in modules.items()
    }
    better = catalog.dominated()
    facts = {
        policy: {"source": catalog.source(module), "dominated_by": better.get(policy)}
        for policy, module in modules.items()
    }
    _describe("policies", name, texts, as_json, catalog.GROUPS, catalog.DEFAULT, facts)


@click.command()
@click.argument("name", required=False, shell_complete=complete_worlds)
@json_option
def worlds(name: str | None, as_json: bool) -> None:
    """List the worlds, or explain one."""
    from purse import worlds as catalog

    makers = {world: catalog.function(world) for world in ([name] if name else catalog.names())}
    texts = {
        world: (maker, f"{inspect.getmodule(maker).__doc__}\n\n{inspect.getdoc(maker)}")
        for world, maker in makers.items()
    }
    _describe("lab worlds", name, texts, as_json, catalog.GROUPS)


@click.command()
@policies_argument
@workers_option
def warm(policies: tuple[str, ...], n_workers: int | None) -> None:
    """Compile policies now, so that nothing has to wait for it later.

    POLICY is a name, name:option=value,... or the path of a policy file. The default is what
    compare, replay and campaigns take if no policy is named. Compiles on all cores what
    simulations, replays and live use need. Prints where the machine code is kept.
    """
    from purse.lab.replay import warm as ahead

    names: dict[str, Any] = {"policies": policies} if policies else {}
    click.echo(f"Compiled code is in {ahead.warm(**names, n_workers=n_workers)}")


def _describe(
    verb: str,
    name: str | None,
    things: dict[str, tuple[Callable[..., Any], str]],
    as_json: bool,
    groups: Groups,
    default: str | None = None,
    facts: Mapping[str, dict[str, Any]] = MappingProxyType({}),
) -> None:
    """Print policies or worlds by groups, a line each, or the whole text of one and its options.

    verb    the command, which explains one by its name
    facts   what else is said of each, by the name of the fact
    """
    if name and not as_json:
        click.echo(things[name][1].strip())
        for fact, value in facts.get(name, {}).items():
            if value is not None:
                click.echo(f"\n{fact.capitalize().replace('_', ' ')}: {value}.")
        options = ", ".join(
            option if value == "None" else f"{option}={value}"
            for option, value in _option_texts(things[name][0])
        )
        click.echo()
        print_hanging("Options: ", options or "none.")
        return
    rows: dict[str, dict[str, Any]] = {
        member: {
            "name": member,
            "group": title,
            "default": member == default,
            "options": dict(_option_texts(things[member][0])),
            "summary": _first_sentence(things[member][1]),
            **facts.get(member, {}),
        }
        for title, members in grouped(groups, things)
        for member in members
    }
    if as_json:
        print_json(list(rows.values()))
        return
    width = max(map(len, rows))
    for title, members in grouped(groups, rows):
        click.echo(f"{title}:")
        for member in members:
            row = rows[member]
            mark = "(the default) " if row["default"] else ""
            if better := row.get("dominated_by"):
                mark = f"(dominated by {better}) "
            # most begin with the name once more: "KUBE: ..."
            words = f"{mark}{row['summary'].partition(': ')[2] or row['summary']}"
            room = columns() - width - 4
            click.echo(f"  {member:{width}}  {textwrap.shorten(words, room, placeholder=' …')}")
        click.echo()
    click.echo(f"`purse {verb} NAME` explains one, with its options.")


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return re.split(r"\. (?=[A-Z])", paragraph)[0].rstrip(".") + "."


def _option_texts(function: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """Yield the options of a policy or world with their defaults; `...` without one."""
    for name, parameter in inspect.signature(function).parameters.items():
        if name != "problem":
            yield name, "..." if parameter.default is parameter.empty else str(parameter.default)
