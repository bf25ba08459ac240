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
from tests.support.service import LONG, bearer, problem, served, service, token_file


def test_a_bucket_gives_its_rate_and_no_more() -> None:
    now = [0.0]
    buckets = TokenBuckets(4, clock=lambda: now[0])
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 0, 0.25]
    assert buckets.take("b") == 0
    now[0] = 0.25
    assert [buckets.take("a") for _ in range(2)] == [0, 0.25]
    now[0] = 1000
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 0, 0.25]
    slow = TokenBuckets(0.1, clock=lambda: now[0])
    assert [slow.take("a"), slow.take("a")] == [0, 10]
    now[0] += 10
    assert slow.take("a") == 0


def test_few_senders_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MOST_SENDERS", 3)
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


@pytest.mark.parametrize(
    ("trusted", "statuses"), [((), [401] + [429] * 9), (("127.0.0.0/8",), [401] * 10)]
)
def test_a_made_up_header_escapes_the_rate_only_from_a_trusted_proxy(
    tmp_path: Path, trusted: tuple[str, ...], statuses: list[int]
) -> None:
    path, _ = token_file(tmp_path)
    with (
        served(storage=in_memory(), rate=0.001, tokens=path, trusted_proxies=trusted) as server,
        httpx.Client(base_url=server.url, timeout=LONG) as web,
    ):
        assert [
            web.get("/campaigns", headers={"X-Forwarded-For": f"10.0.0.{i}"}).status_code
            for i in range(10)
        ] == statuses


def test_a_body_that_is_too_large_is_refused_with_and_without_its_length() -> None:
    client = service(max_body=1000)
    for body, status, word, said in (
        (b"x" * 1001, 413, "too-large", "more than 1,000 bytes"),
        (iter([b"x" * 400] * 5), 413, "too-large", "more than 1,000 bytes"),
        (iter([b"x" * 500, b"x" * 500]), 400, "invalid-input", "body: is not JSON"),
        (b"{}" + b" " * 998, 400, "invalid-input", "name: is missing"),
    ):
        answer = client.post(
            "/campaigns", content=body, headers={"Content-Type": "application/json"}
        )
        assert said in problem(answer, status, word)


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
def test_bad_settings_are_named(field: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"{field}="):
        Settings(**{field: value})
    socket: Any = {"socket": tmp_path, "tokens": tmp_path, "trusted_proxies": ("10.0.0.2",)}
    with pytest.raises(InvalidInput, match=r"trusted_proxies='10.0.0.2': must be left out"):
        Settings(**socket)
