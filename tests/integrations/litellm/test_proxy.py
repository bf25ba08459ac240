"""The real proxy in a process of its own: chats, streams, a model that is down, the end of the
budget. Its extra pins other versions than ours, so this runs where PURSE_SOAK is set and
`litellm[proxy]` is there.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from purse import Campaign
from tests.support.soak import SOAK

if TYPE_CHECKING:
    import httpx

KEY = "sk-" + "0123456789abcdef" * 2
HOOK = """
from purse import Campaign
from purse.integrations.litellm import PurseRouter

campaign = Campaign.open("chat", storage="sqlite:///purse.db")
hook = PurseRouter({"auto": campaign}, reward=lambda answer, messages: 1.0)
"""


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[httpx.Client]:
    if not SOAK:
        pytest.skip("the proxy takes half a minute to start: PURSE_SOAK is not set")
    if importlib.util.find_spec("fastapi_sso") is None:
        pytest.skip("litellm[proxy] is not installed: the proxy did not run")
    import httpx

    from tests.support.litellm_lab import Lab

    models = Lab().deployments(("big",))[:3]
    Lab().campaign(models, budget="0.0009", storage=f"sqlite:///{tmp_path / 'purse.db'}")
    (tmp_path / "purse_hook.py").write_text(HOOK)
    settings = {
        "model_list": models,
        "router_settings": {"num_retries": 2, "retry_after": 0},
        "litellm_settings": {"callbacks": "purse_hook.hook"},
    }
    (tmp_path / "config.yaml").write_text(json.dumps(settings))  # JSON is YAML
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["from litellm import run_server; run_server()", "--config", "config.yaml"]
    server = subprocess.Popen(
        [sys.executable, "-c", *words, "--host", "127.0.0.1", "--port", str(port)],
        cwd=tmp_path,
        env={**os.environ, "LITELLM_MASTER_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        head = {"Authorization": f"Bearer {KEY}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=head, timeout=60) as client:
            until = time.monotonic() + 120
            while time.monotonic() < until and server.poll() is None:
                try:
                    client.get("/health/liveliness")
                    break
                except httpx.TransportError:
                    time.sleep(0.2)
            yield client
    finally:
        server.terminate()
        server.wait()


def chat(client: Any, **request: Any) -> Any:
    asked = {"model": "auto", "max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]}
    return client.post("/v1/chat/completions", json={**asked, **request})


def test_the_proxy_spends_by_the_campaign_until_its_end(
    proxy: httpx.Client, tmp_path: Path
) -> None:
    campaign = Campaign.open("chat", storage=f"sqlite:///{tmp_path / 'purse.db'}")
    first = chat(proxy)
    assert first.status_code == 200
    assert first.headers["x-purse-ticket"].startswith("chat/")
    assert "data: [DONE]" in chat(proxy, stream=True).text
    assert chat(proxy, model="mini").status_code == 400  # by the id of a deployment
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: chat(proxy, stream=n % 2 == 0), range(160)))
    refused = [answer for answer in answers if answer.status_code != 200]
    assert 0 < len(refused) < len(answers)
    assert any("campaign 'chat'" in answer.text for answer in refused)
    until = time.monotonic() + 20
    while campaign.status().counts["held"] and time.monotonic() < until:
        time.sleep(0.1)
    counts = campaign.status().counts
    assert counts["told"] == len(answers) - len(refused) + 2
    assert counts["held"] == counts["overruns"] == 0
    assert campaign.audit(full=True).ok
