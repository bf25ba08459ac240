"""Verbs that keep and check the journals of campaigns.

These are `purse campaign export`, `restore` and `audit`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from purse.cli import complete
from purse.cli.campaign.read import number_of, opened
from purse.cli.options import campaign_argument, for_machines, stored
from purse.cli.output import print_json
from purse.errors import invalid

if TYPE_CHECKING:
    from purse.campaign.results import Audit

FILE = click.Path(path_type=Path)


@click.command()
@campaign_argument
@click.option(
    "-o",
    "--out",
    type=FILE,
    help="File, written whole or not at all [default: stdout].",
)
@click.option(
    "--without-contexts",
    is_flag=True,
    help="Leave out the contexts of asks, to share the journal; it can then be restored only where "
    "the policy does not see contexts.",
)
@stored
def export(name: str, out: Path | None, without_contexts: bool, storage: str) -> None:
    """Write the journal as JSON lines."""
    source = opened(name, storage)
    count = source.export(sys.stdout if out is None else out, contexts=not without_contexts)
    if out is not None:
        click.echo(f"{count} entries written to {out}", err=True)


@click.command()
@click.argument("file", type=FILE)
@click.option("--name", help="Name of the new campaign [default: the name in the journal].")
@click.option(
    "--account",
    metavar="NAME",
    shell_complete=complete.accounts,
    help="Account above the new campaign, into which its totals must fit [default: none].",
)
@stored
def restore(file: Path, name: str | None, account: str | None, storage: str) -> None:
    """Create a campaign from an exported journal.

    The new campaign has an id of its own, so that nothing meant for the old one reaches it.
    """
    from purse.campaign.campaign import Campaign

    made = Campaign.restore(file, storage=storage, name=name, account=account)
    click.echo(str(made.status()))


@click.command()
@campaign_argument
@click.option(
    "--full",
    is_flag=True,
    help="Begin at the first entry and compare every ticket [default: begin at the last audit].",
)
@click.option(
    "--acknowledged",
    type=click.File(),
    help="File with the ids of tickets whose reports were acknowledged, one in each line.",
)
@click.option(
    "--noted",
    metavar="ENTRIES:DIGEST",
    help="Length and digest of the journal that an earlier status showed.",
)
@for_machines
@stored
def audit(
    name: str,
    full: bool,
    acknowledged: IO[str] | None,
    noted: str | None,
    as_json: bool,
    storage: str,
) -> None:
    """Check a campaign against its journal.

    Folds the journal from the end of the last audit that found nothing, and compares balances,
    counts, tickets, digest, choices and the policy's state with it. Exits with 1 where something
    differs.
    """
    found = opened(name, storage).audit(
        full=full,
        acknowledged=[number_of(line.strip()) for line in acknowledged or () if line.strip()],
        noted=None if noted is None else parse_noted(noted),
    )
    print_audit(name, found, as_json)


def print_audit(name: str, found: Audit, as_json: bool) -> None:
    """Print what an audit found, and exit with 1 where something differs."""
    if as_json:
        print_json(
            {
                "ok": found.ok,
                "entries": found.entries,
                "after": found.after,
                "notes": list(found.notes),
                "findings": found.findings,
                "digest": found.digest,
            }
        )
    else:
        for line in (*found.notes, *found.findings):
            click.echo(line)
        verdict = "all agree with the journal" if found.ok else f"{len(found.findings)} findings"
        earlier = f" ({found.after} of them checked by an earlier audit)" if found.after else ""
        click.echo(f"{name}: {found.entries} entries{earlier}, {verdict}; digest {found.digest}")
    if not found.ok:
        click.get_current_context().exit(1)


def parse_noted(text: str) -> tuple[int, str]:
    """Return a number of entries and a digest."""
    entries, _, digest = text.partition(":")
    if not (entries.isdecimal() and len(entries) < 19 and digest):
        raise invalid("noted", text, "must be a number of entries, a colon and a digest")
    return int(entries), digest
