"""Traffic through the real router with mock answers: every ticket ends, and the budget holds. Small
numbers of requests in `make test`; those of the survey where PURSE_SOAK is set.

And the real proxy in a process of its own: chats, streams, a model that is down, the end of the
budget. Its extra pins other versions than ours, so it runs where PURSE_SOAK is set and
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
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from purse import Campaign
from tests.support.campaigns import counts
from tests.support.soak import SOAK, scale

if TYPE_CHECKING:
    import httpx

    from tests.support.litellm_lab import Lab


KEY = "sk-" + "0123456789abcdef" * 2
HOOK = """
from purse import Campaign
from purse.integrations.litellm import PurseRouter

campaign = Campaign.open("chat", storage="sqlite:///purse.db")
hook = PurseRouter({"auto": campaign}, reward=lambda answer, messages: 1.0)
"""


@pytest.mark.parametrize(
    ("n", "together", "stream"),
    [
        (scale(9, 60), 1, False),
        (scale(16, 160), 16, False),
        (scale(16, 80), 8, True),
        (scale(16, 160), 16, True),
    ],
)
def test_every_answer_is_told(lab: Lab, n: int, together: int, stream: bool) -> None:
    from tests.support.litellm_lab import MODELS

    campaign = lab.start()
    found = lab.ask(lab.router(), n, together, stream=stream)
    assert found.total() == n
    assert set(found) <= set(MODELS)
    assert lab.ended(campaign) == {"told": n}
    assert Decimal(campaign.status().purses[0].spent) > 0
    assert campaign.status().alarms == ()


def test_a_model_that_is_down_from_the_start_is_left_out(lab: Lab) -> None:
    campaign = lab.start()
    n = scale(10, 20)
    found = lab.ask(lab.router(("big",), num_retries=2), n)
    assert found.total() == n
    assert set(found) <= {"nano", "mini"}
    tickets = lab.ended(campaign)
    assert tickets.pop("told") == n
    assert set(tickets) <= {"failed"}
    assert tickets.get("failed", 0) < n / 2  # it cools down


def test_an_outage_in_the_middle_ends_for_purse_when_it_does_for_litellm(lab: Lab) -> None:
    campaign = lab.campaign(cooldown=0.01)
    lab.use(campaign)
    n = scale(4, 30)
    before = lab.ask(lab.router(), n)
    during = lab.ask(lab.router(("mini", "big"), num_retries=3), n)
    after = lab.ask(lab.router(), 4 * n)
    assert before.total() == during.total() == n
    assert set(during) == {"nano"}
    assert set(after) == {"nano", "mini", "big"}
    tickets = lab.ended(campaign)
    assert tickets["told"] == 6 * n
    assert tickets["failed"] >= 1


def test_a_fallback_to_another_group_answers_when_all_are_down(lab: Lab) -> None:
    from tests.support.litellm_lab import MODELS

    campaign = lab.start(wait=0)
    router = lab.router(tuple(MODELS), fallbacks=[{"auto": ["spare"]}])
    assert lab.ask(router, 6) == {"spare": 6}
    assert campaign.status().purses[0].spent == "0"
    assert set(lab.ended(campaign)) == {"failed"}


def test_a_fallback_to_a_group_of_the_same_campaign_is_paid_by_it(lab: Lab) -> None:
    from tests.support.litellm_lab import MODELS

    campaign = lab.campaign(group=["auto", "spare"])
    lab.use({"auto": campaign, "spare": campaign}, wait=0)
    router = lab.router(tuple(MODELS), fallbacks=[{"auto": ["spare"]}])
    assert lab.ask(router, 5) == {"spare": 5}
    assert lab.ended(campaign)["told"] == 5
    assert {ticket.arm for ticket in campaign.tickets(["told"])} == {"spare"}


@pytest.mark.parametrize("stream", [False, True])
def test_a_budget_that_ends_in_the_middle_of_traffic(lab: Lab, stream: bool) -> None:
    budget = "0.0015" if stream else "0.0003"  # a mock answer that is no stream is short
    campaign = lab.campaign(lab.deployments(), budget=budget, answer_tokens=100)
    lab.use(campaign, wait=0.2)
    n = scale(48, 400)
    long = [{"role": "user", "content": "hello " * 900}]
    found = lab.ask(lab.router(), n, 16, stream=stream, messages=long, max_tokens=100)
    told = lab.ended(campaign)["told"]
    assert found["BudgetExceededError"] == n - told > 0
    assert sum(found[name] for name in ("nano", "mini", "big")) == told
    assert Decimal(campaign.status().purses[0].spent) <= Decimal(budget)


def test_an_exhausted_budget_says_so_and_no_fallback_spends_past_it(lab: Lab) -> None:
    import litellm

    campaign = lab.start({"budget": "0.0002"})
    router = lab.router(num_retries=2, fallbacks=[{"auto": ["spare"]}])
    kept: dict[str, str] = {"user": "x"}
    with pytest.raises(litellm.BudgetExceededError) as refused:
        lab.run(router.acompletion("auto", lab.asked, max_tokens=500, metadata=kept))
    assert "campaign 'chat': 'nano' may cost 0.00020" in str(refused.value)
    assert lab.ended(campaign) == {}
    # it is up, and has no campaign
    assert lab.ask(router, 1, model="spare", metadata=kept) == {"spare": 1}
    assert lab.ask(router, 1, max_tokens=10).keys() <= {"nano", "mini", "big"}
    assert counts(campaign)["told"] == 1  # a shorter answer fits


def test_money_that_is_held_is_waited_for(lab: Lab) -> None:
    campaign = lab.campaign(budget="0.0125", cost_min="0.0000001")
    lab.use(campaign)
    found = lab.ask(lab.router(), 12, 12, stream=True, max_tokens=500)
    assert found.total() == lab.ended(campaign)["told"] == 12
    campaign = lab.campaign(budget="0.0003", name="other")
    lab.clear()
    lab.use(campaign, wait=0)
    found = lab.ask(lab.router(), 12, 12, stream=True)
    assert found["BudgetExceededError"] > 0
    assert found["nano"] == lab.ended(campaign)["told"] > 0


def test_a_request_that_passes_is_refused_in_words_and_leaves_nothing_held(lab: Lab) -> None:
    planned = {"policy": "replan", "horizon": 300, "budget": "0.01", "cooldown": 60}
    campaign = lab.start({**planned, "skip": True}, wait=0)
    lab.ask(lab.router(), 12, max_tokens=50)
    down = lab.router(("nano", "mini"), num_retries=2)
    found = lab.ask(down, 12, max_tokens=50)
    assert found["BudgetExceededError"] == campaign.status().counts["skipped"] > 0
    assert set(found) <= {"BudgetExceededError", "RateLimitError", "big"}
    lab.ended(campaign)
    lab.clear()
    every = lab.start({**planned, "name": "every"}, wait=0)  # as `create_campaign` makes it
    lab.ask(lab.router(), 12, max_tokens=50)
    lab.ask(down, 12, max_tokens=50)
    assert every.status().counts["skipped"] == 0
    lab.ended(every)


def test_the_refusal_of_a_request_that_passes_says_what_answers_every_request(lab: Lab) -> None:
    import litellm

    lab.start({"policy": "replan", "horizon": 300, "budget": "0.01", "skip": True}, wait=0)
    lab.ask(lab.router(), 3, max_tokens=50)
    down = lab.router(("nano", "mini"))

    async def until_one_passes() -> None:
        for _ in range(30):
            with suppress(litellm.RateLimitError, litellm.ServiceUnavailableError):
                await down.acompletion("auto", lab.asked, max_tokens=50)

    with pytest.raises(litellm.BudgetExceededError) as refused:
        lab.run(until_one_passes())
    assert str(refused.value).startswith("campaign 'chat': the request passes, as money")


@pytest.mark.parametrize("stream", [False, True])
def test_responses_are_paid_like_chats(stream: bool, lab: Lab) -> None:
    from tests.support.provider import Provider

    with Provider() as provider:
        where = {"api_base": f"{provider.url}/v1", "mock_response": None}
        models = lab.deployments(**where)[:2]
        campaign = lab.campaign(models)
        hook = lab.use(campaign, reward="valid")

        async def ask() -> None:
            router = lab.router(models=models)
            wish = {"model": "auto", "input": "tokens=9", "metadata": {"session_id": "talk"}}
            for _ in range(3):
                answer: Any = await router.aresponses(**wish, max_output_tokens=50, stream=stream)
                if stream:
                    async for _ in answer:
                        pass
            assert await hook.flush(60) == 0

        lab.run(ask())
        assert lab.ended(campaign) == {"told": 3}
        assert len({model for model, _ in provider.books.calls}) == 1  # the session's
        assert Decimal(campaign.status().purses[0].spent) == provider.books.charged


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
