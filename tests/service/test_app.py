"""Alerts over HTTP, and deliveries beside the service."""

import base64
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from purse.campaign.storage.connect import in_memory
from purse.errors import InvalidInput
from tests.support.receiver import SECRET, answering, receiver, spent
from tests.support.service import service


def webhooks(folder: Path, **urls: str) -> Path:
    """Write a file of receivers on this machine."""
    file = folder / "webhooks.toml"
    file.write_text(
        "".join(
            f"[{name}]\naddress = '{url}'\nsecret_env = 'PURSE_TEST_SECRET'\n"
            "campaigns = ['*']\nallow_private = true\n"
            for name, url in urls.items()
        )
    )
    return file


def waited(done: Any) -> bool:
    for _ in range(1500):
        if done():
            return True
        time.sleep(0.02)
    return False


def test_the_service_delivers_counts_and_stops(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PURSE_TEST_SECRET", f"whsec_{base64.b64encode(SECRET).decode()}")
    caplog.set_level(logging.DEBUG)
    storage = in_memory()
    campaign = spent("prompts", storage)
    begun = lambda name: storage.checkpoint("prompts", f"webhook {name}") is not None  # noqa: E731
    with receiver() as good, receiver(answering(b"HTTP/1.1 500 X\r\n\r\n")) as bad:
        file = webhooks(tmp_path, good=good.url, bad=bad.url)
        with service(storage, webhooks=file) as client:
            assert waited(lambda: begun("good") and begun("bad"))
            campaign.top_up(1)
            text = lambda: client.get("/metrics").text  # noqa: E731
            zero = 'purse_deliveries_failed_total{receiver="bad"} 0.0'
            lines = (
                'purse_events_delivered_total{receiver="good"} 1.0',
                'purse_events_skipped_total{receiver="good"} 0.0',
                'purse_oldest_event_seconds{receiver="good"} 0.0',
            )
            assert waited(lambda: zero not in text() and all(line in text() for line in lines)), (
                text()
            )
            storage.now = lambda: time.time_ns() // 1_000_000 + 3_000  # before the next attempt
            assert 'purse_oldest_event_seconds{receiver="bad"} 0.0' not in text()
        campaign.top_up(1)
        assert good.keys == ["1%:0/0/1"]  # nobody delivers any more
    said = caplog.text + repr([record.__dict__.get("facts") for record in caplog.records])
    assert "event 1%:0/0/1 of prompts was not delivered to webhook bad: HTTP 500" in said
    assert "sesame" not in said
    assert str(bad.port) not in said


def test_a_wrong_file_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    file = webhooks(tmp_path, good="https://hooks.example.com/sesame")
    with pytest.raises(InvalidInput, match=r"good.secret_env='PURSE_TEST_SECRET': must be an en"):
        service(webhooks=file)
