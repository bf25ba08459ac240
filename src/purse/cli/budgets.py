"""The verbs that `purse campaign` and `purse account` share."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from purse.base.text import count
from purse.campaign.api.results import in_period
from purse.campaign.api.verb import verbs
from purse.campaign.budget import Budget
from purse.cli.made import OF, command, name_of, opened
from purse.cli.options import PATH, for_machines, stored
from purse.cli.output import print_json
from purse.cli.show import COLUMNS, lines, print_rows, show
from purse.client.server import Server

SPEND, LOOK, STEER, KEEP = _TITLES = ("Spend", "Look", "Steer", "Keep and check")
# verbs whose command has another name
_ELSEWHERE = ("create", "names", "journal", "recommend", "tell_many")
_OUT = click.Option(
    ["-o", "--out"], type=PATH, help="File, written whole or not at all [default: stdout]."
)


def sections(
    of: type[Budget[Any]], by_hand: Mapping[str, Sequence[click.Command]]
) -> dict[str, list[click.Command]]:
    """Return the commands of a class by section: some by hand, and one for each other verb."""
    commands = {title: [*by_hand.get(title, ())] for title in _TITLES}
    commands[LOOK] = [*_looks(of), *commands[LOOK]]
    names = {one.name for section in commands.values() for one in section}
    for row in verbs(of):
        if row.name not in _ELSEWHERE and row.name.replace("_", "-") not in names:
            # the title under which the help lists the verb
            title = LOOK if row.method == "GET" else STEER if row.role == "admin" else SPEND
            commands[title].append(command(of, row.function.__name__))
    return commands


def _written(
    name: str, run: Callable[..., None], text: str, *params: click.Parameter
) -> click.Command:
    """Return a command that is written by hand."""
    return stored(click.Command(name, callback=run, params=[*params], help=text))


def _looks(of: type[Budget[Any]]) -> Iterator[click.Command]:
    """Yield the commands `status` and `list`."""

    def run(as_json: bool, storage: str, **typed: str | None) -> None:
        if name := typed.get(OF):
            show(opened(of, name, storage).status(), as_json)
        else:
            _show_list(of, as_json, storage)

    whose = {"campaign": "a campaign", "account": "an account and of all below it"}[of.KIND]
    text = f"Print the balances and alarms of {whose}.\n\nWithout a name, list all {of.KIND}s."
    yield for_machines(_written("status", run, text, name_of(of, required=False)))
    text = f"List the {of.KIND}s of a storage.{lines([of.KIND, *COLUMNS['list']])}"
    yield for_machines(_written("list", run, text))


def _show_list(of: type[Budget[Any]], as_json: bool, storage: str) -> None:
    home: Any = Server.at(storage, None)
    if home is None:
        from purse.campaign.run.local_level import connect_storage

        home = connect_storage(storage, None)
    statuses = [opened(of, name, home).status() for name in of.names(storage=home)]
    if as_json:
        print_json({f"{of.KIND}s": [status.as_dict() for status in statuses]})
        return
    rows = []
    for status in statuses:
        purses = ", ".join(
            f"{purse.spent} of {purse.budget} {purse.resource} spent"
            for purse in in_period(status.purses, status.period)
        )
        purses += f" in period {status.period.number}" if status.period else ""
        alarms = ", ".join(alarm.kind for alarm in status.alarms)
        rows.append([status.name, status.status, purses, *([f"! {alarms}"] if alarms else [])])
    if sys.stdout.isatty():
        rows = [[*row, ""][:4] for row in rows]  # a place for alarms in every row
    print_rows([of.KIND, *COLUMNS["list"]], rows, left=(0, 1, 2, 3))
    if not statuses:
        click.echo(f"There are no {of.KIND}s; `purse {of.KIND} new` creates one", err=True)


def export(of: type[Budget[Any]], *more: click.Parameter) -> click.Command:
    """Return the command `export`."""

    def run(out: Path | None, storage: str, **typed: Any) -> None:
        name, without = typed.pop(OF), typed.pop("without_contexts", False)
        choice = {"contexts": False} if without else {}
        number = opened(of, name, storage).export(sys.stdout if out is None else out, **choice)
        if out is not None:
            click.echo(f"{count(number, 'entry', 'entries')} written to {out}", err=True)

    text = "Write the journal as JSON lines."
    return _written("export", run, text, name_of(of), _OUT, *more)
