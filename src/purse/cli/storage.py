"""The group `purse storage`: what is done to a file or a database as a whole."""

import time
from pathlib import Path

import click

from purse.base.text import count
from purse.campaign.campaign import Campaign
from purse.cli.made import OF, name_of
from purse.cli.options import PATH, option, refuse_server, stored
from purse.cli.show import show
from purse.errors import invalid


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


@storage.command()
@stored
@option("--before DAY", "First day (UTC) whose entries stay, such as 2027-01-01.", required=True)
@option("--archives FOLDER", "Folder of the archives.", type=PATH, required=True)
def seal(storage: str, before: str, archives: Path) -> None:
    """Move entries before a day into archives, and keep what they came to.

    Each account or campaign that is below no other is audited first, with all below it, and gets
    one archive. Entries about open tickets stay. Tickets that are finished take no report any
    more, and request ids of before can be used again.
    """
    from purse.campaign.run.local_level import connect_storage
    from purse.campaign.run.seal import seal_all

    refuse_server(storage)
    opened = connect_storage(storage)
    for sealed in seal_all(opened, before, archives):
        entries = count(sealed.entries, "entry", "entries")
        click.echo(f"{sealed.name}: {entries} sealed, and archived in {sealed.archive}")
    if left := opened.db.shrink():
        click.echo(left, err=True)


@storage.command(params=[name_of(Campaign)])
@stored
@option(
    "--archive FILE",
    "Archive; repeat it for all of them, the oldest first.",
    type=PATH,
    multiple=True,
)
def audit(storage: str, archive: tuple[Path, ...], **typed: str) -> None:
    """Audit a campaign from its first entry on, with what was sealed of it."""
    from purse.campaign.run.local_level import connect_storage
    from purse.campaign.run.seal import audit_with

    refuse_server(storage)
    show(audit_with(connect_storage(storage), typed[OF], archive), as_json=False)


@storage.command()
@stored
@option("--label KEY=VALUE", "Value of a label, such as user=ada.", required=True)
@option("--archive FILE", "Archive of a seal; repeat it for all.", type=PATH, multiple=True)
@option("--pseudonym NAME", "Of an earlier run, for an archive that it was not given.")
def forget(storage: str, label: str, archive: tuple[Path, ...], pseudonym: str | None) -> None:
    """Forget a value of a label, such as a person, in all campaigns.

    A pseudonym takes its place, and contexts and notes beside it go; sums and money stay. Archives
    that are given are rewritten, and the tables are written anew in the end.
    """
    from purse.campaign.run.forget import forget
    from purse.campaign.run.local_level import connect_storage

    refuse_server(storage)
    key, equals, value = label.partition("=")
    if not equals:
        raise invalid("label", label, "must be KEY=VALUE, such as user=ada")
    done = forget(connect_storage(storage), key, value, archive, pseudonym)
    for place, number in done.entries.items():
        click.echo(f"{place}: {count(number, 'entry', 'entries')} forgotten")
    click.echo(f"the value is {done.pseudonym} now")
    for rest in done.rest:
        click.echo(f"it may still be in {rest}", err=True)
