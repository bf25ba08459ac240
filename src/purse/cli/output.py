"""The output of the command line: tables for people, JSON for machines."""

import json
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from purse.base.text import align_columns

if TYPE_CHECKING:
    from purse.lab.result import Result
    from purse.lab.study.regrets import Regrets
    from purse.lab.theory.bound import Bound

_COLUMN_LIMIT = 100  # longer lines are hard to read


def columns() -> int:
    """Return the width of a line in columns."""
    return min(_COLUMN_LIMIT, shutil.get_terminal_size((80, 24)).columns)


def print_hanging(head: str, text: str) -> None:
    """Print a text beside its head, folded so that it fits; words stay whole."""
    click.echo(
        textwrap.fill(
            text,
            columns(),
            initial_indent=head,
            subsequent_indent=" " * len(head),
            break_long_words=False,
            break_on_hyphens=False,
        ).rstrip()
    )


def print_result(result: "Result", below: Mapping[str, str] | None = None) -> None:
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
    room = columns() - 2 - len(words[0])
    while others:
        count = 1
        widths = [len(column[0]) + 2 for column in others]
        while count < len(others) and sum(widths[: count + 1]) <= room:
            count += 1
        for number, cells in enumerate(zip(words, *others[:count], strict=True)):
            line = "  " + "  ".join(cells).rstrip()
            click.echo(click.style(line, dim=True) if number == 0 else line)
        others = others[count:]


def print_notions(result: "Regrets") -> None:
    """Print the notions of regret for people: name, mean, half its interval, and what it is."""
    (grid,) = result.grids()
    click.echo(result.title)
    aligned = align_columns([row[:3] for row in grid.rows], left=(0, 2))
    for (name, mean, half), row in zip(aligned, grid.rows, strict=True):
        print_hanging(f"{name}  {mean} {half}  ", row[3])


def print_bounds(rows: "Sequence[Bound]") -> None:
    """Print each bound for people: value, what it bounds, conditions, source."""
    width = max(len(row.name) for row in rows)
    for row in rows:
        value = "" if row.value is None else f"{row.value:,.1f}"
        verdict = "" if row.value is None else "applies" if row.applies else "does not apply"
        head = f"{row.name:{width}}  {row.side:>8} {value:>12}  {verdict:14}  "
        if len(head) + len(row.bounds) <= columns():
            click.echo(f"{head}{row.bounds}")
        else:
            click.echo(head.rstrip())
            print_hanging("    ", row.bounds)
        print_hanging("    ", f"{row.holds}  [{row.source}]")


def print_json(value: Any) -> None:
    """Print strict JSON, with null for NaN and infinities."""
    click.echo(json.dumps(json.loads(json.dumps(value), parse_constant=lambda _: None), indent=2))
