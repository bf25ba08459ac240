"""The verbs of `purse campaign` that are more than a call of the library."""

import json
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from purse.base import exit_codes
from purse.campaign.api.kinds import Report, ValueKind, amounts, number, pair
from purse.campaign.api.results import CampaignTicket, Status
from purse.campaign.api.verb import arguments_of
from purse.campaign.campaign import Campaign
from purse.cli import budgets, reconcile
from purse.cli.made import OF, command, content, opened, read
from purse.cli.options import (
    PATH,
    complete_accounts,
    complete_campaigns,
    for_machines,
    option,
    stored,
)
from purse.cli.output import print_json
from purse.cli.show import SUMS, print_csv, show_receipt
from purse.cli.watch import watch
from purse.errors import InvalidInput, PurseError, invalid


def commands() -> dict[str, list[click.Command]]:
    """Return the commands by section."""
    costs = ("cost_min", "cost_ceiling")
    own = {name: ValueKind({}, _cost, "COST|NAME=COST", name) for name in costs}
    new = command(Campaign, "create", "new", call=_create, own=own)
    ask = command(Campaign, "_ask", call=_ask_for, columns="asked", without=["context"])
    limit = command(
        Campaign,
        "set_limit",
        call=_set_limit,
        own={
            "key": ValueKind({}, lambda text: text.partition("=")[::2], "KEY[=VALUE]"),
            "amount": ValueKind(
                {}, lambda text: None if text == "none" else amounts(text), "AMOUNT|none"
            ),
        },
        without=["value"],
        alone=2,
    )
    audit = command(Campaign, "audit", own={"acknowledged": ValueKind({}, _numbers, "FILE")})
    without = click.Option(
        ["--without-contexts"],
        is_flag=True,
        help="Leave out the contexts of asks, to share the journal; it can then be restored only "
        "if the policy does not see contexts.",
    )
    names = ("tickets", "probabilities")
    by_hand = {
        budgets.SPEND: [new, ask, tell],
        budgets.STEER: [limit],
        budgets.LOOK: [*(command(Campaign, name) for name in names), watch, _labels()],
        budgets.KEEP: [
            budgets.export(Campaign, without),
            restore,
            audit,
            reconcile.command(Campaign),
        ],
    }
    return budgets.sections(Campaign, by_hand)


def _create(
    *, arms: Mapping[str, Any], cost_min: Any = None, cost_ceiling: Any = None, **terms: Any
) -> Campaign:
    """Create a campaign, and say what a pull is taken to cost if it was not typed."""
    campaign = Campaign.create(
        arms=arms,
        cost_min=_spread(cost_min, arms, {}),
        cost_ceiling=_spread(cost_ceiling, arms, arms),
        **terms,
    )
    from purse.campaign.terms.terms import Terms, texts

    with suppress(PurseError):  # later terms, or a policy file, that only the server knows
        made = Terms.from_dict(next(campaign.journal()).body)
        minima = zip(made.arms, texts(made.cost_min), strict=True)
        shown = ", ".join(f"{arm} {','.join(costs)}" for arm, costs in minima)
        if cost_min is None:
            click.echo(
                f"A pull is taken to cost at least: {shown} (--cost-min changes it)", err=True
            )
        if advice := made.advice():
            click.echo(advice, err=True)
    return campaign


def _set_limit(campaign: Campaign, key: tuple[str, str], amount: Any) -> Status:
    """Set the limit of a key, or of the value after it."""
    return campaign.set_limit(key[0], amount, value=key[1] or None)


def _labels() -> click.Command:
    """Return the command `labels`, which prints CSV, too."""
    plain = command(Campaign, "labels")
    show = plain.callback
    assert show is not None

    def run(as_csv: bool, **typed: Any) -> None:
        if not as_csv:
            show(**typed)
            return
        if typed.pop("as_json"):
            raise InvalidInput("give either --csv or --json")
        campaign = opened(Campaign, typed.pop(OF), typed.pop("storage"))
        arguments = read(arguments_of(Campaign.labels), typed)
        names = [purse.resource for purse in campaign.status().purses]
        days = ["day"] if "by" in arguments else []
        rows = list[list[Any]]()
        for one in campaign.labels(**arguments):
            head = [one.day, one.key, one.value][1 - len(days) :]
            for index, name in enumerate(names):
                sums = [getattr(one, amounts)[index] for amounts in SUMS]
                rows.append([*head, name, one.tickets, *sums])
        print_csv([*days, "key", "value", "resource", "tickets", *SUMS], rows)

    plain.callback = run
    words = "Print CSV: a row for each label and resource, under a header."
    plain.params.append(click.Option(["--csv", "as_csv"], is_flag=True, help=words))
    return plain


def _cost(text: str) -> tuple[str, Any]:
    """Return an arm and its cost; without a name, that of all arms."""
    return pair(text) if "=" in text else ("", amounts(text))


def _spread(
    costs: list[tuple[str, Any]] | None, arms: Iterable[str], others: Mapping[str, Any]
) -> Any:
    """Return the cost of all arms, or of each, as it was typed.

    others   the costs of arms that are not named
    """
    match costs:
        case None:
            return None
        case [("", str(amount))]:
            return amount
    for name, amount in costs:
        others = {**others, name: amount} if name else dict.fromkeys(arms, amount)
    return others


def _ask_for(
    campaign: Campaign, n: Any = 1, contexts: list[Any] | None = None, **options: Any
) -> list[CampaignTicket]:
    """Ask for tickets, and say what an ask may have to wait for."""
    from purse.base.progress import progress

    with progress("waiting for the campaign's storage, or its server"):
        if n == 1 and (contexts is None or len(contexts) == 1):
            return [campaign.ask(context=contexts[0] if contexts else None, **options)]
        return campaign.ask_many(n, contexts=contexts, **options)


@click.command()
@click.argument("file", type=PATH)
@option("--name", "Name of the new campaign [default: the name in the journal].")
@option(
    "--account NAME",
    "Account above the new campaign, into which its totals must fit [default: none].",
    shell_complete=complete_accounts,
)
@stored
def restore(file: Path, name: str | None, account: str | None, storage: str) -> None:
    """Create a campaign from an exported journal.

    The new campaign has an id of its own, so that nothing meant for the old one reaches it.
    """
    campaign = Campaign.restore(file, storage=storage, name=name, account=account)
    click.echo(str(campaign.status()))


def _numbers(path: str) -> list[Any]:
    return [number(line.strip()) for line in content(path).splitlines() if line.strip()]


@for_machines
@stored
@click.command()
@click.argument("of", metavar="NAME", shell_complete=complete_campaigns)
@click.argument("ticket", metavar="TICKET|-")
@option("--reward REWARD", "Reward, from 0 to 1 or in the campaign's range.")
@option("--cost AMOUNT", "True cost; for several resources as 0.01,500.")
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
        reports = [_report_of(number, line) for number, line in lines if line.strip()]
    elif reward is None or cost is None:
        raise InvalidInput(f"ticket {ticket}: give both --reward and --cost")
    else:
        reports = [Report(number(ticket), number(reward), amounts(cost))]
    answers = opened(Campaign, of, storage).tell_many(reports)
    _show_answers(reports, answers, as_json)


def _report_of(number: int, line: str) -> Report:
    try:
        report = Report(**json.loads(line))
        if type(report.ticket) is not int:
            raise ValueError
    except (ValueError, TypeError):
        raise invalid(
            f"stdin, line {number}",
            line.strip(),
            'must be like {"ticket": 17, "reward": 0.93, "cost": "0.0021"}',
        ) from None
    return report


def _show_answers(reports: list[Report], answers: list[Any], as_json: bool) -> None:
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
        right = [one.as_dict() for one in answers if not isinstance(one, PurseError)]
        print_json({"receipts": right, "errors": wrong})
    if wrong:
        click.get_current_context().exit(exit_codes.MISTAKE)
