"""Which arm is best, over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from tests.support.service import PROMPTS, TestClient, bearer, problem, running, service, token_file

AT = "/campaigns/prompts"


def test_the_answer_is_that_of_the_campaign() -> None:
    storage = in_memory()
    client = running(storage)
    for arm, reward, cost in (("small", 1, "0.005"), ("large", 0, "0.04")) * 12:
        (ticket,) = client.post(f"{AT}/asks", json={"arms": [arm]}).json()["tickets"]
        report = {"reward": reward, "cost": cost}
        assert client.post(f"{AT}/tickets/{ticket['id']}/tell", json=report).status_code == 200
    campaign = Campaign.open("prompts", storage=storage)
    found = client.get(f"{AT}/recommendation")
    assert found.status_code == 200
    assert found.json() == json.loads(json.dumps(campaign.recommend().as_dict()))
    assert (found.json()["arm"], found.json()["certain"]) == ("small", True)
    query = {
        "by": "ratio",
        "cap": "0.012",
        "confidence": 0.5,
        "within": 1,
        "resource": "USD",
    }
    more = client.get(f"{AT}/recommendation", params=query).json()
    asked = campaign.recommend("ratio", cap="0.012", confidence=0.5, within=1)
    assert (more["by"], more["cap"], more["within"], more["resource"]) == ("ratio", 0.012, 1, "USD")
    assert more == json.loads(json.dumps(asked.as_dict()))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"by": "cost"}, "by='cost': must be one of 'reward', 'ratio'"),
        ({"cap": "-1"}, "cap=-1.0: must be a number above 0"),
        ({"cap": "0"}, "cap=0.0: must be a number above 0"),
        ({"confidence": 95}, "confidence=95: must be above 0 and below 1; 95% is 0.95"),
        ({"confidence": 0}, "confidence=0: must be above 0 and below 1"),
        ({"within": -1}, "within=-1: must be a number at least 0"),
        ({"within": "inf"}, "within=inf: must be a number at least 0"),
        ({"resource": "EUR"}, "resource='EUR': must be one of 'USD'"),
        ({"caps": 1}, "unknown field of recommend 'caps'; did you mean 'cap'?"),
    ],
)
def test_wrong_questions_are_refused(
    untouched: TestClient, query: dict[str, Any], message: str
) -> None:
    answer = untouched.get(f"{AT}/recommendation", params=query)
    assert problem(answer, 400, "invalid-input").startswith(message)


def test_who_may_read_may_ask(tmp_path: Path) -> None:
    file, tokens = token_file(tmp_path)
    client = service(tokens=file)
    made = client.post("/campaigns", json=PROMPTS, headers=bearer(tokens["admin"]))
    assert made.status_code == 201
    for role in ("read", "admin"):
        headers = bearer(tokens[role])
        assert client.get(f"{AT}/recommendation", headers=headers).json()["arm"] is None
    assert client.get(f"{AT}/recommendation").status_code == 401
    missing = client.get("/campaigns/ads/recommendation", headers=bearer(tokens["read"]))
    assert missing.status_code == 404
