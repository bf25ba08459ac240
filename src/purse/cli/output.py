"""The output of the command line: tables for people, JSON for machines."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from purse.study.results import Study, TableStudy
    from purse.theory.bounds import Bound

WIDTH = 120  # what a table of five budgets needs


def describe(
    kind: str, name: str | None, things: dict[str, tuple[Callable[..., Any], str]], as_json: bool
) -> None:
    """Print a list of policies or worlds, or the whole text of one that is given by name."""
    rows: list[dict[str, Any]] = [
        {
            "name": each,
            "options": dict(option_texts(function)),
            "summary": text.strip().splitlines()[0],
        }
        for each, (function, text) in things.items()
    ]
    if as_json:
        print_json(rows)
    elif name:
        click.echo(things[name][1].strip())
    else:
        for row in rows:
            options = ",".join(f"{key}={value}" for key, value in row["options"].items())
            click.echo(f"{row['name']}{':' + options if options else ''}\n    {row['summary']}")
        click.echo(f"\n`purse {'policies' if kind == 'policy' else 'worlds'} NAME` explains one.")


def option_texts(function: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """Yield the options of a policy or world with their defaults, or `...` where there is none."""
    for name, parameter in inspect.signature(function).parameters.items():
        if name != "problem":
            yield name, "..." if parameter.default is parameter.empty else str(parameter.default)


def print_regrets(result: Study, worlds: Mapping[str, Any]) -> None:
    """Print the tables of regrets for people, each under the name and the text of its world."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    console.width = max(WIDTH, console.width)  # rather a long line than digits cut off
    for world, (head, *rows) in (*result.grids(), *result.optimum_grids()):
        name = (
            Text(world, "bold")
            if world == worlds[world]
            else Text.assemble((world, "bold"), f"  {worlds[world]}")
        )
        console.print(name, soft_wrap=True)
        table = Table()
        for number, title in enumerate(head):
            table.add_column(title, justify="right" if number else "left")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    ended, paths = (int(result.table()[column].sum()) for column in ("ended", "n_paths"))
    if ended:
        console.print(
            f"{ended} of {paths} paths reached the end of their world before the end of the budget"
        )


def print_gains(result: TableStudy) -> None:
    """Print the tables of gains of a replay for people, the largest gain first.

    The tables hold policies and references.
    """
    from rich.console import Console
    from rich.table import Table

    from purse.report.standings import gains

    console = Console(width=max(Console().width, WIDTH))
    for each in gains(result):
        table = Table(title=each["title"], title_justify="left")
        for number, head in enumerate(each["head"]):
            table.add_column(head, justify="right" if number else "left")
        for row in each["rows"]:
            table.add_row(*row["cells"])
        console.print(table)


def print_bounds(rows: Sequence[Bound]) -> None:
    """Print the bounds for people, two lines each.

    The first line has the value and what it bounds. The second has the conditions and the source.
    """
    width = max(len(row.name) for row in rows)
    for row in rows:
        value = "" if row.value is None else f"{row.value:,.1f}"
        verdict = "" if row.value is None else "applies" if row.applies else "does not apply"
        click.echo(f"{row.name:{width}}  {row.side:>8} {value:>12}  {verdict:14}  {row.bounds}")
        click.echo(f"{'':{width}}  {row.holds}  [{row.source}]")


def print_json(value: Any) -> None:
    """Print strict JSON, with null for NaN and infinities."""
    click.echo(json.dumps(json.loads(json.dumps(value), parse_constant=lambda _: None), indent=2))
