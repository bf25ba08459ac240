from __future__ import annotations

from pathlib import Path

import pytest

import purse
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
    assert isinstance(run("list", code=1).exception, purse.errors.StorageUnavailable)
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
