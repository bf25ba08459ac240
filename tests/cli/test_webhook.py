from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from purse import Account, Campaign
from tests.support.cli import Command
from tests.support.receiver import receiver, spent

STORED = "sqlite:///purse.db"


@pytest.fixture
def campaign(command: Command) -> Any:
    return spent("p", STORED)


def test_a_webhook_is_added_told_listed_and_removed(command: Command, campaign: Any) -> None:
    with receiver() as made:
        code, out, err = command(f"webhook add p {made.url}")
        first, host, secret = out.split()
        assert (code, host) == (0, "http://127.0.0.1")
        assert secret.startswith("whsec_")
        assert "not shown again" in err
        campaign.top_up(1)
        assert command("webhook deliver")[1] == "1 messages tried\n"  # not on this machine
        assert "http not allowed" in command("webhook list p")[1]
        again = json.loads(command("webhook add p", made.url, "--json")[1])
        campaign.top_up(1)
        assert command("webhook deliver --allow-private")[1] == "1 messages tried\n"
        assert made.keys == ["1%:0/0/2"]
    rows = json.loads(command("webhook list p --json")[1])["webhooks"]
    assert {each["id"]: each["waiting"] for each in rows} == {first: 2, again["id"]: 0}
    assert "webhook " + first in command("campaign status p")[1]
    assert command("webhook remove p", first)[1] == f"p: webhook {first} is removed\n"
    code, _, err = command("webhook remove p", first)
    assert (code, err.count("\n")) == (2, 1)
    assert "is not a webhook of 'p'" in err


def test_mistakes_are_one_line_that_shows_no_address(command: Command, campaign: Any) -> None:
    for words in (["ftp://sesame/"], ["https://a.example.com/", "--secret", "sesame"]):
        code, out, err = command("webhook add p", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "sesame" not in err
    assert command("webhook add q https://a.example.com/")[0] != 0


def test_rules_are_set_on_the_command_line(command: Command, tmp_path: Path) -> None:
    new = "campaign new p --arm a=1 --budget 3 --policy uniform"
    code, out, _ = command(f"{new} --alert 80% --alert overrun")
    assert code == 0
    assert "alerts: 80%, overrun" in out
    assert "alerts: 50%" in command("campaign set-alerts p 50%")[1]
    assert "alerts" not in command("campaign set-alerts p")[1]
    code, _, err = command("campaign set-alerts p 500%")
    assert (code, err.count("\n")) == (2, 1)
    assert Campaign.open("p", storage=STORED).status().alerts == ()


def test_accounts_have_webhooks_too(command: Command) -> None:
    Account.create("team", budget=4, storage=STORED)
    id = command("webhook add team https://hooks.example.com/x")[1].split()[0]  # noqa: A001
    assert id in command("webhook list team")[1]
    assert command("webhook remove team", id)[0] == 0
    code, _, err = command("webhook list nobody")
    assert (code, err) == (2, "purse: there is no campaign 'nobody'\n")
