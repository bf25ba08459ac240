"""The group `purse storage`: what is done to a file or a database as a whole."""

import time

import click

from purse.base.text import count
from purse.cli.options import option, refuse_server, stored


@click.group()
def storage() -> None:
    """Look after a file or a database with all that is in it."""


@storage.command()
@stored
@option("--dry-run", "Say what would change, and change nothing.", is_flag=True)
def migrate(storage: str, dry_run: bool) -> None:
    """Bring a storage of an earlier version to this one, with its campaigns.

    All of it changes in one transaction, or nothing does; others wait meanwhile, and processes of
    the earlier version are refused afterwards. A policy whose rule has changed learns again from
    the reports and takes over.
    """
    from purse.campaign.run import local_level, upgrade
    from purse.campaign.storage.schema import VERSION

    refuse_server(storage)
    plan = upgrade.plan(storage)
    is_old = plan.version != VERSION
    what = f"{count(plan.levels, 'budget')} with {count(plan.entries, 'entry', 'entries')}"
    if dry_run:
        after = f"would have version {VERSION} in about {count(plan.seconds, 'second')}"
        click.echo(f"tables of version {plan.version} {after if is_old else 'stay'}: {what}")
        for text in plan.said:
            click.echo(text)
        return
    begun = time.monotonic()
    said = upgrade.upgrade(storage)
    said += local_level.hand_over_all(local_level.connect_storage(storage))
    for text in dict.fromkeys(said):
        click.echo(text)
    took = f"after {time.monotonic() - begun:.1f} s" if is_old else "as before"
    click.echo(f"tables have version {VERSION} {took}: {what}")
    if is_old:
        click.echo("digests that were noted before may match no more: note them again")
