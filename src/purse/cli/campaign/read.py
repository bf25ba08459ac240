"""Verbs that read campaigns.

These are `purse campaign status`, `list` and `tickets`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from purse.base.text import align_columns
from purse.campaign.states import OPEN, STATES
from purse.cli import complete
from purse.cli.options import campaign_argument, for_machines, stored
from purse.cli.output import print_json
from purse.errors import invalid

if TYPE_CHECKING:
    from purse.campaign.campaign import Campaign
    from purse.campaign.results import CampaignTicket, Receipt


@click.command()
@click.argument("name", required=False, shell_complete=complete.campaigns)
@for_machines
@stored
def status(name: str | None, as_json: bool, storage: str) -> None:
    """Print the balances and alarms of a campaign; without a name, list all campaigns."""
    if name is None:
        print_list(as_json, storage)
        return
    found = opened(name, storage).status()
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(str(found))


@click.command("list")
@for_machines
@stored
def listed(as_json: bool, storage: str) -> None:
    """List the campaigns of a storage."""
    print_list(as_json, storage)


def print_list(as_json: bool, storage: str) -> None:
    """Print a line for each campaign."""
    from purse.campaign.addresses import connected
    from purse.campaign.campaign import Campaign

    place = connected(storage)
    found = [opened(name, place).status() for name in Campaign.names(storage=place)]
    if as_json:
        print_json({"campaigns": [each.as_dict() for each in found]})
        return
    rows = []
    for each in found:
        purses = ", ".join(
            f"{purse.spent} of {purse.budget} {purse.resource} spent" for purse in each.purses
        )
        alarms = ", ".join(alarm.kind for alarm in each.alarms)
        rows.append([each.name, each.status, purses, *([f"! {alarms}"] if alarms else [])])
    if sys.stdout.isatty():
        rows = [[*row, ""][:4] for row in rows]  # a place for alarms in every row
    print_rows(["campaign", "state", "budget", "alarms"], rows, left=(0, 1, 2, 3))
    if not found:
        click.echo("There are no campaigns; `purse campaign new` creates one", err=True)


@click.command()
@campaign_argument
@click.option(
    "--state",
    "states",
    multiple=True,
    default=OPEN,
    show_default=True,
    help=f"State: {', '.join(STATES)}; repeat it for several.",
)
@click.option(
    "--limit",
    type=int,
    default=1000,
    show_default=True,
    help="Most tickets that are printed.",
)
@for_machines
@stored
def tickets(name: str, states: tuple[str, ...], limit: int, as_json: bool, storage: str) -> None:
    """List tickets, the oldest first.

    Prints a line for each, separated by tabs: ticket, arm, probability, held, state.
    """
    print_tickets(opened(name, storage).tickets(states, limit), as_json, with_state=True)


def opened(name: str, storage: Any) -> Campaign:
    """Return a campaign of a storage."""
    from purse.campaign.campaign import Campaign

    return Campaign.open(name, storage=storage)


def number_of(ticket: str) -> int:
    """Return the number of a ticket."""
    if not (ticket.isdecimal() and len(ticket) < 19):
        raise invalid("ticket", ticket, "must be the number of a ticket")
    return int(ticket)


def print_tickets(
    found: Sequence[CampaignTicket], as_json: bool, *, with_state: bool = False
) -> None:
    """Print a line for each ticket."""
    if as_json:
        print_json({"tickets": [ticket.as_dict() for ticket in found]})
        return
    rows = []
    for ticket in found:
        words = [str(ticket.id), ticket.arm or "-", f"{ticket.probability:.4g}"]
        words.append(",".join(ticket.held))
        rows.append([*words, ticket.state] if with_state else words)
    head = ["ticket", "arm", "probability", "held", "state"]
    print_rows(head if with_state else head[:-1], rows, left=(1, 4))


def print_rows(
    head: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)
) -> None:
    """Print rows: aligned under a header on a terminal, else separated by tabs for programs."""
    if rows and sys.stdout.isatty():
        for cells in align_columns([head, *rows], left):
            click.echo("  ".join(cells).rstrip())
    else:
        for row in rows:
            click.echo("\t".join(row))


def print_receipt(receipt: Receipt) -> None:
    """Print a receipt for people."""
    parts = [
        f"ticket {receipt.ticket} {receipt.state}",
        *(f"{what} {','.join(getattr(receipt, what))}" for what in ("spent", "refunded")),
    ]
    if any(part != "0" for part in receipt.overrun):
        parts.append(f"overrun {','.join(receipt.overrun)}")
    marks = [mark for mark in ("duplicate", "late") if getattr(receipt, mark)]
    click.echo(", ".join(parts) + (f" ({', '.join(marks)})" if marks else ""))
