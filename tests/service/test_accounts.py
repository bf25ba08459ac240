"""Accounts over HTTP: routes, the overview and metrics."""

from __future__ import annotations

import json
from typing import Any

from purse import Account
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from tests.support.service import PROMPTS, TestClient, problem, service

TEAM = {"name": "team-a", "budget": "500", "resources": ["USD"]}
AT = "/accounts/team-a"


def with_team(storage: Storage | None = None) -> TestClient:
    """A service with an account and a campaign below it."""
    client = service(storage or in_memory())
    assert client.post("/accounts", json=TEAM).status_code == 201
    below = client.post("/campaigns", json={**PROMPTS, "account": "team-a"})
    assert below.json()["account"] == "team-a"
    return client


def test_an_account_over_http() -> None:
    client = with_team()
    assert client.get("/accounts").json() == {"names": ["team-a"]}
    assert client.get("/campaigns").json() == {"names": ["prompts"]}
    client.post("/campaigns/prompts/asks", json={"arms": ["small"]})
    status = client.get(AT).json()
    assert (status["name"], status["account"], status["status"]) == ("team-a", "", "running")
    assert status["purses"][0]["held"] == "0.01"
    (child,) = status["children"]
    assert (child["name"], child["kind"], child["children"]) == ("prompts", "campaign", [])
    key = {"Idempotency-Key": "invoice-3"}
    for _ in range(2):
        topped = client.post(f"{AT}/top-ups", json={"amount": "10"}, headers=key).json()
        assert topped["purses"][0]["budget"] == "510"
    assert client.post(f"{AT}/pause").json()["status"] == "paused"
    problem(client.post("/campaigns/prompts/asks"), 409, "campaign-paused")
    assert client.post(f"{AT}/resume").json()["status"] == "running"
    assert client.post(f"{AT}/audit").json()["findings"] == []
    lines = client.get(f"{AT}/journal?after=1&limit=2").text.splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["topped_up", "paused"]
    assert client.post(f"{AT}/end").json()["status"] == "ended"
    problem(client.post(f"{AT}/top-ups", json={"amount": 1}), 409, "campaign-ended")


def test_mistakes_are_problems() -> None:
    client = with_team()
    problem(client.get("/accounts/none"), 404, "not-found")
    problem(client.get("/accounts/prompts"), 404, "not-found")
    problem(client.get("/campaigns/team-a"), 404, "not-found")
    problem(client.post("/accounts", json=TEAM), 409, "campaign-exists")
    problem(client.post("/accounts", json={**TEAM, "name": "prompts"}), 409, "campaign-exists")
    problem(client.post("/campaigns", json={**PROMPTS, "name": "team-a"}), 409, "campaign-exists")
    assert client.post("/accounts", json={**TEAM, "exist_ok": True}).status_code == 201
    other = {**TEAM, "name": "b", "account": "none"}
    problem(client.post("/accounts", json=other), 404, "not-found")
    wrong: list[Any] = [
        {"budget": -1},
        {"account": ""},
        {"name": "a/b"},
        {"more": 1},
        {"resources": []},
    ]
    for part in wrong:
        problem(client.post("/accounts", json={**TEAM, **part}), 400, "invalid-input")


def test_the_overview_has_the_tree_of_each_account_without_one_above() -> None:
    storage = in_memory()
    client = with_team(storage)
    Account.create("lab", budget=3, resources=["USD"], account="team-a", storage=storage)
    (top,) = client.get("/overview").json()["accounts"]
    assert top["name"] == "team-a"
    assert [child["name"] for child in top["children"]] == ["lab", "prompts"]


def test_metrics_have_each_account_once() -> None:
    client = with_team()
    client.post("/campaigns/prompts/asks", json={"arms": ["small"]})
    text = client.get("/metrics").text
    for word, value in {
        "budget": 500.0,
        "spent": 0.0,
        "held": 0.01,
        "presumed": 0.0,
        "left": 499.99,
        "overrun": 0.0,
    }.items():
        assert f'purse_account_{word}{{account="team-a",resource="USD"}} {value}\n' in text
    assert 'purse_account_running{account="team-a"} 1.0' in text
    assert 'campaign="team-a"' not in text
