import re

import pytest

import purse
from purse.cli import demo
from purse.service import server
from purse.service.settings import Settings
from tests.support.cli import Command


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_PAUSE", 0)


def test_the_budget_is_spent_and_the_words_agree_with_the_campaign(command: Command) -> None:
    code, out, err = command("demo --no-serve")
    assert (code, err) == (0, "")
    address = f"sqlite:///{demo._FILE}"
    campaign = purse.Campaign.open("demo", storage=address)
    [money] = campaign.status().purses
    assert float(money.left) < max(float(model.maximum) for model in demo._MODELS.values())
    told = re.search(r"(\d+) calls cost (\S+) of 2.5 USD", out)
    assert told is not None
    assert told[2] == money.spent
    tickets = campaign.status().counts
    assert int(told[1]) == tickets["told"] + tickets["failed"]
    assert f"{tickets['failed']} calls of it failed" in out
    assert command("demo --no-serve")[0] == 0
    assert purse.Campaign.names(storage=address) == ["demo", "demo-2"]


def test_the_dashboard_stays_open(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[int] = []

    def serve(settings: Settings) -> None:
        ports.append(settings.port)
        if settings.port:
            raise purse.InvalidInput("cannot listen on 127.0.0.1 port 8000: Address already in use")

    monkeypatch.setattr(server, "serve", serve)
    assert command("demo")[0] == 0
    assert ports == [8000, 0]
