"""The command `reconcile` of campaigns and accounts: a bill beside the books."""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from purse.base import exit_codes
from purse.base.text import count
from purse.campaign.account import Account
from purse.campaign.api import defaults
from purse.campaign.api.kinds import once
from purse.campaign.api.results import LevelStatus
from purse.campaign.budget import Budget
from purse.campaign.campaign import Campaign
from purse.cli.made import OF, name_of, opened
from purse.cli.options import PATH, for_machines, option, stored
from purse.cli.output import print_json
from purse.cli.show import lines, print_rows
from purse.errors import invalid

_HEAD = ("day", "name", "billed", "booked", "difference", "finding", "price")
_HELP = f"""Compare a provider's bill with the books, by day and arm.

FILE: a cost report of these calls alone: FOCUS as CSV, the JSON of Anthropic's cost report or of
OpenAI's costs, or CSV with the columns day, arm and cost.

The exit code is 1 if there is a difference that is not booked.{lines(_HEAD)} A price stands there
if it fits every day of an arm; the last line is the total of all that is compared."""


def command(of: type[Budget[Any]]) -> click.Command:
    """Return the command of campaigns, or of accounts."""
    arguments = [name_of(of), click.Argument(["file"], metavar="FILE", type=PATH)]

    @for_machines
    @stored
    @option("--time-zone ZONE", "Time zone of the bill's days.", default=defaults.TIME_ZONE)
    @option(
        "--column WHAT=COLUMN columns",
        "Column that is the day, the arm, the cost or the currency, as in day=Date; repeat it for "
        "several [default: as the format has it].",
        multiple=True,
    )
    @option(
        "--arm BILLED=ARM arms",
        "What the bill calls an arm; repeat it for several. What is no arm is compared if it "
        "stands here, as in judge=judge [default: the same name].",
        multiple=True,
    )
    @option("--label KEY", "Compare the values of this label rather than arms.")
    @option("--book", "Charge the differences.", is_flag=True)
    @click.command("reconcile", params=arguments, help=_HELP)
    def reconcile(
        file: Path,
        book: bool,
        label: str | None,
        time_zone: str,
        as_json: bool,
        storage: str,
        **typed: Any,
    ) -> None:
        from purse.base import amounts
        from purse.campaign.terms.calendar import local_day
        from purse.campaign.views import reconciliation
        from purse.cli.bill import read_bill

        today = local_day(time_zone, int(time.time() * 1000))
        arms, columns = (once(what, _pairs(what, typed[f"{what}s"])) for what in ("arm", "column"))
        bill = read_bill(str(file), columns, arms, time_zone)
        budget = opened(of, typed[OF], storage)
        status = budget.status()
        resources = [purse.resource for purse in status.purses]
        resource = _number_of(bill.currency, resources)
        books = reconciliation.Books(time_zone, label or "", resource)
        for each in (budget, *_below(getattr(status, "children", ()), storage)):
            books.add(each.journal())
        books.names |= set(arms.values())
        rows, total = reconciliation.reconcile(bill, books, today)
        due = [row for row in rows if row.finding in reconciliation.DUE]
        shown = [
            [*row[:2], *map(amounts.text, (*row[2:4], row.difference)), *row[4:6]]
            for row in (*rows, total)
        ]
        for row in due if book else ():
            charge = [0] * len(resources)
            charge[resource] = row.difference
            note = f"{row.day} {row.name}: {amounts.text(row.billed)} billed"
            labels = {label: row.name} if label and of is Campaign else None
            budget.charge([*map(amounts.text, charge)], labels, note, row.request)
        if as_json:
            *cells, sums = (dict(zip(_HEAD, row, strict=True)) for row in shown)
            print_json({"rows": cells, "total": sums})
        else:
            print_rows(_HEAD, shown, left=(0, 1, 5, 6))
        if book:
            click.echo(f"{count(len(due), 'charge')} booked", err=True)
        elif due:
            click.get_current_context().exit(exit_codes.DIFFERS)

    return reconcile


def _pairs(what: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the parts of NAME=VALUE."""
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not (name and equals and value):
            raise invalid(what, text, "must be such as NAME=VALUE")
        yield name, value


def _number_of(currency: str, resources: Sequence[str]) -> int:
    """Return the number of the resource that a bill is about."""
    names = [name.upper() for name in resources]
    if currency and currency not in names and tuple(resources) != defaults.RESOURCES:
        raise invalid("currency", currency, f"must be one of what is spent: {', '.join(resources)}")
    return names.index(currency) if currency in names else 0


def _below(levels: Iterable[LevelStatus], storage: str) -> Iterator[Budget[Any]]:
    for level in levels:
        yield opened(Campaign if level.kind == Campaign.KIND else Account, level.name, storage)
        yield from _below(level.children, storage)
