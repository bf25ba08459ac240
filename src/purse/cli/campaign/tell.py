"""`purse campaign tell`: one report, or many from stdin."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from purse.base import exit_codes
from purse.campaign.campaign import Campaign
from purse.campaign.kinds import Report, amounts, number
from purse.cli import complete
from purse.cli.made import opened
from purse.cli.options import for_machines, stored
from purse.cli.output import print_json
from purse.cli.show import show_receipt
from purse.errors import InvalidInput, PurseError, invalid


@for_machines
@stored
@click.command()
@click.argument("of", metavar="NAME", shell_complete=complete.campaigns)
@click.argument("ticket", metavar="TICKET|-")
@click.option("--reward", metavar="REWARD", help="Reward, from 0 to 1 or in the campaign's range.")
@click.option("--cost", metavar="AMOUNT", help="True cost; for several resources as 0.01,500.")
def tell(
    of: str, ticket: str, reward: str | None, cost: str | None, as_json: bool, storage: str
) -> None:
    """Report the reward and the cost of a ticket.

    With - in place of the ticket, reports are read from stdin, a JSON object on each line. Each
    report stands alone: an error in one is printed, and the others count. A thousand reports take
    about as long as one.

    \b
    purse campaign tell prompts 17 --reward 0.93 --cost 0.0021
    purse campaign tell prompts - < reports.jsonl
    echo '{"ticket": 17, "reward": 0.93, "cost": "0.0021"}' \\
        | purse campaign tell prompts -
    """  # noqa: D301 - click reads the backspace as: keep these lines
    if ticket == "-":
        if reward is not None or cost is not None:
            raise InvalidInput("reward and cost are read from stdin if the ticket is -")
        lines = enumerate(sys.stdin, 1)
        reports = [report_of(place, line) for place, line in lines if line.strip()]
    elif reward is None or cost is None:
        raise InvalidInput(f"ticket {ticket}: give both --reward and --cost")
    else:
        reports = [Report(number(ticket), number(reward), amounts(cost))]
    answers = opened(Campaign, of, storage).tell_many(reports)
    show_answers(reports, answers, as_json)


def report_of(place: int, line: str) -> Report:
    """Return the report on a line of stdin."""
    try:
        report = Report(**json.loads(line))
        if type(report.ticket) is not int:
            raise ValueError
    except (ValueError, TypeError):
        raise invalid(
            f"stdin, line {place}",
            line.strip(),
            'must be like {"ticket": 17, "reward": 0.93, "cost": "0.0021"}',
        ) from None
    return report


def show_answers(reports: list[Report], answers: list[Any], as_json: bool) -> None:
    """Print receipts; an error of one report goes to stderr, and the exit code is 2."""
    wrong = []
    for report, answer in zip(reports, answers, strict=True):
        if isinstance(answer, PurseError):
            wrong.append({"ticket": report.ticket, "error": str(answer)})
            whose = "" if "ticket" in str(answer) else f"ticket {report.ticket}: "
            click.echo(f"purse: {whose}{answer}", err=True)
        elif not as_json:
            show_receipt(answer)
    if as_json:
        right = [each.as_dict() for each in answers if not isinstance(each, PurseError)]
        print_json({"receipts": right, "errors": wrong})
    if wrong:
        click.get_current_context().exit(exit_codes.MISTAKE)
