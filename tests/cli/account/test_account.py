from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from purse import Account, Campaign, cli
from tests.support.campaign_cli import NEW, data

COMPANY = "account new company --budget 100 --resource USD"
TEAM = "account new team-a --budget 30 --resource USD --account company"
BELOW = f"campaign {' '.join(NEW)} --policy uniform --resource USD --account team-a"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(line: str, code: int = 0) -> Result:
    """The command, typed in an empty folder."""
    result = CliRunner().invoke(cli.cli, shlex.split(line))
    assert result.exit_code == code, result.output
    return result


def complaint(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """What the command says on stderr, which is one line."""
    monkeypatch.setattr(sys, "argv", ["purse", *shlex.split(line)])
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    said = capsys.readouterr()
    assert (exit_.value.code, said.out, said.err.count("\n")) == (2, "", 1)
    return said.err


def test_an_account_from_its_creation_to_its_end(tmp_path: Path) -> None:
    run(COMPANY)
    run(COMPANY + " --exist-ok")
    run(TEAM)
    run(BELOW)
    assert Campaign.open("prompts").status().account == "team-a"
    campaign = Campaign.open("prompts")
    campaign.tell(campaign.ask(arms=["small"]), 1, "0.004")
    campaign.ask(arms=["large"])
    assert run("account status company").stdout.splitlines() == [
        "account company: running",
        "  99.946 of 100 USD left, spent 0.004, held 0.05",
        "  account team-a: 29.946 of 30 USD left, spent 0.004, held 0.05",
        "    campaign prompts: 24.946 of 25 USD left, spent 0.004, held 0.05",
    ]
    below = data(run("account status company --json"))["children"][0]
    assert (below["name"], below["children"][0]["name"]) == ("team-a", "prompts")
    assert run("account list").stdout.splitlines() == [
        "company\trunning\t0.004 of 100 USD spent",
        "team-a\trunning\t0.004 of 30 USD spent",
    ]
    assert [each["name"] for each in data(run("account list --json"))["accounts"]] == [
        "company",
        "team-a",
    ]
    run("account top-up team-a 5 --request r")
    assert "of 35 USD left" in run("account top-up team-a 5 --request r").stdout
    assert "team-a: paused" in run("account pause team-a").stdout
    assert "team-a: running" in run("account resume team-a").stdout
    assert "all agree with the journal" in run("account audit company").stdout
    assert data(run("account audit company --json"))["ok"] is True
    entries = [json.loads(line) for line in run("account export team-a").stdout.splitlines()]
    assert [each["kind"] for each in entries[1:3]] == ["created", "topped_up"]
    run("account export team-a -o team.jsonl")
    assert len((tmp_path / "team.jsonl").read_text().splitlines()) == len(entries)
    assert "team-a: ended" in run("account end team-a").stdout


def test_a_restored_campaign_may_have_an_account() -> None:
    run(COMPANY)
    run(BELOW.replace("team-a", "company"))
    run("campaign ask prompts --arm small")
    run("campaign export prompts -o prompts.jsonl")
    run("campaign restore prompts.jsonl --name copy --account company")
    run("campaign restore prompts.jsonl --name free")
    assert Account.open("company").status().purses[0].held == "0.02"
    assert Campaign.open("free").status().account == ""


def test_mistakes_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def says(line: str) -> str:
        return complaint(line, monkeypatch, capsys)

    run(COMPANY)
    assert "there is no account 'none'" in says("account status none")
    assert "an account 'company' already" in says(COMPANY)
    assert "no account 'none'" in says(TEAM.replace("company", "none"))
    assert "must be one amount" in says("account top-up company 1,2")
    assert "must be positive" in says("account top-up company 0")
    assert "must be those of account 'company'" in says(TEAM.replace("USD", "EUR"))


def test_a_storage_without_accounts_says_so() -> None:
    run(f"campaign {' '.join(NEW)} --policy uniform")
    assert "There are no accounts" in run("account list").stderr


def test_an_account_may_be_renewed() -> None:
    more = "--every month --time-zone Europe/Berlin --carry all"
    assert "period 1 (every month, until 20" in run(f"{COMPANY} {more}").stdout
    shown = json.loads(run("account status company --json").stdout)["period"]
    assert (shown["carry"], shown["allowance"]) == ("all", ["100"])
