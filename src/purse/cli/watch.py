"""`purse campaign watch`: a live view of a campaign in the terminal.

Without a terminal, it prints a line for each change.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from purse.base.text import count, format_digits, format_time
from purse.campaign.api.results import in_period, state_text
from purse.campaign.api.states import OPEN
from purse.campaign.campaign import Campaign
from purse.cli.options import complete_campaigns, option, stored
from purse.client.server import Server
from purse.errors import PurseError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from purse.campaign.api.results import BalanceStatus, CampaignTicket, Status

_EVERY = 1.0  # seconds
_SHOWN = 8  # open tickets
_BAR = 60  # characters
_PARTS = (
    ("spent", "green", "█"),
    ("held", "yellow", "▓"),
    ("presumed", "magenta", "▒"),
    ("left", "dim", "░"),
)


@click.command()
@click.argument("name", shell_complete=complete_campaigns)
@option("--once", "Print the view once and exit.", is_flag=True)
@stored
def watch(name: str, once: bool, storage: str) -> None:
    """Watch a campaign in the terminal.

    Shows the budget, arms, open tickets, alarms, and when the budget runs out. It only reads, and
    Ctrl-C ends it. If the output is no terminal, it prints a line for each change.
    """
    from rich.console import Console
    from rich.live import Live

    if Server.at(storage, None):
        raise PurseError(
            "`watch` needs the database's own address; the dashboard of the server shows the same"
        )
    pictures = _changes(Campaign.open(name, storage=storage))
    console = Console(highlight=False)
    with suppress(KeyboardInterrupt):
        if once:
            console.print(_view(*next(pictures)))
        elif not console.is_terminal:
            last = 0
            for status, history, _, _ in pictures:
                if history["seq"] > last:
                    click.echo(_line(status, history))
                    last = history["seq"]
        else:
            with Live(console=console, auto_refresh=False) as live:
                for picture in pictures:
                    live.update(_view(*picture), refresh=True)


def _changes(
    campaign: Campaign,
) -> Iterator[tuple[Status, dict[str, Any], list[CampaignTicket], float]]:
    """Yield status, history, oldest open tickets and the time of a campaign, once a second."""
    from purse.campaign.views.history import FollowedHistory

    followed = FollowedHistory(campaign.terms, campaign.storage)
    while True:
        history, status = followed.follow(), campaign.status()
        now = campaign.storage.now()
        facts = history.as_dict(now, state=status.status)
        yield status, facts, campaign.tickets(limit=_SHOWN), now / 1000
        time.sleep(_EVERY)


def _line(status: Status, history: dict[str, Any]) -> str:
    purses = ", ".join(
        f"{purse.resource} spent {purse.spent} held {purse.held} presumed "
        f"{purse.presumed} left {purse.left} overrun {purse.overrun}"
        for purse in status.purses
    )
    pulls = ", ".join(f"{arm['arm']} {arm['pulls']}" for arm in history["arms"])
    alarms = "".join(f"; ! {alarm}" for alarm in status.alarms)
    return f"{history['seq']} {state_text(status)}: {purses}; pulls {pulls}{alarms}"


def _view(
    status: Status, history: dict[str, Any], tickets: list[CampaignTicket], now: float
) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    rounds = f"round {status.rounds:,}" + status.of_horizon
    rates = f"{history['rates']['asks']:.3g} asks/s, {history['rates']['tells']:.3g} tells/s"
    head = Text.assemble(
        (status.name, "bold"), f"  {state_text(status)}, {status.policy}, {rounds}, {rates}"
    )
    parts: list[RenderableType] = [head]
    purses = in_period(status.purses, status.period)
    for purse, past in zip(purses, history["purses"], strict=True):
        parts += [_bar(purse), Text(f"  {_runs_out(past['projection'])}")]
    parts += [Text(f"period {status.period}")] if status.period else []
    parts += [Text(f"forecast: {status.forecast_words}")] if status.forecast else []
    parts += [_arm_table(status, history), _open_tickets(status, tickets, now)]
    parts += [Text(f"! {alarm}", "bold red") for alarm in status.alarms]
    return Group(*parts)


def _bar(purse: BalanceStatus) -> Text:
    from rich.text import Text

    budget = float(purse.budget)
    text, done, end = Text(), 0, 0.0
    for part, style, mark in _PARTS:
        end += float(getattr(purse, part))
        width = round(_BAR * min(1.0, end / budget if budget else 1.0)) - done
        text.append(mark * width, style)
        done += width
    text.append(f"  {purse.budget} {purse.resource}\n ")
    for part, style, mark in _PARTS:
        text.append(f" {mark} ", style).append(f"{part} {getattr(purse, part)} ")
    return text.append(f"  overrun {purse.overrun}", "bold red") if purse.overrun != "0" else text


def _runs_out(projection: dict[str, float] | None) -> str:
    """Return when the budget runs out at the present rate of spending."""
    if projection is None:
        return "nothing was spent recently"
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(projection["at"]))
    lasts = format_time(projection["seconds"])
    speed = format_digits(projection["per_second"] * 3600)
    return f"at {speed} an hour it lasts {lasts}, until {at}"


def _arm_table(status: Status, history: dict[str, Any]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    costs = [f"{purse.resource} a pull" for purse in status.purses]
    titles = ["arm", "pulls", "reward", *costs, "efficiency", "95%", "share"]
    for number, title in enumerate(titles):
        table.add_column(title, justify="right" if number else "left", no_wrap=True)
    marks = dict.fromkeys(status.retired, " (retired)")
    marks |= {arm.arm: " (cooling down)" for arm in status.cooling}
    for arm in history["arms"]:
        means = arm["mean_costs"] or [None] * len(status.purses)
        span = " … ".join(map(format_digits, arm["interval"] or ()))
        numbers = [
            "" if value is None else format_digits(value)
            for value in (arm["mean_reward"], *means, arm["efficiency"])
        ]
        label = Text(arm["arm"] + marks.get(arm["arm"], ""))  # a name is no markup
        table.add_row(label, f"{arm['pulls']:,}", *numbers, span, f"{arm['share']:.0%}")
    return table


def _open_tickets(status: Status, tickets: list[CampaignTicket], now: float) -> Text:
    from rich.text import Text

    number = sum(status.counts[state] for state in OPEN)
    text = Text(count(number, "open ticket") + (":" if tickets else ""))
    for ticket in tickets:
        text.append(
            f"\n  {ticket.id}  {ticket.arm}  {', '.join(ticket.held)} "
            f"{ticket.state}, {format_time(now - ticket.asked_at)} old"
        )
    return text.append("\n  …") if number > len(tickets) else text
