"""Verbs for arms that come and go.

These are `purse campaign add-arm`, `retire-arm`, `set-arm` and `probabilities`.
"""

from __future__ import annotations

from typing import Any

import click

from purse.cli.campaign import read
from purse.cli.campaign.amounts import choosing, chosen, listed
from purse.cli.campaign.contexts import SEEING, context_of
from purse.cli.options import campaign_argument, for_machines, stored
from purse.cli.output import print_json
from purse.errors import InvalidInput, invalid


@click.command("add-arm")
@campaign_argument
@click.argument("arm")
@click.option(
    "--cost-min",
    metavar="AMOUNT",
    help="Least that a pull costs [default: the least of all arms; of a retired arm as before].",
)
@click.option(
    "--cost-max",
    metavar="AMOUNT",
    help="Most that a pull costs [default: the ceiling; of a retired arm as before].",
)
@stored
def add_arm(name: str, arm: str, cost_min: str | None, cost_max: str | None, storage: str) -> None:
    """Add an arm, or take back a retired one with all that was learnt of it.

    The campaign needs a free place: see --capacity of `purse campaign new`.
    """
    found = read.opened(name, storage)
    click.echo(str(found.add_arm(arm, cost_min=given(cost_min), cost_max=given(cost_max))))


@click.command("retire-arm")
@campaign_argument
@click.argument("arm")
@stored
def retire_arm(name: str, arm: str, storage: str) -> None:
    """Choose an arm no more; its open tickets are told as usual."""
    click.echo(str(read.opened(name, storage).retire_arm(arm)))


@click.command("set-arm")
@campaign_argument
@click.argument("arm")
@click.option("--cost-min", metavar="AMOUNT", help="Least that a pull costs [default: as before].")
@click.option("--cost-max", metavar="AMOUNT", help="Most that a pull costs [default: as before].")
@stored
def set_arm(name: str, arm: str, cost_min: str | None, cost_max: str | None, storage: str) -> None:
    """Change what an arm may cost, from the next ask on.

    The costs stay between the --cost-min and the --cost-ceiling that the campaign was created with.
    """
    if cost_min is None and cost_max is None:
        raise InvalidInput(f"arm {arm!r}: give --cost-min, --cost-max or both")
    found = read.opened(name, storage)
    click.echo(str(found.set_arm(arm, cost_min=given(cost_min), cost_max=given(cost_max))))


def given(text: str | None) -> Any:
    """Return an amount, or several between commas; None where there is none."""
    return None if text is None else listed(text)


@click.command()
@campaign_argument
@choosing
@SEEING
@for_machines
@stored
def probabilities(
    name: str,
    names: tuple[str, ...],
    most: tuple[str, ...],
    contexts: tuple[str, ...],
    as_json: bool,
    storage: str,
) -> None:
    """Print the probability of each arm in the next round.

    Prints a line for each arm, separated by tabs: arm, probability.
    """
    if len(contexts) > 1:
        raise invalid("context", list(contexts), "must be one")
    context = context_of(contexts[0]) if contexts else None
    found = read.opened(name, storage).probabilities(chosen(names, most), context)
    if as_json:
        print_json({"probabilities": found})
        return
    rows = [[arm, f"{chance:.4g}"] for arm, chance in found.items()]
    read.print_rows(["arm", "probability"], rows)
