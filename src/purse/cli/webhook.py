"""Verbs of webhooks: `purse webhook add | list | remove | deliver`."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import click

from purse.cli.campaign.read import print_rows
from purse.cli.options import campaign_argument, for_machines, stored
from purse.cli.output import print_json
from purse.errors import NoSuchCampaign, invalid

if TYPE_CHECKING:
    from purse.campaign.verbs.webhooks import WebhookVerbs


@click.group()
def webhook() -> None:
    """Tell other systems of events: budgets that run out, overruns, arms that fail."""


def opened(name: str, storage: str) -> WebhookVerbs:
    """Open a campaign or, where there is none of this name, an account."""
    from purse.campaign.account.account import Account
    from purse.campaign.campaign import Campaign

    try:
        return Campaign.open(name, storage=storage)
    except NoSuchCampaign:
        if name not in Account.names(storage=storage):
            raise
        return Account.open(name, storage=storage)


@webhook.command()
@campaign_argument
@click.argument("url")
@click.option(
    "--secret",
    envvar="PURSE_WEBHOOK_SECRET",
    show_envvar=True,
    metavar="SECRET",
    help="whsec_ and 24 to 64 bytes in base64 [default: a new one].",
)
@for_machines
@stored
def add(name: str, url: str, secret: str | None, as_json: bool, storage: str) -> None:
    """Send events from now on to an address, and print its id and secret.

    NAME is that of a campaign or an account. Where URL is -, the address is read from stdin, so
    that it stands in no list of processes. The secret is printed once: the receiver checks
    signatures with it.
    """
    made = opened(name, storage).add_webhook(
        sys.stdin.readline().strip() if url == "-" else url, secret
    )
    if as_json:
        print_json(made.as_dict())
        return
    click.echo(f"{made.id}\t{made.host}\t{made.secret}")
    click.echo("keep the secret, it is not shown again", err=True)


@webhook.command("list")
@campaign_argument
@for_machines
@stored
def list_webhooks(name: str, as_json: bool, storage: str) -> None:
    """List the webhooks of a campaign or an account, and how their deliveries stand."""
    found = opened(name, storage).webhooks()
    if as_json:
        print_json({"webhooks": [each.as_dict() for each in found]})
        return
    columns = ["id", "host", "waiting", "delivered", "failed", "skipped", "error"]
    print_rows(columns, [[str(getattr(each, word)) for word in columns] for each in found])


@webhook.command()
@campaign_argument
@click.argument("id")
@stored
def remove(name: str, id: str, storage: str) -> None:
    """Send nothing more to an address; what waits for it is dropped."""
    if not opened(name, storage).remove_webhook(id):
        raise invalid("id", id, f"is not a webhook of {name!r}; `purse webhook list` shows them")
    click.echo(f"{name}: webhook {id} is removed")


@webhook.command()
@click.option("--forever", is_flag=True, help="Go on until SIGTERM or Ctrl-C.")
@click.option(
    "--allow-private",
    is_flag=True,
    help="Send to this machine and to private networks, too, and over http.",
)
@stored
def deliver(forever: bool, allow_private: bool, storage: str) -> None:
    """Deliver the events that wait, of all campaigns and accounts of a storage.

    `purse serve` does so by itself. Any number of both may run at once.
    """
    from purse.campaign.storage.connect import connect
    from purse.campaign.webhooks.deliverer import Deliverer
    from purse.campaign.webhooks.sending import Sender

    kept = connect(storage, create=False)
    deliverer = Deliverer(kept, Sender(allow_private=allow_private))
    if forever:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: deliverer.stop())
    tried = deliverer.run(forever=forever)
    kept.close()
    click.echo(f"{tried} messages tried")
