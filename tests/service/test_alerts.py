"""Alerts and webhooks over HTTP, and deliveries beside the service."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from purse.campaign.storage.memory import Memory
from tests.support.receiver import answering, receiver, spent
from tests.support.service import problem, running, service


def test_rules_and_webhooks_over_http() -> None:
    client = running(alerts=["100%"])
    status = client.post("/campaigns/prompts/alerts", json={"alerts": ["overrun", "5%"]}).json()
    assert status["alerts"] == ["5%", "overrun"]
    wish = {"url": "https://hooks.example.com/sesame"}
    added = client.post("/webhooks/prompts", json=wish).json()
    assert added["host"] == "https://hooks.example.com"
    again = client.post("/webhooks/prompts", json={**wish, "secret": added["secret"]}).json()
    assert again == added
    (found,) = client.get("/webhooks/prompts").json()["webhooks"]
    assert (found["id"], found["waiting"]) == (added["id"], 0)
    shown = client.get("/campaigns/prompts").text + client.get("/webhooks/prompts").text
    assert "sesame" not in shown
    assert added["secret"] not in shown
    for removed in (True, False):
        answer = client.post("/webhooks/prompts/remove", json={"id": added["id"]})
        assert answer.json() == {"removed": removed}
    problem(client.get("/webhooks/nobody"), 404, "no-such-campaign")
    problem(client.post("/campaigns/prompts/alerts", json={"alerts": ["x"]}), 400, "invalid-input")


@pytest.mark.parametrize(
    "body",
    [
        {"url": ["https://sesame/"]},
        {"url": "https://sesame/#x"},
        {"uri": "https://sesame/"},
        {"url": "https://a.example.com/", "secret": "sesame"},
        {"url": "https://a.example.com/", "secret": ["sesame"]},
    ],
)
def test_what_is_wrong_with_an_address_is_said_without_it(
    body: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answer = running().post("/webhooks/prompts", json=body)
    problem(answer, 400, "invalid-input")
    assert "sesame" not in answer.text
    assert "sesame" not in caplog.text + repr([record.__dict__ for record in caplog.records])


def waited(done: Any) -> bool:
    for _ in range(1500):
        if done():
            return True
        time.sleep(0.02)
    return False


def test_the_service_delivers_counts_and_stops(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    storage = Memory()
    campaign = spent("prompts", storage)
    with receiver() as good, receiver(answering(b"HTTP/1.1 500 X\r\n\r\n")) as bad:
        with service(storage, allow_private_webhooks=True) as client:
            for made in (good, bad):
                assert client.post("/webhooks/prompts", json={"url": made.url}).status_code == 200
            campaign.top_up(1)
            assert waited(
                lambda: campaign.webhooks()[1].failed and campaign.webhooks()[0].delivered
            )
            text = client.get("/metrics").text
        campaign.top_up(1)
        time.sleep(0.05)
        assert good.keys == ["1%:0/0/1"]  # nobody delivers any more
    for line in ("events_waiting", "events_delivered_total", "deliveries_failed_total"):
        assert f'purse_{line}{{campaign="prompts"}} 1.0' in text
    said = caplog.text + repr([record.__dict__.get("facts") for record in caplog.records])
    assert "event 1%:0/0/1 of prompts was not delivered to webhook " in said
    assert "HTTP 500" in said
    assert "sesame" not in said
    assert str(bad.port) not in said
