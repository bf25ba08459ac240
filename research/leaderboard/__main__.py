"""`python -m research.leaderboard`: play a suite with every policy, and write its page."""

from pathlib import Path
from typing import Any

import click

from purse.base.files import write_atomically, write_text
from purse.cli import execute
from purse.cli.options import (
    device_option,
    json_option,
    option,
    out_option,
    policies_argument,
    seed_option,
    workers_option,
)
from purse.cli.output import print_json
from purse.lab.figure import write_figure
from research.commands import quick_option
from research.leaderboard.leaderboard import leaderboard as play
from research.leaderboard.page import markdown
from research.leaderboard.record import record_of, write_record
from research.leaderboard.suites import name_file
from research.leaderboard.tables import cases_csv, heat_figure


@click.command()
@policies_argument
@option(
    "--suite",
    "1: long games of every kind; 2: what users have, little money and late reports included; "
    "3: contexts; traffic: late reports, requests that allow some arms, and how many come; "
    "sealed: cases that nobody has chosen.",
    default="1",
)
@out_option("Folder for the page and its data.", "purse-results/leaderboard")
@quick_option
@seed_option
@workers_option
@device_option
@json_option
def leaderboard(policies: tuple[str, ...], folder: str, as_json: bool, **options: Any) -> None:
    """Play a suite with every policy, and say which one to use.

    POLICY is a name, name:option=value,... or the path of a policy file. The default is every
    policy that purse ships and whose rule is not from memory, and for suite 3 those that see
    contexts and a few others. Prints the standings, and writes a page (leaderboard.md for suite 1,
    leaderboard-2.md for suite 2 and so on), a figure, tables of scores and of cases, and the
    numbers of the page. The same command continues an interrupted run. Several processes may play
    some policies each into one folder.
    """
    board = play(policies or None, folder=folder, **options)
    target, record = Path(folder), record_of(board)
    figure = heat_figure(record)
    files = write_figure(figure, target, kinds=("png", "svg"))
    text, numbers = f"{figure.name}.md", f"suite-{board.suite}.json"
    scores, cases = (f"{name_file(kind, board.suite)}.csv" for kind in ("scores", "cases"))
    write_text(target / text, markdown(record))
    write_text(target / cases, cases_csv(record.cases))
    write_record(record, target / numbers)
    write_atomically(target / scores, board.frame().write_csv)
    if as_json:
        frames = {"standings": board.standings(), "scores": board.frame()}
        rows = {name: frame.to_dicts() for name, frame in frames.items()}
        print_json({"folder": str(target), **rows})
    else:
        names = ", ".join([text, scores, cases, numbers, *(file.name for file in files)])
        click.echo(f"{board}\nWritten to {target}: {names}")


if __name__ == "__main__":
    execute(leaderboard, "python -m research.leaderboard")
