"""Labels as they are typed, and `purse campaign labels`."""

from __future__ import annotations

import click

from purse.cli.campaign import read
from purse.cli.options import campaign_argument, for_machines, stored
from purse.cli.output import print_json
from purse.errors import invalid

LABELLED = click.option(
    "--label",
    "typed_labels",
    multiple=True,
    metavar="KEY=VALUE",
    help="What the call is for, such as tenant=acme; repeat it for several. It stays in the "
    "journal.",
)


def labels_of(texts: tuple[str, ...]) -> dict[str, str] | None:
    """Return labels from KEY=VALUE; None where there are none. The library checks them."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals) or key in found:
            raise invalid("label", text, "must be KEY=VALUE, such as tenant=acme, each key once")
        found[key] = value
    return found or None


@click.command()
@campaign_argument
@click.option("--key", help="Only labels with this key.")
@click.option(
    "--limit", type=int, default=100, show_default=True, metavar="N", help="Print N at most."
)
@for_machines
@stored
def labels(name: str, key: str | None, limit: int, as_json: bool, storage: str) -> None:
    """Print the labels of asks on which most was spent, the largest first.

    Prints a line for each value, separated by tabs: key, value, tickets, spent, held, presumed,
    overrun.
    """
    found = read.opened(name, storage).labels(key, limit)
    if as_json:
        print_json({"labels": [each.as_dict() for each in found]})
        return
    words = ("spent", "held", "presumed", "overrun")
    rows = [
        [each.key, each.value, str(each.tickets)]
        + [",".join(getattr(each, word)) for word in words]
        for each in found
    ]
    read.print_rows(["key", "value", "tickets", *words], rows, left=(0, 1))
    if not found:
        what = "a label" if key is None else f"a label {key}"
        click.echo(f"No ask of {name} had {what}; `purse campaign ask --label` gives one", err=True)
