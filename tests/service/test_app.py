from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from purse import Campaign
from purse.base.json import compact
from purse.campaign.storage.connect import in_memory
from purse.service import routes
from tests.support.service import PROMPTS, empty, problem, running, service


def ask(client: Any, **body: Any) -> list[dict[str, Any]]:
    answer = client.post("/campaigns/prompts/asks", json=body)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["tickets"])


def purse_of(client: Any) -> dict[str, str]:
    return dict(client.get("/campaigns/prompts").json()["purses"][0])


def test_a_campaign_from_its_creation_to_its_end() -> None:
    client = service()
    assert client.get("/campaigns").json() == {"names": []}
    made = client.post("/campaigns", json=PROMPTS)
    assert (made.status_code, made.json()["name"], made.json()["status"]) == (
        201,
        "prompts",
        "running",
    )
    assert client.get("/campaigns").json() == {"names": ["prompts"]}
    (ticket,) = ask(client)
    assert (ticket["id"], ticket["state"]) == (1, "held")
    assert (
        purse_of(client)["held"]
        == ticket["held"][0]
        == {"small": "0.01", "large": "0.05"}[ticket["arm"]]
    )
    told = client.post(
        "/campaigns/prompts/tickets/1/tell", json={"reward": 0.9, "cost": "0.0021"}
    ).json()
    assert (told["state"], told["duplicate"], told["spent"]) == ("told", False, ["0.0021"])
    ask(client)
    assert client.post("/campaigns/prompts/tickets/2/void").json()["state"] == "void"
    assert (
        client.post("/campaigns/prompts/top-ups", json={"amount": 5, "request_id": "more"}).json()[
            "purses"
        ][0]["budget"]
        == "30"
    )
    assert purse_of(client) == {
        "resource": "USD",
        "budget": "30",
        "spent": "0.0021",
        "held": "0",
        "presumed": "0",
        "left": "29.9979",
        "overrun": "0",
    }
    assert client.post("/campaigns/prompts/pause").json()["status"] == "paused"
    problem(client.post("/campaigns/prompts/asks"), 409, "campaign-paused")
    assert client.post("/campaigns/prompts/resume").json()["status"] == "running"
    assert client.post("/campaigns/prompts/end").json()["status"] == "ended"
    problem(client.post("/campaigns/prompts/asks"), 409, "campaign-ended")


def test_an_ask_needs_no_body() -> None:
    client = running()
    assert len(client.post("/campaigns/prompts/asks").json()["tickets"]) == 1


@pytest.mark.parametrize("how", ["body", "header", "both"])
def test_the_same_request_gets_the_same_tickets_and_makes_no_second_hold(how: str) -> None:
    client = running()
    body = {"n": 3, **({"request_id": "q-1"} if how != "header" else {})}
    headers = {"Idempotency-Key": "q-1"} if how != "body" else {}
    first, second = (
        client.post("/campaigns/prompts/asks", json=body, headers=headers).json() for _ in range(2)
    )
    assert first == second
    assert [ticket["id"] for ticket in first["tickets"]] == [1, 2, 3]
    assert client.get("/campaigns/prompts").json()["counts"]["held"] == 3


def test_two_names_for_one_request_are_refused() -> None:
    client = running()
    for path, body in (("asks", {}), ("top-ups", {"amount": 1})):
        answer = client.post(
            f"/campaigns/prompts/{path}",
            json={**body, "request_id": "a"},
            headers={"Idempotency-Key": "b"},
        )
        assert "Idempotency-Key='b'" in problem(answer, 400, "invalid-input")
    assert client.get("/campaigns/prompts").json()["entries"] == 1


def test_a_request_id_cannot_mean_two_things() -> None:
    client = running()
    ask(client, request_id="q")
    problem(
        client.post("/campaigns/prompts/asks", json={"request_id": "q", "n": 2}), 409, "conflict"
    )
    problem(
        client.post("/campaigns/prompts/top-ups", json={"request_id": "q", "amount": 1}),
        409,
        "conflict",
    )


def test_a_top_up_counts_once() -> None:
    client = running()
    for _ in range(2):
        assert (
            client.post(
                "/campaigns/prompts/top-ups",
                json={"amount": "1.5"},
                headers={"Idempotency-Key": "k"},
            ).json()["purses"][0]["budget"]
            == "26.5"
        )


def test_reports_stand_alone() -> None:
    client = running()
    ask(client, n=2)
    reports: list[dict[str, Any]] = [
        {"ticket": 1, "reward": 1, "cost": 0.001},
        {"ticket": 99, "reward": 1, "cost": 0.001},
        {"ticket": 2, "reward": 0, "cost": "7"},
        {"ticket": 2, "reward": 7, "cost": 0},
    ]
    first, unknown, dear, outside = client.post(
        "/campaigns/prompts/tells", json={"reports": reports}
    ).json()["receipts"]
    assert (first["ticket"], first["state"], first["spent"]) == (1, "told", ["0.001"])
    assert (unknown["error"]["type"], unknown["error"]["status"]) == (
        "urn:purse:problem:ticket-error",
        404,
    )
    assert float(dear["spent"][0]) + float(dear["overrun"][0]) == 7
    assert outside["error"]["detail"] == "reward=7.0: must lie between 0 and 1"
    again = client.post("/campaigns/prompts/tells", json={"reports": reports[:1]}).json()[
        "receipts"
    ]
    assert again == [{**first, "duplicate": True}]
    other = client.post(
        "/campaigns/prompts/tells", json={"reports": [{**reports[0], "cost": 0.002}]}
    ).json()["receipts"]
    assert other[0]["error"]["type"] == "urn:purse:problem:conflict"


def test_a_second_report_that_differs_is_a_conflict_and_is_kept() -> None:
    client = running()
    ask(client)
    assert (
        client.post(
            "/campaigns/prompts/tickets/1/tell", json={"reward": 1, "cost": 0.001}
        ).status_code
        == 200
    )
    assert (
        client.post("/campaigns/prompts/tickets/1/tell", json={"reward": 1, "cost": 0.001}).json()[
            "duplicate"
        ]
        is True
    )
    problem(
        client.post("/campaigns/prompts/tickets/1/tell", json={"reward": 1, "cost": 0.002}),
        409,
        "conflict",
    )
    problem(client.post("/campaigns/prompts/tickets/1/void"), 409, "conflict")
    kinds = [
        json.loads(line)["kind"]
        for line in client.get("/campaigns/prompts/journal").text.splitlines()
    ]
    assert kinds == ["created", "asked", "told", "conflict", "conflict"]


def test_tickets_are_found_by_state_and_by_number() -> None:
    client = running()
    ask(client, n=3)
    client.post("/campaigns/prompts/tickets/2/void")

    def ids(query: str) -> list[int]:
        return [
            ticket["id"]
            for ticket in client.get(f"/campaigns/prompts/tickets{query}").json()["tickets"]
        ]

    assert ids("") == ids("?state=held") == [1, 3]
    assert ids("?state=void") == [2]
    assert ids("?state=void&state=held") == [1, 2, 3]
    assert ids("?limit=1") == [1]
    assert client.get("/campaigns/prompts/tickets/2").json()["state"] == "void"
    problem(client.get("/campaigns/prompts/tickets/4"), 404, "ticket-error")


def test_the_journal_comes_in_pages() -> None:
    client = running()
    for _ in range(4):
        ask(client)
    page = client.get("/campaigns/prompts/journal?after=2&limit=2")
    assert page.headers["Content-Type"] == "application/x-ndjson"
    assert [json.loads(line)["seq"] for line in page.text.splitlines()] == [3, 4]
    assert client.get("/campaigns/prompts/journal?after=5").text == ""


def test_an_answer_with_a_part_of_a_journal_has_few_bytes_and_the_next_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most = 100_000
    monkeypatch.setattr(routes, "MOST_BYTES", most)
    storage = in_memory()
    client = running(storage, budget="1000")
    for _ in range(6):
        assert len(ask(client, n=1000)) == 1000
    whole = Campaign.open("prompts", storage=storage).journal()
    seen: list[Any] = []
    parts = 0
    while text := client.get(f"/campaigns/prompts/journal?limit=10000&after={len(seen)}").text:
        lines = text.splitlines(keepends=True)
        assert sum(map(len, lines[:-1])) < most
        seen += map(json.loads, lines)
        parts += 1
    assert seen == [json.loads(compact(entry._asdict())) for entry in whole]
    assert parts > 2
    page = client.get("/campaigns/prompts/journal?limit=1&after=1").text
    assert [json.loads(line)["seq"] for line in page.splitlines()] == [2]


def test_several_resources_are_told_by_name() -> None:
    client = running(
        arms={key: ["1", 1] for key in "abc"},
        resources=["USD", "calls"],
        budget={"calls": 100, "USD": "10"},
        cost_min=[["0.01", 1]] * 3,
    )
    ask(client)
    told = client.post(
        "/campaigns/prompts/tickets/1/tell",
        json={"reward": 0.5, "cost": {"calls": 1, "USD": "0.25"}},
    ).json()
    assert (told["spent"], told["refunded"]) == (["0.25", "1"], ["0.75", "0"])


def test_a_service_finds_what_another_made_in_the_same_storage() -> None:
    storage = in_memory()
    ask(running(storage), request_id="q")
    assert ask(service(storage), request_id="q")[0]["id"] == 1


def test_many_threads_never_overspend() -> None:
    client = running(budget="0.5")

    def play(number: int) -> int:
        answer = client.post("/campaigns/prompts/asks", json={"n": 4, "request_id": f"r{number}"})
        return len(answer.json()["tickets"]) if answer.status_code == 200 else 0

    with ThreadPoolExecutor(8) as pool:
        given = sum(pool.map(play, range(40)))
    facts = client.get("/campaigns/prompts").json()
    assert given == facts["counts"]["held"] > 0
    assert float(facts["purses"][0]["held"]) <= 0.5


def test_every_answer_has_a_request_id_which_is_the_senders_where_it_is_harmless() -> None:
    client = running()
    assert (
        client.get("/campaigns", headers={"X-Request-Id": "abc-1"}).headers["X-Request-Id"]
        == "abc-1"
    )
    for bad in ("", "a b", "x" * 200):
        made = client.get("/campaigns", headers={"X-Request-Id": bad}).headers["X-Request-Id"]
        assert made != bad
        assert len(made) == 32


def test_answers_are_not_kept_by_browsers_and_say_the_role() -> None:
    answer = running().get("/campaigns")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Purse-Role"] == "admin"


def test_alive_and_ready() -> None:
    client = service()
    assert client.get("/healthz").json() == client.get("/readyz").json() == {"status": "ok"}


def test_no_page_that_needs_a_network() -> None:
    client = service()
    assert [client.get(path).status_code for path in ("/docs", "/redoc")] == [404, 404]


def test_a_campaign_that_was_made_anew_is_opened_again() -> None:
    storage = in_memory()
    client = running(storage)
    ask(client)
    empty(storage)
    assert client.post("/campaigns", json={**PROMPTS, "arms": {"x": 1, "y": 2}}).status_code == 201
    assert ask(client)[0]["arm"] in ("x", "y")
    empty(storage)
    Campaign.create(**{**PROMPTS, "arms": {"p": 1, "q": 2}}, storage=storage)
    problem(client.post("/campaigns/prompts/asks"), 404, "not-found")
    assert ask(client)[0]["arm"] in ("p", "q")


def test_cost_and_reward_may_come_apart_and_a_call_may_fail() -> None:
    client = running()
    client.post("/campaigns/prompts/asks", json={"n": 3})
    at = "/campaigns/prompts/tickets"
    assert client.post(f"{at}/1/settle", json={"cost": "0.003"}).json()["state"] == "settled"
    assert client.post(f"{at}/1/reward", json={"reward": 0.5}).json()["state"] == "told"
    assert client.post(f"{at}/2/reward", json={"reward": 0.5}).json()["state"] == "held"
    assert client.post(f"{at}/2/settle", json={"cost": 0}).json()["state"] == "told"
    failed = client.post(f"{at}/3/fail", json={"cost": "0.001", "reason": "429"}).json()
    assert (failed["state"], failed["spent"]) == ("failed", ["0.001"])
    assert client.post(f"{at}/3/settle", json={"cost": "0.001"}).json()["duplicate"] is True
    for path, body in (
        ("1/settle", {"cost": "0.004"}),
        ("1/reward", {"reward": 1}),
        ("3/fail", {}),
        ("3/void", None),
    ):
        assert client.post(f"{at}/{path}", json=body).status_code == 409
    for path, body in (
        ("1/settle", {}),
        ("1/settle", {"cost": -1}),
        ("1/reward", {"reward": 2}),
        ("3/fail", {"reason": 7}),
        ("3/fail", {"why": ""}),
    ):
        assert client.post(f"{at}/{path}", json=body).status_code == 400
    found = client.get(at, params={"state": ["failed"]}).json()["tickets"]
    assert [ticket["id"] for ticket in found] == [3]
