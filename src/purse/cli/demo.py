"""`purse demo`: calls of three made-up models under a real budget, with an outage amid them."""

import random
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from purse.cli.options import option
from purse.errors import AskRefused, CampaignExists, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from purse.campaign.campaign import Campaign

_FILE = Path("purse-results", "demo.db")
_BUDGET = "2.50"
_PAUSE = 0.04  # seconds between two calls
_EVERY = 50  # calls between two lines


class _Model(NamedTuple):
    price: float  # USD of a usual call; others cost from half to one and a half times as much
    good: float  # the share of good answers

    @property
    def maximum(self) -> str:
        """What a call costs at most, USD."""
        return f"{1.5 * self.price:.6f}"


_MODELS = {
    "small": _Model(0.003, 0.35),
    "medium": _Model(0.006, 0.85),
    "large": _Model(0.025, 0.95),
}
_DOWN, _OUTAGE = "medium", range(150, 220)  # the model that fails, and in which calls


class _Traffic:
    """Calls of the models, one after another."""

    def __init__(self, campaign: "Campaign") -> None:
        self.campaign = campaign
        self.calls = dict.fromkeys(_MODELS, 0)
        self.failed = self.good = 0
        self.aside = Counter[str]()  # answers of the others in the outage
        self._draws = random.Random(2)

    def play(self) -> None:
        """Call until the budget pays for no other call; print what happens."""
        for number in count():
            try:
                self.call(number)
            except AskRefused:
                break
            if number == _OUTAGE.start:
                click.echo(f"        the provider of {_DOWN} is down")
            if number == _OUTAGE.stop:
                click.echo(f"        the provider of {_DOWN} is back")
            if number % _EVERY == _EVERY - 1:
                click.echo(self.line())
            time.sleep(_PAUSE)
        click.echo(self.line())

    def call(self, number: int) -> None:
        """Make one call: the campaign chooses a model, and is told how that went."""
        chance, part = self._draws.random(), self._draws.uniform(0.5, 1.5)
        with self.campaign.spending() as call:
            model = call.arm
            self.calls[model] += 1
            if number in _OUTAGE:
                if model == _DOWN:
                    self.failed += 1
                    call.fail(cost=0, reason="503 Service Unavailable")
                    return
                self.aside[model] += 1
            good = chance < _MODELS[model].good
            self.good += good
            call.tell(reward=float(good), cost=f"{part * _MODELS[model].price:.6f}")

    def line(self) -> str:
        """Return calls, good answers and spending so far, on one line."""
        done = sum(self.calls.values())
        calls = "  ".join(f"{model} {n:3}" for model, n in self.calls.items())
        spent = float(self.campaign.status().purses[0].spent)
        return f"{done:5} calls  {calls}  {self.good:3} good answers  {spent:.2f} of {_BUDGET} USD"

    def words(self) -> str:
        """Tell the course of the demo in three sentences."""
        [purse] = self.campaign.status().purses
        done = sum(self.calls.values())
        favourite = max(self.calls, key=lambda model: self.calls[model])
        share = self.calls[favourite] / done
        prices, shares = zip(*_MODELS.values(), strict=True)
        others = " and ".join(self.aside)
        return (
            f"{done} calls cost {purse.spent} of {purse.budget} USD, and the next one was refused: "
            f"it might have cost more than the {purse.left} that are left.\n"
            f"Nobody said which model is worth its price: {favourite} got {share:.0%} of the "
            f"calls, and {self.good} answers were good; models at random would have brought about "
            f"{float(_BUDGET) * sum(shares) / sum(prices):.0f}.\n"
            f"While {_DOWN} was down, {self.failed} calls of it failed, and {others} answered the "
            f"other {self.aside.total()}."
        )


@click.command()
@option("--no-serve", "End after the last call, without a dashboard.", is_flag=True)
def demo(no_serve: bool) -> None:
    """Watch a budget being spent: 20 seconds of made-up calls, then the dashboard.

    Three models answer at different prices, the provider of one is down for a while, and the
    budget ends. Models and answers are made up, and the campaign is real. The dashboard stays open
    until Ctrl-C.
    """
    storage = f"sqlite:///{_FILE}"
    _FILE.parent.mkdir(exist_ok=True)
    campaign = _created(storage)
    click.echo(
        f"{_BUDGET} USD for calls of {', '.join(_MODELS)}; models and answers are made up.\n"
    )
    traffic = _Traffic(campaign)
    traffic.play()
    click.echo(f"\n{traffic.words()}\n")
    click.echo(f"The campaign is real: purse campaign status {campaign.name} --storage {storage}")
    if not no_serve:
        _show(storage)


def _created(storage: str) -> "Campaign":
    """Create the campaign of this run, under a name that is free."""
    from purse.campaign.campaign import Campaign

    arms = {name: model.maximum for name, model in _MODELS.items()}
    for number in count(1):
        name = "demo" if number == 1 else f"demo-{number}"
        try:
            return Campaign.create(
                name, arms=arms, budget=_BUDGET, resources=["USD"], storage=storage
            )
        except CampaignExists:
            pass
    raise AssertionError


def _show(storage: str) -> None:
    """Serve the dashboard until Ctrl-C, on a free port if the usual one is taken."""
    from purse.base.optional import needs

    try:
        with needs("the dashboard", "serve"):
            from purse.service.server import serve
            from purse.service.settings import Settings
    except MissingExtra as error:
        click.echo(f"No dashboard: {error}")
        return
    try:
        serve(Settings(storage, log="text"))
    except InvalidInput:
        serve(Settings(storage, log="text", port=0))
