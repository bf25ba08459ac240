"""The output of the command line: tables for people, JSON for machines."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from purse.base.catalog import Groups, grouped
from purse.base.text import align_columns

if TYPE_CHECKING:
    from purse.lab.result import Result
    from purse.lab.study.regrets import Regrets
    from purse.lab.theory.bound import Bound

_MOST_COLUMNS = 100  # longer lines are hard to read


def _columns() -> int:
    """Return how many columns a line may have."""
    return min(_MOST_COLUMNS, shutil.get_terminal_size((80, 24)).columns)


def print_hanging(head: str, text: str) -> None:
    """Print a text beside its head, folded so that it fits; words stay whole."""
    click.echo(
        textwrap.fill(
            text,
            _columns(),
            initial_indent=head,
            subsequent_indent=" " * len(head),
            break_long_words=False,
            break_on_hyphens=False,
        ).rstrip()
    )


def describe(
    verb: str,
    name: str | None,
    things: dict[str, tuple[Callable[..., Any], str]],
    as_json: bool,
    groups: Groups,
    default: str | None = None,
) -> None:
    """Print policies or worlds by groups, a line each, or the whole text of one and its options.

    verb   the command, which explains one by its name
    """
    if name and not as_json:
        click.echo(things[name][1].strip())
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
            # most begin with the name once more: "KUBE: ..."
            words = f"{mark}{row['summary'].partition(': ')[2] or row['summary']}"
            room = _columns() - width - 4
            click.echo(f"  {member:{width}}  {textwrap.shorten(words, room, placeholder=' …')}")
        click.echo()
    click.echo(f"`purse {verb} NAME` explains one, with its options.")


def _first_sentence(text: str) -> str:
    """Return the first sentence of a docstring, on one line."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return re.split(r"\. (?=[A-Z])", paragraph)[0].rstrip(".") + "."


def _option_texts(function: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """Yield the options of a policy or world with their defaults; `...` without one."""
    for name, parameter in inspect.signature(function).parameters.items():
        if name != "problem":
            yield name, "..." if parameter.default is parameter.empty else str(parameter.default)


def print_result(result: Result, below: Mapping[str, str] | None = None) -> None:
    """Print the tables of a result for people, and its remarks; `below` has a line for the title
    of a table.
    """
    for grid in result.grids():
        if grid.title:
            click.echo(click.style(grid.title, bold=True))
            line = (below or {}).get(grid.title, grid.title)
            if line != grid.title:
                click.echo(f"  {line}")
        _print_grid([grid.head, *grid.rows])
        click.echo()
    for line in result.remarks():
        print_hanging("", line)


def _print_grid(grid: Sequence[Sequence[str]]) -> None:
    """Print a table of words and numbers; columns that do not fit stand below, words again."""
    words, *others = zip(*align_columns(grid), strict=True)
    room = _columns() - 2 - len(words[0])
    while others:
        count = 1
        widths = [len(column[0]) + 2 for column in others]
        while count < len(others) and sum(widths[: count + 1]) <= room:
            count += 1
        for number, cells in enumerate(zip(words, *others[:count], strict=True)):
            line = "  " + "  ".join(cells).rstrip()
            click.echo(click.style(line, dim=True) if number == 0 else line)
        others = others[count:]


def print_notions(result: Regrets) -> None:
    """Print the notions of regret for people: name, mean, half its interval, and what it is."""
    (grid,) = result.grids()
    click.echo(result.title)
    aligned = align_columns([row[:3] for row in grid.rows], left=(0, 2))
    for (name, mean, half), row in zip(aligned, grid.rows, strict=True):
        print_hanging(f"{name}  {mean} {half}  ", row[3])


def print_bounds(rows: Sequence[Bound]) -> None:
    """Print each bound for people: value, what it bounds, conditions, source."""
    width = max(len(row.name) for row in rows)
    for row in rows:
        value = "" if row.value is None else f"{row.value:,.1f}"
        verdict = "" if row.value is None else "applies" if row.applies else "does not apply"
        head = f"{row.name:{width}}  {row.side:>8} {value:>12}  {verdict:14}  "
        if len(head) + len(row.bounds) <= _columns():
            click.echo(f"{head}{row.bounds}")
        else:
            click.echo(head.rstrip())
            print_hanging("    ", row.bounds)
        print_hanging("    ", f"{row.holds}  [{row.source}]")


def print_json(value: Any) -> None:
    """Print strict JSON, with null for NaN and infinities."""
    click.echo(json.dumps(json.loads(json.dumps(value), parse_constant=lambda _: None), indent=2))
