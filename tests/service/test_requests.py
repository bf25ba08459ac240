"""What only HTTP adds to the verbs of campaigns and accounts.

That each verb answers here as it does in memory is what `tests/client/test_transcript.py` plays.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from purse import Account, Campaign
from purse.base.json import compact
from purse.campaign.storage.connect import in_memory
from purse.errors import ArmsCoolingDown
from purse.service import problems, routes
from tests.support.service import PROMPTS, TestClient, empty, problem, running, service

AT = "/campaigns/prompts"


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
        (1, "q-1"),
        (2, "q-1"),
        (3, "q-1"),
    ]
    assert client.get(AT).json()["counts"]["held"] == 3
    other = client.post(f"{AT}/asks", json={**body, "arms": ["small"]}, headers=headers)
    problem(other, 409, "conflict")


def test_a_top_up_with_a_key_counts_once_on_campaigns_and_accounts() -> None:
    client = running()
    client.post("/accounts", json={"name": "team-a", "budget": 25})
    for at in (AT, "/accounts/team-a"):
        for _ in range(2):
            topped = client.post(
                f"{at}/top-ups", json={"amount": "1.5"}, headers={"Idempotency-Key": "k"}
            )
            assert topped.json()["purses"][0]["budget"] == "26.5"


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


def test_errors_of_reports_stand_among_the_receipts() -> None:
    client = running()
    ask(client, n=2)
    reports = [(1, 1, 0.001), (99, 1, 0.001), (2, 7, 0)]
    body = {"reports": [dict(zip(("ticket", "reward", "cost"), r, strict=True)) for r in reports]}
    first, unknown, outside = client.post(f"{AT}/tells", json=body).json()["receipts"]
    assert (first["ticket"], first["state"], first["spent"]) == (1, "told", ["0.001"])
    assert (unknown["error"]["type"], unknown["error"]["status"]) == (
        "urn:purse:problem:ticket-error",
        404,
    )
    assert outside["error"]["detail"] == "reward=7.0: must lie between 0 and 1"


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
    most = 10_000
    monkeypatch.setattr(routes, "MOST_BYTES", most)
    storage = in_memory()
    client = running(storage, budget="1000")
    for _ in range(6):
        ask(client, n=100)
    whole = Campaign.open("prompts", storage=storage).journal()
    seen: list[Any] = []
    parts = 0
    while text := client.get(f"{AT}/journal?limit=10000&after={len(seen)}").text:
        lines = text.splitlines(keepends=True)
        assert sum(map(len, lines[:-1])) < most
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


def test_probabilities_that_a_policy_does_not_compute() -> None:
    client = running(policy="budgeted-thompson", arms={"a": 1})
    ask(client)
    words = problem(client.post(f"{AT}/probabilities"), 400, "invalid-input")
    assert words == "budgeted-thompson draws its arm without computing probabilities"


@pytest.mark.parametrize("name", ["a/b", "x" * 200, "#?&", "日本", "{name}"])
def test_an_arm_may_have_any_printable_name(name: str) -> None:
    client = running(capacity=4, cost_ceiling="0.1")
    assert client.post(f"{AT}/arms", json={"name": name}).json()["arms"][2] == name
    assert client.post(f"{AT}/arms/set", json={"name": name, "cost_max": "0.02"}).status_code == 200
    assert ask(client, arms={name: {"USD": "0.01"}})[0]["held"] == ["0.01"]
    assert client.post(f"{AT}/arms/retire", json={"name": name}).json()["retired"] == [name]


def test_features_may_be_declared_as_json_has_them() -> None:
    storage = in_memory()
    features = {
        "length": {"low": 0, "high": 8000, "optional": False},
        "source": {"classes": ["chat", "code"]},
    }
    client = running(storage, features=features)
    assert Campaign.open("prompts", storage=storage).terms.features == {
        "length": {"low": 0, "high": 8000},
        "source": {"classes": ["chat", "code"]},
    }
    first = ask(client, request_id="q", context={"length": 9000, "source": "code"})
    assert ask(client, request_id="q", context=[8001, "code"]) == first
    status = client.get(AT).json()
    assert (status["counts"]["clipped"], status["features"][0]["column"]) == (1, "length")


def test_a_new_period_shows_without_an_entry() -> None:
    storage = in_memory()
    storage.now = lambda: 1_800_000_000_000  # 15 January 2027
    terms = {"every": "month", "time_zone": "Europe/Berlin", "carry": "all"}
    client = running(storage, **terms)
    assert client.get(AT).json()["period"] == {
        "number": 1,
        **terms,
        "begun_at": 1_800_000_000.0,
        "ends_at": 1_801_436_400.0,  # 31 January, 23:00 UTC
        "rounds": 0,
        "allowance": ["25"],
        "carried": ["0"],
        "spent": ["0"],
    }
    storage.now = lambda: 1_800_000_000_000 + 40 * 86_400_000
    second = client.get(AT).json()
    assert (second["period"]["number"], second["period"]["carried"]) == (2, ["25"])
    assert (second["purses"][0]["left"], second["entries"]) == ("50", 1)


def test_the_overview_has_the_tree_of_each_account_without_one_above() -> None:
    storage = in_memory()
    client = service(storage)
    Account.create("team-a", budget=500, storage=storage)
    Account.create("lab", budget=3, account="team-a", storage=storage)
    Campaign.create(**{**PROMPTS, "resources": None}, account="team-a", storage=storage)
    (top,) = client.get("/overview").json()["accounts"]
    assert top["name"] == "team-a"
    assert [child["name"] for child in top["children"]] == ["lab", "prompts"]


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


def test_many_threads_never_overspend() -> None:
    client = running(budget="0.5")

    def play(number: int) -> int:
        answer = client.post(f"{AT}/asks", json={"n": 4, "request_id": f"r{number}"})
        return len(answer.json()["tickets"]) if answer.status_code == 200 else 0

    with ThreadPoolExecutor(8) as pool:
        given = sum(pool.map(play, range(40)))
    facts = client.get(AT).json()
    assert given == facts["counts"]["held"] > 0
    assert float(facts["purses"][0]["held"]) <= 0.5


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
