from pathlib import Path
from typing import Any

import pytest

from purse import Account, Campaign
from purse.campaign.storage.connect import in_memory
from tests.support.service import PROMPTS, TestClient, problem, service

# it brings no code of its own: nothing has to be compiled
MINE = "from purse.policies.exp3_bwk import *\n"
MARK = "from pathlib import Path\n(Path(__file__).parent / 'was-run').touch()\n"
# all that makes a policy: of the campaign itself, and of what shares its tree
RUNS: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/campaigns/prompts/asks", {"json": {"contexts": [{"length": 1}]}}),
    ("POST", "/campaigns/prompts/probabilities", {"json": {"context": {"length": 1}}}),
    ("POST", "/campaigns/prompts/audit", {}),
    ("POST", "/campaigns/sibling/audit", {"json": {"full": True}}),
    ("POST", "/accounts/team-a/audit", {}),
    ("POST", "/campaigns/prompts/arms", {"json": {"name": "third", "cost_max": "0.2"}}),
    ("POST", "/campaigns/prompts/arms/set", {"json": {"name": "large", "cost_max": "0.3"}}),
    ("GET", "/campaigns/prompts/recommendation", {}),
]
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
    Account.create("team-a", budget=50, resources=["USD"], storage=storage)
    terms = {**PROMPTS, "account": "team-a", "capacity": 3, "cost_ceiling": "0.09"}
    terms["features"] = {"length": [0, 9]}
    Campaign.create(**{**terms, "name": "sibling", "features": None}, storage=storage)
    made = Campaign.create(**{**terms, "policy": f"{file}:gamma=0.5"}, storage=storage)
    made.ask(context={"length": 5})
    file.write_text(file.read_text() + MARK)
    return service(storage, **settings)


def test_a_policy_file_in_the_storage_is_not_run_and_all_else_works(file: Path) -> None:
    client = with_a_campaign(file)
    for method, path, body in RUNS:
        said = problem(client.request(method, path, **body), 403, "policy-file")
        assert "the policy file 'mine.py' is not run" in said
        assert "--allow-policy-files" in said
    for path in READS:
        assert client.get(f"/campaigns/prompts{path}").status_code == 200, path
    told = client.post("/campaigns/prompts/tickets/1/tell", json={"reward": 1, "cost": "0.01"})
    assert told.json()["state"] == "told"
    assert client.post("/campaigns/prompts/pause").json()["status"] == "paused"
    assert client.get("/metrics").status_code == 200
    assert not (file.parent / "was-run").exists()


def test_a_policy_file_is_run_where_that_is_allowed(file: Path) -> None:
    client = with_a_campaign(file, allow_policy_files=True)
    for method, path, body in RUNS:
        answer = client.request(method, path, **body)
        assert answer.status_code == 200, answer.text
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
