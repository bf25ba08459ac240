"""Which arm is best, over HTTP."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from purse.service.schemas.recommendation import RecommendationQuery
from tests.support.service import PROMPTS, TestClient, bearer, problem, running, service, token_file

AT = "/campaigns/prompts"


def test_the_question_and_its_defaults_are_those_of_a_campaign() -> None:
    asked = list(inspect.signature(Campaign.recommend).parameters.values())[1:]
    fields = RecommendationQuery.model_fields
    assert {each.name: each.default for each in asked} == {
        name: field.default for name, field in fields.items()
    }


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
        ({"by": "cost"}, "by: input should be 'reward' or 'ratio', not 'cost'"),
        (
            {"cap": "-1"},
            "cap: must be an amount from 0 to 4,611,686,018 with at most nine decimals",
        ),
        ({"cap": "0"}, "cap=0.0: must be a number above 0"),
        ({"confidence": 95}, "confidence: input should be less than 1, not '95'"),
        ({"confidence": 0}, "confidence: input should be greater than 0, not '0'"),
        ({"within": -1}, "within: input should be greater than or equal to 0, not '-1'"),
        ({"within": "inf"}, "within: input should be a finite number"),
        ({"resource": "EUR"}, "resource='EUR': must be one of 'USD'"),
        ({"caps": 1}, "caps"),
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
