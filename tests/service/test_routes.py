"""What only HTTP adds to the verbs of campaigns and accounts.

That each verb answers here as it does in memory is what `tests/client/test_transcript.py` plays.
"""

import json
import threading
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest

from purse import Campaign
from purse.base.json import compact
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.sqlite import Memory
from purse.campaign.storage.storage import Storage
from purse.errors import ArmsCoolingDown
from purse.service import problems, routes
from purse.service.app import Service
from purse.service.settings import Settings
from tests.support.processes import in_loop
from tests.support.service import HERE, LONG, PROMPTS, TestClient, empty, problem, running, service

AT = "/campaigns/prompts"
READS = (f"{AT}/tickets", f"{AT}/journal", f"{AT}/picture")
ASKS = 60


def ask(client: Any, **body: Any) -> list[dict[str, Any]]:
    answer = client.post(f"{AT}/asks", json=body)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["tickets"])


def test_answers_are_created_once_and_need_no_body() -> None:
    client = service()
    made = client.post("/campaigns", json=PROMPTS)
    assert (made.status_code, made.json()["name"], made.json()["period"]) == (201, "prompts", None)
    problem(client.post("/campaigns", json=PROMPTS), 409, "campaign-exists")
    again = client.post("/campaigns", json={**PROMPTS, "exist_ok": True})
    assert (again.status_code, client.get("/campaigns").json()) == (201, {"names": ["prompts"]})
    assert len(client.post(f"{AT}/asks").json()["tickets"]) == 1
    assert client.get("/healthz").json() == client.get("/readyz").json() == {"status": "ok"}
    assert [client.get(path).status_code for path in ("/docs", "/redoc")] == [404, 404]


@pytest.mark.parametrize("how", ["body", "header", "both"])
def test_the_same_request_gets_the_same_tickets_and_makes_no_second_hold(how: str) -> None:
    client = running()
    body = {"n": 3, **({"request_id": "q-1"} if how != "header" else {})}
    headers = {"Idempotency-Key": "q-1"} if how != "body" else {}
    first, second = (client.post(f"{AT}/asks", json=body, headers=headers).json() for _ in "ab")
    assert first == second
    assert [(ticket["id"], ticket["request_id"]) for ticket in first["tickets"]] == [
        (number, "q-1") for number in (1, 2, 3)
    ]
    assert client.get(AT).json()["counts"]["held"] == 3
    other = client.post(f"{AT}/asks", json={**body, "arms": ["small"]}, headers=headers)
    problem(other, 409, "conflict")


@pytest.mark.parametrize(("path", "body"), [("asks", {}), ("top-ups", {"amount": 1})])
def test_keys_that_cannot_be_and_two_names_for_one_request_are_refused(
    untouched: TestClient, path: str, body: dict[str, Any]
) -> None:
    before = untouched.get(AT).json()["entries"]
    for key in ("", "x" * 201, "é"):
        header = {"Idempotency-Key": key.encode()}
        answer = untouched.post(f"{AT}/{path}", json=body, headers=header)
        said = problem(answer, 400, "invalid-input")
        assert said.startswith(("request_id=", "Idempotency-Key="))
    named = {**body, "request_id": "a"}
    answer = untouched.post(f"{AT}/{path}", json=named, headers={"Idempotency-Key": "b"})
    assert "Idempotency-Key='b'" in problem(answer, 400, "invalid-input")
    assert untouched.get(AT).json()["entries"] == before
    for good in ("a b", "é"):
        answer = untouched.post(f"{AT}/{path}", json={**body, "request_id": f"{path} {good}"})
        assert answer.status_code == 200


def test_as_many_reports_as_allowed_fit_into_the_default_body() -> None:
    client = running(budget="1000", arms={"a": "0.05", "b": "0.05"})
    assert len(ask(client, n=1000)) == 1000
    reports = [
        {"ticket": number, "reward": 0.123456789012, "cost": "0.012345678"}
        for number in range(1, 1001)
    ]
    receipts = client.post(f"{AT}/tells", json={"reports": reports}).json()["receipts"]
    assert {receipt["state"] for receipt in receipts} == {"told"}


def test_an_answer_with_a_part_of_a_journal_has_few_bytes_and_the_next_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = 10_000
    monkeypatch.setattr(routes, "_BYTE_LIMIT", limit)
    storage = in_memory()
    client = running(storage, budget="1000")
    for _ in range(6):
        ask(client, n=100)
    whole = Campaign.open("prompts", storage=storage).journal()
    seen: list[Any] = []
    parts = 0
    while text := client.get(f"{AT}/journal?limit=10000&after={len(seen)}").text:
        lines = text.splitlines(keepends=True)
        assert sum(map(len, lines[:-1])) < limit
        seen += map(json.loads, lines)
        parts += 1
    assert seen == [json.loads(compact(entry._asdict())) for entry in whole]
    assert parts > 2
    page = client.get(f"{AT}/journal?limit=2&after=1")
    assert page.headers["Content-Type"] == "application/x-ndjson"
    assert [json.loads(line)["seq"] for line in page.text.splitlines()] == [2, 3]


@pytest.mark.parametrize(("seconds", "header"), [(0.75, "1"), (2, "2"), (7.001, "8")])
def test_arms_that_cool_down_say_when_to_come_again(
    seconds: float, header: str, caplog: pytest.LogCaptureFixture
) -> None:
    storage = in_memory()
    storage.now = lambda: 1_000_000
    client = running(storage, cooldown=seconds)
    ask(client, arms=["small"])
    client.post(f"{AT}/tickets/1/fail", json={"reason": "429"})
    for verb in ("asks", "probabilities"):
        answer = client.post(f"{AT}/{verb}", json={"arms": ["small"]})
        words = problem(answer, 503, "arms-cooling-down")
        assert words == (
            f"calls of 'small' failed, and the arm cools down: ask again in {seconds:g} s"
        )
        assert (answer.headers["Retry-After"], answer.json()["seconds"]) == (header, seconds)
    assert "arms-cooling-down" not in caplog.text, "no failure of the server"
    assert problems.answer_to(ArmsCoolingDown("wait")).headers["Retry-After"] == "1"


def test_two_services_share_a_storage_and_a_campaign_that_was_replaced_is_opened_again() -> None:
    storage = in_memory()
    client = running(storage)
    ask(client, request_id="q")
    assert ask(service(storage), request_id="q")[0]["id"] == 1
    empty(storage)
    assert client.post("/campaigns", json={**PROMPTS, "arms": {"x": 1, "y": 2}}).status_code == 201
    assert ask(client)[0]["arm"] in ("x", "y")
    empty(storage)
    Campaign.create(**{**PROMPTS, "arms": {"p": 1, "q": 2}}, storage=storage)
    problem(client.post(f"{AT}/asks"), 404, "not-found")
    assert ask(client)[0]["arm"] in ("p", "q")


def test_headers_of_every_answer(untouched: TestClient) -> None:
    answer = untouched.get("/campaigns", headers={"X-Request-Id": "abc-1"})
    assert answer.headers["X-Request-Id"] == "abc-1"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Purse-Role"] == "admin"
    for bad in ("", "a b", "x" * 200):
        made = untouched.get("/campaigns", headers={"X-Request-Id": bad}).headers["X-Request-Id"]
        assert made != bad
        assert len(made) == 32


class Locked(Storage):
    """A storage whose lock another process holds until `free` is set."""

    def __init__(self) -> None:
        super().__init__(Memory())
        self.free = threading.Event()

    def change(self, *wanted: Any) -> None:
        assert self.free.wait(LONG)
        super().change(*wanted)


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(LONG):
        while not true():
            await anyio.sleep(0.01)


def test_asks_that_wait_for_the_storage_delay_no_reader_and_too_many_are_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(routes, "_WAITING_LIMIT", ASKS - routes._WRITERS)
    storage = Locked()
    app = Service(Settings(storage=storage))
    answers: list[httpx.Response] = []

    async def main() -> None:
        async with (
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HERE) as client,
            anyio.create_task_group() as group,
        ):
            assert (await client.post("/campaigns", json=PROMPTS)).status_code == 201

            async def ask() -> None:
                answers.append(await client.post("/campaigns/prompts/asks"))

            try:
                for _ in range(ASKS):
                    group.start_soon(ask)
                waiting = ASKS - routes._WRITERS
                await until(lambda: app.threads.waiting == waiting)
                with anyio.fail_after(LONG):
                    for path in ("/readyz", "/metrics", "/campaigns", "/", AT, *READS):
                        assert (await client.get(path)).status_code == 200, path
                    refused = await client.post("/campaigns/prompts/asks")
                said = problem(refused, 503, "storage-unavailable")
                assert said.startswith("20 requests wait for the storage already")
                assert refused.headers["Retry-After"] == "1"
                assert not answers
            finally:
                storage.free.set()

    in_loop(main())
    assert [answer.status_code for answer in answers] == [200] * ASKS
