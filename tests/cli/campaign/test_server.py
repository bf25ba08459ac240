"""`purse campaign ...` with the address of a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from purse.base import exit_codes
from tests.support.campaign_cli import NEW, Complaint, Run, data


def test_the_verbs_reach_a_server(run: Run, address: str, tmp_path: Path) -> None:
    assert run(*NEW, "--capacity", "3").stdout.startswith("prompts: running")
    assert run(*NEW, "--capacity", "3", "--exist-ok").stdout.startswith("prompts: running")
    assert len(data(run("ask prompts -n 5 --request a --json"))["tickets"]) == 5
    assert run("tell prompts 1 --reward 0.9 --cost 0.002").stdout.startswith("ticket 1 told")
    assert run("settle prompts 2 --cost 0.001").stdout.startswith("ticket 2 settled")
    assert run("reward prompts 2 --reward 1").stdout.startswith("ticket 2 told")
    assert run("fail prompts 3 --reason down").stdout.startswith("ticket 3 failed")
    assert run("void prompts 4").stdout.startswith("ticket 4 void")
    assert run("tickets prompts").stdout.startswith("5\t")
    assert "of 26" in run("top-up prompts 1").stdout
    assert run("pause prompts").stdout.startswith("prompts: paused")
    assert run("resume prompts").stdout.startswith("prompts: running")
    assert "retired: small" in run("retire-arm prompts small").stdout
    assert "retired" not in run("add-arm prompts small").stdout
    chances = data(run("probabilities prompts --arm large --json"))["probabilities"]
    assert set(chances) == {"small", "large"}
    assert run("list").stdout.startswith("prompts\trunning")
    assert data(run("status --json"))["campaigns"][0]["name"] == "prompts"
    assert data(run("audit prompts --full --json"))["ok"]
    out = tmp_path / "export.jsonl"
    out.write_text(run("export prompts").stdout, encoding="utf-8")
    restored = run(f"restore {out} --name copy --storage sqlite:///{tmp_path}/copy.db")
    assert restored.stdout.startswith("copy: running")


def test_what_a_server_does_not_do_is_said_on_one_line(
    run: Run, complaint: Complaint, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*NEW)
    assert "on the machine of the database, by its address" in complaint("restore a")
    assert "the database's own address" in complaint("watch prompts --once")
    monkeypatch.setenv("PURSE_TOKEN", "purse_wrong")
    assert "wants a token that it knows" in complaint("status prompts")
    monkeypatch.setattr("purse.client.server.time.sleep", lambda _: None)
    monkeypatch.setenv("PURSE_STORAGE", "http://127.0.0.1:9")
    assert "does not answer" in complaint("status prompts", code=exit_codes.UNAVAILABLE)
