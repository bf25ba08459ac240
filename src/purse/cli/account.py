"""`purse account ...`: one purse for many campaigns."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from purse.campaign import defaults
from purse.cli import complete
from purse.cli.campaign.amounts import amounts, typed
from purse.cli.campaign.keep import print_audit
from purse.cli.campaign.periods import renewed
from purse.cli.campaign.read import print_rows
from purse.cli.options import for_machines, stored
from purse.cli.output import print_json
from purse.cli.sections import Sections

if TYPE_CHECKING:
    from purse.campaign.account import Account

account_argument = click.argument("name", shell_complete=complete.accounts)


@click.group(cls=Sections, with_codes=True)
def account() -> None:
    """Share a budget: one account for many campaigns, and for accounts below it.

    \b
    purse account new company --budget 1000 --resource USD
    purse account new team-a --budget 300 --resource USD --account company
    purse campaign new prompts --account team-a --resource USD --budget 100 \\
        --arm small=0.01 --arm large=0.05
    purse account status company         what is left on each level
    """  # noqa: D301 - click reads the backspace as: keep these lines


@click.command()
@click.argument("name")
@click.option(
    "--budget",
    required=True,
    metavar="AMOUNT",
    help="Amount that may be spent in all, or in each period.",
)
@click.option(
    "--resource",
    "resources",
    multiple=True,
    default=defaults.RESOURCES,
    show_default=True,
    help="Resource that is spent, the same for all below it; repeat it for several, and give "
    "amounts as 0.01,500.",
)
@click.option(
    "--account",
    "above",
    metavar="NAME",
    shell_complete=complete.accounts,
    help="Account above it, which has none above itself [default: none].",
)
@renewed
@click.option(
    "--alert",
    "alerts",
    multiple=True,
    metavar="RULE",
    help="Event that webhooks are told of: 80% of the budget, or overrun; repeat it for several.",
)
@click.option(
    "--exist-ok",
    is_flag=True,
    help="Take the account of this name where there is one with the same values.",
)
@stored
def new(
    name: str,
    budget: str,
    resources: tuple[str, ...],
    above: str | None,
    storage: str,
    **options: Any,
) -> None:
    """Create an account and print its status."""
    from purse.campaign.account import Account

    made = Account.create(
        name,
        budget=amounts("budget", budget, len(resources)),
        resources=resources,
        account=above,
        storage=storage,
        **options,
    )
    click.echo(str(made.status()))


@click.command("list")
@for_machines
@stored
def listed(as_json: bool, storage: str) -> None:
    """List the accounts of a storage.

    Prints a line for each, separated by tabs: account, state, budget, alarms.
    """
    from purse.campaign.account import Account
    from purse.campaign.addresses import connected

    place = connected(storage)
    found = [opened(name, place).status() for name in Account.names(storage=place)]
    if as_json:
        print_json({"accounts": [each.as_dict() for each in found]})
        return
    rows = []
    for each in found:
        purses = ", ".join(
            f"{purse.spent} of {purse.budget} {purse.resource} spent" for purse in each.purses
        )
        alarms = ", ".join(alarm.kind for alarm in each.alarms)
        rows.append([each.name, each.status, purses, f"! {alarms}" if alarms else ""])
    print_rows(["account", "state", "budget", "alarms"], rows, left=(0, 1, 2, 3))
    if not found:
        click.echo("There are no accounts; `purse account new` creates one", err=True)


@click.command()
@account_argument
@for_machines
@stored
def status(name: str, as_json: bool, storage: str) -> None:
    """Print an account, and what is left on each level below it."""
    found = opened(name, storage).status()
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(str(found))


@click.command("top-up")
@account_argument
@click.argument("amount")
@click.option(
    "--request",
    "request_id",
    metavar="ID",
    help="Name of this top-up: a repeat adds nothing more.",
)
@stored
def top_up(name: str, amount: str, request_id: str | None, storage: str) -> None:
    """Add an amount to the budget."""
    found = opened(name, storage)
    click.echo(str(found.top_up(typed("amount", amount, found), request_id)))


@click.command("set-alerts")
@account_argument
@click.argument("alerts", nargs=-1, metavar="[RULE]...")
@stored
def set_alerts(name: str, alerts: tuple[str, ...], storage: str) -> None:
    """Make events by these rules from now on: 80%, overrun.

    Without a rule, all alerts end. `purse webhook run` tells others.
    """
    click.echo(str(opened(name, storage).set_alerts(list(alerts))))


@click.command()
@account_argument
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="File, written whole or not at all [default: stdout].",
)
@stored
def export(name: str, out: Path | None, storage: str) -> None:
    """Write the journal as JSON lines."""
    count = opened(name, storage).export(sys.stdout if out is None else out)
    if out is not None:
        click.echo(f"{count} entries written to {out}", err=True)


@click.command()
@account_argument
@for_machines
@stored
def audit(name: str, as_json: bool, storage: str) -> None:
    """Check an account against its journal and against the journals of its campaigns.

    Exits with 1 where something differs.
    """
    print_audit(name, opened(name, storage).audit(), as_json)


def switch(verb: str, text: str) -> click.Command:
    """Return a verb that changes whether campaigns below an account issue tickets."""

    @click.command(verb, help=text)
    @account_argument
    @stored
    def change(name: str, storage: str) -> None:
        click.echo(str(getattr(opened(name, storage), verb)()))

    return change


def opened(name: str, storage: Any) -> Account:
    """Return an account of a storage."""
    from purse.campaign.account import Account

    return Account.open(name, storage=storage)


account.add_sections(
    {
        "Spend": [new],
        "Look": [status, listed],
        "Steer": [
            top_up,
            switch("pause", "Let campaigns below it issue no tickets until it is resumed."),
            switch("resume", "Let campaigns below it issue tickets again."),
            switch("end", "Let campaigns below it issue no tickets from now on."),
            set_alerts,
        ],
        "Keep and check": [export, audit],
    }
)
