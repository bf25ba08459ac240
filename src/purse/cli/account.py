"""`purse account ...`: one purse for many campaigns."""

from __future__ import annotations

import click

from purse.cli.sections import Commands, Late


def _made() -> Commands:
    """Return the commands."""
    from purse.campaign.account import Account
    from purse.cli import budgets
    from purse.cli.made import command

    new = command(Account, "create", "new")
    keep = [budgets.export(Account), command(Account, "audit")]
    return budgets.sections(Account, {budgets.SPEND: [new], budgets.KEEP: keep})


@click.group(cls=Late, with_codes=True, make=_made)
def account() -> None:
    """Share a budget: one account for many campaigns, and for accounts below it.

    \b
    purse account new company --budget 1000 --resource USD
    purse account new team-a --budget 300 --account company
    purse campaign new prompts --account team-a --budget 100 \\
        --arm small=0.01 --arm large=0.05
    purse account status company         what is left on each level
    """  # noqa: D301 - click reads the backspace as: keep these lines
