"""`purse campaign ...`: a budget, its tickets, and the policy that chooses the arms."""

from __future__ import annotations

import click

from purse.cli.sections import Commands, Late


def made() -> Commands:
    """Return the commands."""
    from purse.cli.campaign.verbs import commands

    return commands()


@click.group(cls=Late, with_codes=True, make=made)
def campaign() -> None:
    """Spend a real budget: ask for an arm, and tell its reward and cost.

    \b
    purse campaign new prompts --arm small=0.01 --arm large=0.05 --budget 25
    purse campaign ask prompts              ticket, arm, probability, held
    purse campaign ask prompts --arm small  only this arm may be chosen
    purse campaign tell prompts 1 --reward 0.93 --cost 0.0021
    purse campaign watch prompts
    """  # noqa: D301 - click reads the backspace as: keep these lines
