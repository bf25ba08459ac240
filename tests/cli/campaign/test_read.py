from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import purse
from purse import cli
from tests.support.campaign_cli import NEW, Run, data


def test_tickets_are_listed_by_state(run: Run) -> None:
    run(*NEW)
    run("ask prompts -n 3")
    run("void prompts 2")
    assert [line.split("\t")[0] for line in run("tickets prompts").stdout.splitlines()] == [
        "1",
        "3",
    ]
    assert [
        line.split("\t")[::4] for line in run("tickets prompts --state void").stdout.splitlines()
    ] == [["2", "void"]]
    assert [
        ticket["id"] for ticket in data(run("tickets prompts --limit 1 --json"))["tickets"]
    ] == [1]


def test_the_storage_is_an_option_or_an_environment_variable(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*NEW, "--storage", "sqlite:///other.db")
    assert (tmp_path / "other.db").exists()
    monkeypatch.setenv("PURSE_STORAGE", "sqlite:///other.db")
    assert [each["name"] for each in data(run("list --json"))["campaigns"]] == ["prompts"]
    monkeypatch.delenv("PURSE_STORAGE")
    assert isinstance(run("list", code=1).exception, purse.StorageUnavailable)
    assert not (tmp_path / "purse.db").exists()


def test_status_without_a_name_lists_all(run: Run) -> None:
    run(*NEW)
    run("new ads --arm a=1 --budget 5 --cost-min 1 --resource EUR")
    lines = run("status").stdout.splitlines()
    assert [line.split("\t")[:2] for line in lines] == [["ads", "running"], ["prompts", "running"]]
    assert lines[0].split("\t")[2] == "0 of 5 EUR spent"
    assert run("list").stdout.splitlines() == lines
    run("ask ads")
    run("tell ads 1 --reward 1 --cost 2")
    assert run("list").stdout.splitlines()[0] == "ads\trunning\t1 of 5 EUR spent\t! overrun"


def test_an_exported_campaign_is_restored_and_audited(run: Run, tmp_path: Path) -> None:
    run(*NEW)
    run("ask prompts -n 4")
    run("tell prompts 1 --reward 0.5 --cost 0.003")
    lines = run("export prompts").stdout
    CliRunner().invoke(
        cli.cli, ["campaign", "export", "prompts", "-o", "journal.jsonl"], catch_exceptions=False
    )
    assert (tmp_path / "journal.jsonl").read_text() == lines
    assert [path.name for path in tmp_path.glob(".*")] == []
    assert run("restore journal.jsonl --name copy").stdout.startswith("copy: running")
    assert data(run("audit copy --json"))["ok"] is True
    assert "3 entries" in run("audit prompts").stdout
    assert data(run("status copy --json"))["purses"] == data(run("status prompts --json"))["purses"]


def test_an_audit_that_finds_something_exits_with_1(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*NEW)

    class Audit:
        ok, entries, findings, digest = False, 1, ["held is 5 and should be 0"], "abc"

    monkeypatch.setattr(purse.Campaign, "audit", lambda _: Audit)
    assert run("audit prompts", code=1).stdout.splitlines() == [
        "held is 5 and should be 0",
        "prompts: 1 entries, 1 findings; digest abc",
    ]
    assert data(run("audit prompts --json", code=1))["findings"] == ["held is 5 and should be 0"]
