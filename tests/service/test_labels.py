"""Labels over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from purse.campaign.storage.connect import in_memory
from tests.support.service import problem, running

AT = "/campaigns/prompts"


def test_labels_over_http() -> None:
    client = running(in_memory())
    assert client.get(f"{AT}/labels").json() == {"labels": []}
    body = {"request_id": "q", "arms": ["small"], "labels": {"tenant": "acme"}}
    assert client.post(f"{AT}/asks", json=body).status_code == 200
    problem(client.post(f"{AT}/asks", json={**body, "labels": {"tenant": "b"}}), 409, "conflict")
    client.post(f"{AT}/asks", json={**body, "request_id": "r", "n": 2})
    client.post(f"{AT}/tickets/1/tell", json={"reward": 1, "cost": "0.004"})
    row = {"key": "tenant", "value": "acme", "tickets": 3}
    money = {"spent": ["0.004"], "held": ["0.02"], "presumed": ["0"], "overrun": ["0"]}
    assert client.get(f"{AT}/labels").json() == {"labels": [{**row, **money}]}
    assert client.get(f"{AT}/labels?key=tenant&limit=1").json() == {"labels": [{**row, **money}]}
    assert client.get(f"{AT}/labels?key=team").json() == {"labels": []}
    for wrong in ("limit=0", "limit=10001", "key="):
        problem(client.get(f"{AT}/labels?{wrong}"), 400, "invalid-input")


@pytest.mark.parametrize(
    "labels",
    [
        ["tenant"],
        {"tenant": 1},
        {"tenant": ""},
        {"": "x"},
        {"a=b": "x"},
        {"tenant": "a\tb"},
        {f"k{number}": "x" for number in range(9)},
    ],
)
def test_what_are_no_labels_is_refused(labels: Any) -> None:
    client = running(in_memory())
    said = problem(client.post(f"{AT}/asks", json={"labels": labels}), 400, "invalid-input")
    assert "labels" in said


def test_the_metrics_have_no_values_of_labels() -> None:
    client = running(in_memory())
    client.post(f"{AT}/asks", json={"labels": {"tenant": "acme"}})
    text = client.get("/metrics").text
    assert "acme" not in text
    assert "tenant" not in text
