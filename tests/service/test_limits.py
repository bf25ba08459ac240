from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from purse.campaign.storage.connect import in_memory
from purse.errors import InvalidInput
from purse.service import limits
from purse.service.limits import TokenBuckets
from purse.service.settings import Settings
from tests.support.server import LONG, served
from tests.support.service import bearer, problem, running, service, token_file

JSON = {"Content-Type": "application/json"}


def test_a_bucket_gives_its_rate_and_no_more() -> None:
    now = [0.0]
    buckets = TokenBuckets(4, clock=lambda: now[0])
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 0, 0.25]
    assert buckets.take("b") == 0
    now[0] = 0.25
    assert [buckets.take("a") for _ in range(2)] == [0, 0.25]
    now[0] = 1000
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 0, 0.25]


def test_a_slow_rate_still_lets_one_through() -> None:
    now = [0.0]
    buckets = TokenBuckets(0.1, clock=lambda: now[0])
    assert [buckets.take("a"), buckets.take("a")] == [0, 10]
    now[0] = 10
    assert buckets.take("a") == 0


def test_few_senders_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_SENDERS", 3)
    buckets = TokenBuckets(1, clock=lambda: 0.0)
    assert [buckets.take(name) for name in "abcd"] == [0] * 4
    assert len(buckets._full) == 3
    assert buckets.take("d") == 1


def test_too_many_requests_are_told_when_to_come_again() -> None:
    client = service(rate=0.5)
    assert client.get("/campaigns").status_code == 200
    answer = client.get("/campaigns")
    assert "0.5 requests per second" in problem(answer, 429, "too-many-requests")
    assert 1 <= int(answer.headers["Retry-After"]) <= 2
    assert client.get("/healthz").status_code == 200


def test_each_token_has_its_own_rate_and_strangers_share_that_of_their_address(
    tmp_path: Path,
) -> None:
    path, made = token_file(tmp_path)
    client = service(rate=0.001, tokens=path)
    for role in ("read", "act"):
        assert client.get("/campaigns", headers=bearer(made[role])).status_code == 200
        problem(client.get("/campaigns", headers=bearer(made[role])), 429, "too-many-requests")
    problem(client.get("/campaigns", headers=bearer("wrong")), 401, "no-token")
    problem(client.get("/campaigns", headers=bearer("wrong again")), 429, "too-many-requests")


def requests_with_made_up_addresses(folder: Path, trusted: tuple[str, ...]) -> list[int]:
    path, _ = token_file(folder)
    with (
        served(storage=in_memory(), rate=0.001, tokens=path, trusted_proxies=trusted) as server,
        httpx.Client(base_url=server.url, timeout=LONG) as web,
    ):
        return [
            web.get("/campaigns", headers={"X-Forwarded-For": f"10.0.0.{i}"}).status_code
            for i in range(40)
        ]


def test_a_made_up_header_does_not_escape_the_rate(tmp_path: Path) -> None:
    assert requests_with_made_up_addresses(tmp_path, ()) == [401] + [429] * 39


def test_a_trusted_proxy_says_who_sent_a_request(tmp_path: Path) -> None:
    assert requests_with_made_up_addresses(tmp_path, ("127.0.0.0/8",)) == [401] * 40


def test_a_body_that_is_too_large_is_refused_by_its_announced_length() -> None:
    client = service(max_body=1000)
    answer = client.post("/campaigns", content=b"x" * 1001, headers=JSON)
    assert "more than 1,000 bytes" in problem(answer, 413, "too-large")


def test_a_body_that_is_too_large_is_refused_where_its_length_is_not_announced() -> None:
    client = service(max_body=1000)
    problem(
        client.post("/campaigns", content=iter([b"x" * 400] * 5), headers=JSON), 413, "too-large"
    )
    problem(
        client.post("/campaigns", content=iter([b"x" * 500, b"x" * 500]), headers=JSON),
        400,
        "invalid-input",
    )


def test_a_body_of_exactly_the_largest_size_is_taken() -> None:
    client = service(max_body=1000)
    body = b"{}" + b" " * 998
    assert "name: is missing" in problem(
        client.post("/campaigns", content=body, headers=JSON), 400, "invalid-input"
    )


def test_a_long_query_is_refused_before_it_is_read() -> None:
    client = running()
    words = "&".join(f"w{i}" for i in range(1000))
    for path in ("journal", "tickets"):
        assert "query: has 4,889 bytes; at most 2,000 are taken" in problem(
            client.get(f"/campaigns/prompts/{path}?{words}"), 400, "invalid-input"
        )


def test_as_many_reports_as_allowed_fit_into_the_default_body() -> None:
    client = running(budget="1000", arms={"a": "0.05", "b": "0.05"})
    assert len(client.post("/campaigns/prompts/asks", json={"n": 1000}).json()["tickets"]) == 1000
    reports = [
        {"ticket": number, "reward": 0.123456789012, "cost": "0.012345678"}
        for number in range(1, 1001)
    ]
    receipts = client.post("/campaigns/prompts/tells", json={"reports": reports}).json()["receipts"]
    assert {receipt["state"] for receipt in receipts} == {"told"}
    for path, body in (
        ("asks", {"n": 1001}),
        ("asks", {"n": 0}),
        ("tells", {"reports": [*reports, reports[0]]}),
    ):
        problem(client.post(f"/campaigns/prompts/{path}", json=body), 400, "invalid-input")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("port", 65536),
        ("port", -1),
        ("max_body", 10),
        ("rate", 0),
        ("rate", float("nan")),
        ("log", "xml"),
        ("trusted_proxies", ("proxy",)),
        ("trusted_proxies", ("*",)),
        ("trusted_proxies", ("10.0.0.2",)),  # and no tokens
    ],
)
def test_bad_settings_are_named(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"{field}="):
        Settings(**{field: value})
