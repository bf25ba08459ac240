"""Verbs that change campaigns.

These are `purse campaign ask`, `tell`, `settle`, `reward`, `fail`, `void`, `top-up`, `pause`,
`resume`, `end` and `set-alerts`.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from purse.cli.campaign import arms, keep, labels, read, watch
from purse.cli.campaign.amounts import choosing, chosen, typed
from purse.cli.campaign.contexts import SEEING, context_of
from purse.cli.campaign.new import new
from purse.cli.options import campaign_argument, for_machines, stored
from purse.cli.output import print_json
from purse.cli.sections import Sections
from purse.errors import InvalidInput, PurseError, invalid

if TYPE_CHECKING:
    from purse.campaign.campaign import Campaign

BATCH = 1000  # reports in one transaction


@click.group(cls=Sections, with_codes=True)
def campaign() -> None:
    """Spend a real budget: ask for an arm, and tell its reward and cost.

    \b
    purse campaign new prompts --arm small=0.01 --arm large=0.05 --budget 25
    purse campaign ask prompts              ticket, arm, probability, held
    purse campaign ask prompts --arm small  only this arm may be chosen
    purse campaign tell prompts 1 --reward 0.93 --cost 0.0021
    purse campaign watch prompts
    """  # noqa: D301 - click reads the backspace as: keep these lines


@click.command()
@campaign_argument
@click.option(
    "-n",
    "count",
    type=int,
    default=1,
    show_default=True,
    help="Most tickets; fewer come where no more fit.",
)
@click.option(
    "--request",
    "request_id",
    metavar="ID",
    help="Name of this ask: a repeat returns the same tickets and holds nothing more.",
)
@choosing
@SEEING
@labels.LABELLED
@for_machines
@stored
def ask(
    name: str,
    count: int,
    request_id: str | None,
    names: tuple[str, ...],
    most: tuple[str, ...],
    contexts: tuple[str, ...],
    typed_labels: tuple[str, ...],
    as_json: bool,
    storage: str,
) -> None:
    """Ask which arm to pull, and hold the most that it may cost.

    Prints a line for each ticket, separated by tabs: ticket, arm, probability, held. A terminal
    gets a header, too.
    """
    from purse.base.progress import progress

    seen = [context_of(text) for text in contexts]
    wishes: dict[str, Any] = {
        "arms": chosen(names, most),
        "labels": labels.labels_of(typed_labels),
    }
    found = read.opened(name, storage)
    with progress("ask") as bar, bar.busy(waits_for(found)):
        if count == 1 and len(seen) < 2:
            context = seen[0] if seen else None
            tickets = [found.ask(request_id, context=context, **wishes)]
        else:
            tickets = found.ask_many(count, request_id, contexts=seen or None, **wishes)
    read.print_tickets(tickets, as_json)


@click.command()
@campaign_argument
@click.argument("ticket", metavar="TICKET|-")
@click.option("--reward", type=float, help="Reward, from 0 to 1 or in the campaign's range.")
@click.option("--cost", metavar="AMOUNT", help="True cost; for several resources as 0.01,500.")
@for_machines
@stored
def tell(
    name: str, ticket: str, reward: float | None, cost: str | None, as_json: bool, storage: str
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
    found = read.opened(name, storage)
    if ticket == "-":
        if reward is not None or cost is not None:
            raise InvalidInput("reward and cost are read from stdin where the ticket is -")
        reports = [
            report_of(number, line) for number, line in enumerate(sys.stdin, 1) if line.strip()
        ]
    elif reward is None or cost is None:
        raise InvalidInput(f"ticket {ticket}: give both --reward and --cost")
    else:
        reports = [(read.number_of(ticket), reward, typed("cost", cost, found))]
    send(found, reports, as_json)


def waits_for(found: Campaign) -> str:
    """Return what an ask may have to wait for."""
    terms = getattr(found, "terms", None)  # a server has the policy compiled
    return "the server answers" if terms is None else f"compiling {terms.policy}, once"


def report_of(number: int, line: str) -> tuple[int, Any, Any]:
    """Return the report on a line of stdin."""
    try:
        report = json.loads(line)
        ticket, reward, cost = (report.pop(field) for field in ("ticket", "reward", "cost"))
        if report or type(ticket) is not int:
            raise ValueError
    except (ValueError, KeyError, AttributeError, TypeError):
        raise invalid(
            f"stdin, line {number}",
            line.strip(),
            'must be like {"ticket": 17, "reward": 0.93, "cost": "0.0021"}',
        ) from None
    return ticket, reward, cost


def send(target: Campaign, reports: list[tuple[int, Any, Any]], as_json: bool) -> None:
    """Tell all reports; an error of one goes to stderr, and the exit code is 2."""
    answers = [
        answer
        for start in range(0, len(reports), BATCH)
        for answer in target.tell_many(reports[start : start + BATCH])
    ]
    for (ticket, *_), answer in zip(reports, answers, strict=True):
        if isinstance(answer, PurseError):
            click.echo(
                f"purse: {answer}"
                if f"ticket {ticket}" in str(answer)
                else f"purse: ticket {ticket}: {answer}",
                err=True,
            )
        elif not as_json:
            read.print_receipt(answer)
    if as_json:
        wrong = [
            {"ticket": ticket, "error": str(answer)}
            for (ticket, *_), answer in zip(reports, answers, strict=True)
            if isinstance(answer, PurseError)
        ]
        print_json(
            {
                "receipts": [
                    answer.as_dict() for answer in answers if not isinstance(answer, PurseError)
                ],
                "errors": wrong,
            }
        )
    if any(isinstance(answer, PurseError) for answer in answers):
        click.get_current_context().exit(2)


@click.command()
@campaign_argument
@click.argument("ticket")
@click.option("--cost", required=True, metavar="AMOUNT", help="True cost, as for tell.")
@stored
def settle(name: str, ticket: str, cost: str, storage: str) -> None:
    """Report the cost of a ticket whose reward comes later."""
    found = read.opened(name, storage)
    amount = typed("cost", cost, found)
    read.print_receipt(found.settle(read.number_of(ticket), amount))


@click.command()
@campaign_argument
@click.argument("ticket")
@click.option("--reward", "gained", type=float, required=True, help="Reward, as for tell.")
@stored
def reward(name: str, ticket: str, gained: float, storage: str) -> None:
    """Report the reward of a ticket, before or after its cost."""
    read.print_receipt(read.opened(name, storage).reward(read.number_of(ticket), gained))


@click.command()
@campaign_argument
@click.argument("ticket")
@click.option("--cost", default="0", metavar="AMOUNT", help="What it cost all the same.")
@click.option("--reason", default="", help="Reason, for people.")
@stored
def fail(name: str, ticket: str, cost: str, reason: str, storage: str) -> None:
    """Report that a call did not work: its cost is spent, and nothing is learnt."""
    found = read.opened(name, storage)
    amount = typed("cost", cost, found)
    read.print_receipt(found.fail(read.number_of(ticket), amount, reason))


@click.command()
@campaign_argument
@click.argument("ticket")
@stored
def void(name: str, ticket: str, storage: str) -> None:
    """Cancel a ticket for which nothing was spent, and release its hold."""
    read.print_receipt(read.opened(name, storage).void(read.number_of(ticket)))


@click.command("top-up")
@campaign_argument
@click.argument("amount")
@click.option(
    "--request",
    "request_id",
    metavar="ID",
    help="Name of this top-up: a repeat adds nothing more.",
)
@stored
def top_up(name: str, amount: str, request_id: str | None, storage: str) -> None:
    """Add an amount to the budget."""
    found = read.opened(name, storage)
    added = typed("amount", amount, found)
    click.echo(str(found.top_up(added, request_id)))


@click.command("set-alerts")
@campaign_argument
@click.argument("alerts", nargs=-1, metavar="[RULE]...")
@stored
def set_alerts(name: str, alerts: tuple[str, ...], storage: str) -> None:
    """Make events by these rules from now on: 80%, overrun, cooling-down, expired.

    Without a rule, all alerts end. `purse webhook run` tells others.
    """
    click.echo(str(read.opened(name, storage).set_alerts(list(alerts))))


def switch(verb: str, text: str) -> click.Command:
    """Return a verb that changes whether a campaign issues tickets."""

    @click.command(verb, help=text)
    @campaign_argument
    @stored
    def change(name: str, storage: str) -> None:
        click.echo(str(getattr(read.opened(name, storage), verb)()))

    return change


campaign.add_sections(
    {
        "Spend": [new, ask, tell, settle, reward, fail, void],
        "Look": [
            read.status,
            read.listed,
            read.tickets,
            labels.labels,
            arms.probabilities,
            watch.watch,
        ],
        "Steer": [
            top_up,
            switch("pause", "Issue no tickets until the campaign is resumed; reports count."),
            switch("resume", "Issue tickets again."),
            switch("end", "Issue no tickets from now on; reports are accepted."),
            arms.add_arm,
            arms.retire_arm,
            arms.set_arm,
            set_alerts,
        ],
        "Keep and check": [keep.export, keep.restore, keep.audit],
    }
)
