from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from purse import cli
from purse.campaign.results import Audit
from tests.support.campaign_cli import NEW, Run, data


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
    assert "6 entries" in run("audit prompts").stdout
    assert data(run("status copy --json"))["purses"] == data(run("status prompts --json"))["purses"]


def test_an_audit_that_finds_something_exits_with_1(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*NEW)

    found = Audit(1, ("held is 5 and should be 0",), "abc", 0, ("another version made a choice",))
    monkeypatch.setattr("purse.campaign.kept.Kept.audited", lambda *_, **__: found)
    assert run("audit prompts", code=1).stdout.splitlines() == [
        "another version made a choice",
        "held is 5 and should be 0",
        "prompts: 1 entries, 1 findings; digest abc",
    ]
    assert data(run("audit prompts --json", code=1))["findings"] == ["held is 5 and should be 0"]


def test_an_audit_compares_what_others_have_kept(run: Run, tmp_path: Path) -> None:
    run(*NEW)
    run("ask prompts -n 2")
    run("tell prompts 1 --reward 1 --cost 0.003")
    status = data(run("status prompts --json"))
    kept = tmp_path / "kept"
    kept.write_text("1\n\n")
    noted = f"{status['entries']}:{status['digest']}"
    assert "all agree" in run(f"audit prompts --acknowledged {kept} --noted {noted}").stdout
    kept.write_text("1\n2\n9\n")
    found = run(f"audit prompts --acknowledged {kept} --noted 4:abc", code=1).stdout
    assert found.splitlines()[:3] == [
        "the report on ticket 2 was acknowledged, and the ticket is held",
        "the report on ticket 9 was acknowledged, and the ticket is not there",
        f"the journal had the digest abc after 4 entries, and has {status['digest']} now",
    ]
    assert "has fewer entries now" in run("audit prompts --noted 99:abc", code=1).stdout
