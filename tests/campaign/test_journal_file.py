"""Exports are read line by line, and what is wrong is named with its line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from purse.campaign import restore
from purse.campaign.campaign import Campaign
from purse.campaign.restore import is_journal, read_journal
from purse.campaign.storage.connect import in_memory
from purse.errors import InvalidInput
from purse.lab.offline.journal_log import read_journal_log

TERMS: dict[str, Any] = {"arms": {"a": 1, "b": 1}, "budget": 100, "policy": "uniform"}


@pytest.fixture
def campaign() -> Campaign:
    return Campaign.create("c", **TERMS, storage=in_memory())


@pytest.fixture
def lines(campaign: Campaign) -> list[str]:
    campaign.tell(campaign.ask(), 1, "0.5")
    file = io.StringIO()
    assert campaign.export(file) == 3
    return file.getvalue().splitlines(keepends=True)


def test_an_export_is_what_the_journal_says(campaign: Campaign, lines: list[str]) -> None:
    read = list(read_journal(io.StringIO("".join(lines))))
    kept = list(campaign.storage.entries("c", 0, 10))
    assert read == kept
    digest = ""
    for entry in read:
        digest = entry.chain(digest)
    assert digest == campaign.status().digest


def changed(line: str, **facts: Any) -> str:
    return json.dumps(json.loads(line) | facts) + "\n"


@pytest.mark.parametrize(
    ("place", "edit", "words"),
    [
        (0, lambda _: "[\n", "line 1: not JSON"),
        (
            0,
            lambda line: changed(line, format=0),
            "line 1: not the journal of a campaign in format",
        ),
        (2, lambda _: "[]\n", "line 3: not JSON"),
        (2, lambda line: changed(line, more=1), "line 3: an entry has seq, at, kind"),
        (2, lambda line: changed(line, seq=3), "line 3: found entry 3, expected entry 2"),
        (2, lambda line: changed(line, seq="2"), "line 3: found entry '2', expected entry 2"),
        (2, lambda line: changed(line, body=[]), "line 3: unknown kind of entry 'asked'"),
    ],
)
def test_a_wrong_line_is_named(lines: list[str], place: int, edit: Any, words: str) -> None:
    lines[place] = edit(lines[place])
    with pytest.raises(InvalidInput) as error:
        list(read_journal(io.StringIO("".join(lines))))
    assert words in str(error.value)
    with pytest.raises(InvalidInput):
        Campaign.restore(io.StringIO("".join(lines)), storage=in_memory())


def test_a_file_that_is_no_journal_is_refused(lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "file"
    with pytest.raises(InvalidInput, match=r"cannot read .*: No such file or directory"):
        next(read_journal(path))
    path.write_bytes(b"\xff\xfe\n")
    with pytest.raises(InvalidInput, match="it is not text"):
        next(read_journal(path))
    assert not is_journal(path)
    path.write_text(lines[0])
    with pytest.raises(InvalidInput, match="the journal has no entries"):
        next(read_journal(path))
    assert is_journal(path)


def test_no_storage_is_made_for_what_is_no_journal(tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    with pytest.raises(InvalidInput):
        Campaign.restore(io.StringIO("no journal\n"), storage=f"sqlite:///{file}")
    assert not file.exists()


def test_a_log_knows_late_reports_and_the_arms_that_had_a_chance(tmp_path: Path) -> None:
    terms = {**TERMS, "arms": {"a": 1, "b": 4}, "budget": 5, "explore": 0.5}
    campaign = Campaign.create("c", **terms, storage=in_memory())
    late = campaign.ask(arms=["a"])
    campaign.void(late)
    for _ in range(4):
        campaign.tell(campaign.ask(), 0.5, "0.4")
    campaign.tell(late, 1, "0.25")
    campaign.settle(campaign.ask(arms=["a"]), "0.1")
    path = tmp_path / "export.jsonl"
    campaign.export(path)
    log = read_journal_log(path).log
    assert list(log.reward) == [0.5] * 4 + [1.0]
    assert log.arms == ("a", "b")
    assert "1 settled" in " ".join(log.notes)
    assert restore.is_journal(path)
