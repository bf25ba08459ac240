from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from tests.support.service import PROMPTS, TestClient, problem, service

# it brings no code of its own: nothing has to be compiled
MINE = "from purse.policies.exp3_bwk import *\n"
MARK = "from pathlib import Path\n(Path(__file__).parent / 'was-run').touch()\n"
READS = ("", "/tickets", "/journal", "/picture", "/tickets/1")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A policy file that leaves a trace when it is run."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def with_a_campaign(file: Path, **settings: Any) -> TestClient:
    """A service on a storage where somebody has made a campaign that plays a file, and asked."""
    storage = in_memory()
    terms = {**PROMPTS, "policy": f"{file}:gamma=0.5"}
    Campaign.create(**terms, storage=storage).ask()
    file.write_text(file.read_text() + MARK)
    return service(storage, **settings)


def test_a_policy_file_in_the_storage_is_not_run_and_all_else_works(file: Path) -> None:
    client = with_a_campaign(file)
    said = problem(client.post("/campaigns/prompts/asks"), 403, "policy-file")
    assert "the policy file 'mine.py:gamma=0.5'" in said
    assert "--allow-policy-files" in said
    problem(client.post("/campaigns/prompts/audit"), 403, "policy-file")  # it would run the file
    for path in READS:
        assert client.get(f"/campaigns/prompts{path}").status_code == 200, path
    told = client.post("/campaigns/prompts/tickets/1/tell", json={"reward": 1, "cost": "0.01"})
    assert told.json()["state"] == "told"
    assert client.post("/campaigns/prompts/pause").json()["status"] == "paused"
    assert client.get("/metrics").status_code == 200
    assert not (file.parent / "was-run").exists()


def test_a_policy_file_is_run_where_that_is_allowed(file: Path) -> None:
    client = with_a_campaign(file, allow_policy_files=True)
    assert client.post("/campaigns/prompts/asks").status_code == 200
    assert (file.parent / "was-run").exists()


@pytest.mark.parametrize("allowed", [True, False])
def test_readers_do_not_see_the_folder_of_a_policy_file(file: Path, allowed: bool) -> None:
    client = with_a_campaign(file, allow_policy_files=allowed)
    for path in READS:
        assert str(file.parent) not in client.get(f"/campaigns/prompts{path}").text
    assert client.get("/campaigns/prompts").json()["policy"] == "mine.py:gamma=0.5"
    assert '"policy":"mine.py:gamma=0.5"' in client.get("/campaigns/prompts/journal").text
    for verb in ("pause", "resume", "end"):
        assert str(file.parent) not in client.post(f"/campaigns/prompts/{verb}").text
