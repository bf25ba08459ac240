"""The command `purse account statement`: what an account, and all below it, had and spent."""

import click

from purse.campaign.account import Account
from purse.campaign.api import defaults
from purse.cli.made import OF, name_of
from purse.cli.options import option, refuse_server, stored
from purse.cli.show import lines, print_csv, print_rows

_SUMS = ("opening", "granted", "spent", "charged", "lapsed", "closing")
_HEAD = ("name", "resource", *_SUMS)
_OF_VALUES = ("name", "value", "resource", "spent", "charged")
_HELP = f"""Print what an account, and each level below it, had and spent in a month.

opening + granted - spent - charged - lapsed = closing, and the next month opens with it. Lapsed is
what a period left and did not carry over. What is presumed spent is spent, and holds are
not.{lines(_HEAD)} With --label: {", ".join(_OF_VALUES)}; asks without the label have no value."""


@stored
@option("--month MONTH", "Month, such as 2027-01.", required=True)
@option("--time-zone ZONE", "Time zone of the month.", default=defaults.TIME_ZONE)
@option("--label KEY", "Print what was spent for each value of this label.", default="")
@option("--csv as_csv", "Print CSV, under a header.", is_flag=True)
@click.command("statement", params=[name_of(Account)], help=_HELP)
def statement(
    month: str, time_zone: str, label: str, as_csv: bool, storage: str, **typed: str
) -> None:
    """Print the statement of an account."""
    from purse.base import amounts
    from purse.campaign.run.local_level import connect_storage
    from purse.campaign.run.statement import month_of, statements

    refuse_server(storage)
    begin, end = month_of(month, time_zone)
    opened = Account.open(typed[OF], storage=connect_storage(storage, None))
    rows: list[list[str]] = []
    for one in statements(opened.storage, opened.name, begin, end, label):
        for number, resource in enumerate(one.resources):
            sums = one.sums[number]
            if not label:
                units = [getattr(sums, field) for field in _SUMS]
                rows.append([one.name, resource, *map(amounts.text, units)])
            for value, parts in sorted(one.by_value.items()):
                units = [parts[number].spent, parts[number].charged]
                rows.append([one.name, value, resource, *map(amounts.text, units)])
    head = _OF_VALUES if label else _HEAD
    if as_csv:
        print_csv(head, rows)
    else:
        print_rows(head, rows, left=(0, 1, 2) if label else (0, 1))
