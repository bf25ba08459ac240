"""`purse account ...` for people."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from purse import Account, Campaign
from purse.campaign.storage.connect import connect
from tests.support.cli import NEW, Command, complaint

COMPANY = "account new company --budget 100 --resource USD"
TEAM = "account new team-a --budget 30 --resource USD --account company"
BELOW = f"campaign {NEW} --resource USD --account team-a"


def test_an_account_from_its_creation_to_its_end(command: Command, tmp_path: Path) -> None:
    def run(line: str) -> str:
        code, out, err = command(line)
        assert code == 0, err
        return out

    for line in (COMPANY, f"{COMPANY} --exist-ok", TEAM, BELOW):
        run(line)
    campaign = Campaign.open("prompts")
    campaign.tell(campaign.ask(arms=["small"]), 1, "0.004")
    campaign.ask(arms=["large"])
    assert run("account status company").splitlines() == [
        "account company: running",
        "  99.946 of 100 USD left, spent 0.004, held 0.05",
        "  account team-a: 29.946 of 30 USD left, spent 0.004, held 0.05",
        "    campaign prompts: 24.946 of 25 USD left, spent 0.004, held 0.05",
        "  alerts: 80%, 100%, overrun",
    ]
    assert run("account list").splitlines() == [
        "company\trunning\t0.004 of 100 USD spent",
        "team-a\trunning\t0.004 of 30 USD spent",
    ]
    for _ in range(2):
        assert "of 35 USD left" in run("account top-up team-a 5 --request r")
    assert "team-a: paused" in run("account pause team-a")
    assert "team-a: running" in run("account resume team-a")
    found = run("account audit company")
    assert found.startswith("company: 1 entry, 9 in its tree of 3 levels, all agree with")
    entries = [json.loads(line) for line in run("account export team-a").splitlines()]
    assert [entry["kind"] for entry in entries[1:3]] == ["created", "topped_up"]
    run("account export team-a -o team.jsonl")
    assert len((tmp_path / "team.jsonl").read_text().splitlines()) == len(entries)
    run("campaign export prompts -o prompts.jsonl")
    run("campaign restore prompts.jsonl --name copy --account company")
    run("campaign restore prompts.jsonl --name free")
    assert Account.open("company").status().purses[0].held == "0.1"
    assert Campaign.open("free").status().account == ""
    assert "team-a: ended" in run("account end team-a")
    more = "--every month --time-zone Europe/Berlin --carry all"
    assert "period 1 (every month, until 20" in run(f"{COMPANY.replace('company', 'new')} {more}")


def test_a_list_says_how_each_budget_stands_in_its_period(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage: Any = connect("sqlite:///purse.db")
    now, terms = storage.now(), {"budget": 9, "every": "day", "storage": storage}
    with monkeypatch.context() as patch:
        patch.setattr(storage, "now", lambda: now - 24 * 86_400_000)
        Account.create("team", **terms)
        campaign: Any = Campaign.create("p", arms={"a": 3}, **terms, account="team")
        campaign.tell(campaign.ask(), 1, 2)
    at = "--storage sqlite:///purse.db"
    assert command(f"campaign tell p {campaign.ask().id} --reward 1 --cost 3 {at}")[0] == 0
    for kind, name in (("account", "team"), ("campaign", "p")):
        out = command(f"{kind} list {at}")[1]
        assert re.fullmatch(rf"{name}\trunning\t3 of 9 units spent in period \d+\n", out), out
    assert "▓ held 0  ▒ presumed 0  ░ left 6" in command(f"campaign watch p --once {at}")[1]


def test_a_storage_without_accounts_says_so(command: Command) -> None:
    assert command(f"campaign {NEW}")[0] == 0
    assert "no account 'none'" in complaint(command, "account status none")
    assert "There are no accounts" in complaint(command, "account list", 0)
