"""What a service refuses, in which words, and that a refusal changes nothing."""

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from purse import errors
from purse.base.problem_types import OF_ERRORS, kind_of, of_error
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.sqlite import Memory
from purse.campaign.storage.storage import Storage
from purse.client.wire import error_of
from purse.errors import PurseError, StorageUnavailable
from purse.service import problems
from purse.service.openapi import document
from tests.support.service import (
    PROMPTS,
    TestClient,
    bearer,
    problem,
    problem_kinds,
    running,
    service,
    token_file,
)

JSON = {"Content-Type": "application/json"}
AT = "/campaigns/prompts"
KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, PurseError)
]


@pytest.fixture(scope="module")
def client() -> TestClient:
    """A service with one ticket out, for requests that change nothing."""
    client = running(capacity=4, cost_ceiling="0.1")
    client.post(f"{AT}/asks")
    sees = {**PROMPTS, "name": "seen", "features": {"length": [0, 8000], "source": ["a", "b"]}}
    assert client.post("/campaigns", json=sees).status_code == 201
    assert client.post("/accounts", json={"name": "team-a", "budget": 5}).status_code == 201
    return client


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_a_problem_of_its_own_and_a_client_raises_it_again(
    kind: type[PurseError],
) -> None:
    facts = of_error(kind("what is wrong"))
    assert facts["type"] == f"urn:purse:problem:{OF_ERRORS[kind].slug}"
    assert (facts["detail"], 400 <= facts["status"] < 600, bool(facts["title"])) == (
        "what is wrong",
        True,
        True,
    )
    assert type(error_of(facts)) is kind
    assert str(error_of(facts)) == "what is wrong"


def test_no_two_problems_share_a_word_and_a_child_is_told_as_its_parent() -> None:
    words = [kind.slug for kind in problem_kinds()]
    assert len(set(words)) == len(words)

    class Stranger(errors.Conflict):
        pass

    assert kind_of(Stranger("x")).slug == "conflict"


def query(path: str, *words: str) -> list[tuple[str, None, str]]:
    """Requests whose query is refused by the name of its first word."""
    return [(f"{path}?{word}", None, word.partition("=")[0]) for word in words]


REPORT = "/tickets/1/tell"
TOO_DEEP = "body: is not JSON in UTF-8, or is nested too deeply"
# what only HTTP can be sent; what no face takes is in the transcript
REFUSED: list[tuple[str, Any, str]] = [
    (REPORT, b'{"reward": NaN, "cost": 0}', "reward=nan: must be a finite number"),
    (REPORT, b'{"reward": 1%b, "cost": 0}' % (b"0" * 400), "reward=1000"),
    (REPORT, b'{"reward": 1, "cost": 1e999}', "cost=inf: must be a number"),
    (REPORT, {"reward": 1, "cost": "NaN"}, "cost='NaN': must be a number"),
    (REPORT, {"reward": 1, "cost": 2**63}, "cost=9223372036854775808: must be"),
    (REPORT, {"reward": 1, "cost": [[[1]]]}, "cost=[[[1]]]: must be one amount for each"),
    (REPORT, {"reward": 1}, "cost: is missing"),
    (REPORT, {"reward": 1, "cost": 0, "tip": 1}, "unknown field of tell 'tip'"),
    *((REPORT, body, "body: ") for body in (b"[]", b"1", b"null", b'"text"')),
    (REPORT, b"{", "body: is not JSON"),
    (REPORT, b"", "reward: is missing"),
    (REPORT, b"\xff\xfe{}", "body: is not JSON: Expecting value at character 0"),
    (REPORT, b'{"reward": "\xff"}', "body: is not JSON in UTF-8"),
    (REPORT, b'{"\\ud800": 1}', "unknown field of tell"),
    (REPORT, b"[" * 100_000, TOO_DEEP),
    (REPORT, b"9" * 10_000, TOO_DEEP),
    ("/asks", {"arms": [1]}, "unknown arm in arms '1'"),
    ("/asks", {"arms": {"small": None}}, "arms['small']=None: must be a number"),
    *(("/asks", {"request_id": name}, "request_id") for name in ("\ud800", "x" * 201, "a\tb")),
    ("/arms", {}, "name: is missing"),
    ("/arms", {"name": "third", "price": 1}, "unknown field of add_arm 'price'"),
    ("/arms/retire", {"name": "small", "cost_max": 1}, "unknown field of retire_arm 'cost_max'"),
    ("/tickets/1/fail", {"why": ""}, "unknown field of fail 'why'"),
    (
        "/tells",
        {"reports": [{"ticket": 1, "reward": 1, "cost": 0}] * 1001},
        "reports: must be a list of at most 1,000",
    ),
    ("/tells", {"reports": 7}, "reports=7: must be a list"),
    (  # the first mistake is named
        "/tells",
        {"reports": [{"ticket": 1, "reward": 1, "cost": 1}, {"ticket": 2, "reward": 1}, 3]},
        "reports[1]={'ticket': 2, 'reward': 1}: must have ticket, reward, cost",
    ),
    ("seen/asks", {"context": [1, "a"], "contexts": [[1, "a"]]}, "context"),
    ("seen/asks", {"context": [1, "a"], "n": 2}, "context"),
    ("seen/asks", {"contexts": {"a": 1}}, "contexts="),
    ("seen/asks", {"context": [1] * 1001}, "context"),
    ("/recommendation?confidence=95", None, "confidence=95: must be above 0 and below 1; 95% is"),
    ("/recommendation?caps=1", None, "unknown field of recommend 'caps'; did you mean 'cap'?"),
    ("/tickets?stat=held", None, "unknown field of tickets 'stat'; did you mean 'state'?"),
    *query("/labels", "limit=0", "limit=10001", "key=", "by=week"),
    *query("/journal", "after=-1", "after=x", f"after={2**63}", "limit=0", "limit=10001", "limit="),
    *(("/tickets/" + number, None, "ticket=") for number in ("0", "-1", "1.5", "x", "9" * 5000)),
    ("/journal?" + "&".join(f"w{i}" for i in range(1000)), None, "query: has 4,889 bytes; at"),
]


@pytest.mark.parametrize(("path", "body", "words"), REFUSED)
def test_a_request_that_cannot_be_is_refused_by_name_and_changes_nothing(
    client: TestClient, path: str, body: Any, words: str
) -> None:
    at = AT + path if path[0] == "/" else f"/campaigns/{path}"
    sent = body if isinstance(body, bytes) else json.dumps(body)
    answer = client.get(at) if body is None else client.post(at, content=sent, headers=JSON)
    assert words in problem(answer, 400, "invalid-input")
    assert "errors" not in answer.json()
    entries = [client.get(f"/campaigns/{name}").json()["entries"] for name in ("prompts", "seen")]
    assert entries == [2, 1]


TERMS: list[tuple[dict[str, Any], str]] = [
    ({"policy": "mine.py"}, "policy='mine.py': must be the name of a policy; a server"),
    ({"policy": "/tmp/mine.py:beta=1"}, "a server takes no files"),
    ({"policy": " mine.py "}, "a server takes no files"),
    ({"policy": "mine.py :beta=1"}, "a server takes no files"),
    ({"policy": "a/b"}, "unknown policy 'a/b'"),
    ({"policy": "exp3.bwk:beta=["}, "cannot read"),
    ({"arms": {"a\u0000b": 1}}, "arms="),
    ({"plays": 1}, "unknown field of create 'plays'"),
    ({"seed": 2**63}, "seed=9223372036854775808: must be a whole number"),
    ({"storage": "sqlite:///other.db"}, "unknown field of create 'storage'"),
    ({"capacity": 10_001}, "capacity=10001: must be a whole number from 2 to 10000"),
    ({"arms": {str(n): 1 for n in range(1_001)}}, "arms='1,001 entries': must have at most"),
    ({"resources": [str(n) for n in range(101)]}, "resources='101 entries': must have at most"),
    ({"cost_min": ["0.1"] * 20_000}, "cost_min='20,000 entries': must have at most 1,000"),
    ({"budget": ["1"] * 20_000}, "budget='20,000 entries': must have at most 1,000"),
]
FEATURES: list[Any] = [
    "length", 1.5, 65, True, ["a"] * 65, [1], {"a": 5}, {"a": {"low": 1}},
    {"a": {"low": "0", "high": 1}}, {"a": {"low": 0, "high": 1, "optional": "yes"}},
    {"a": {"classes": [1, 2]}}, {"a": {"range": [1, 2]}},
]  # fmt: skip


def test_terms_that_cannot_be_are_refused_by_name(client: TestClient) -> None:
    for change, words in (*TERMS, *(({"features": one}, "features") for one in FEATURES)):
        answer = client.post("/campaigns", json={**PROMPTS, "name": "new", **change})
        assert words in problem(answer, 400, "invalid-input")
    assert client.get("/campaigns").json() == {"names": ["prompts", "seen"]}


def test_a_name_is_taken_for_campaigns_and_accounts_alike(client: TestClient) -> None:
    for at, name in (("/accounts", "prompts"), ("/accounts", "team-a"), ("/campaigns", "team-a")):
        terms = PROMPTS if at == "/campaigns" else {"budget": 1}
        problem(client.post(at, json={**terms, "name": name}), 409, "campaign-exists")


@pytest.mark.parametrize(
    "name", ["a b", "%00", "é", "x" * 101, "-x", "a%0Ab", "a%5Cb", "%C3%28", "'"]
)
def test_a_name_that_cannot_be_is_refused(client: TestClient, name: str) -> None:
    for path in ("/campaigns/{}", "/campaigns/{}/journal", "/campaigns/{}/tickets/1"):
        answer = client.get(path.format(name))
        assert (answer.status_code, answer.json()["status"]) in ((400, 400), (404, 404))
        assert answer.headers["Content-Type"] == "application/problem+json"


def test_what_is_not_there(client: TestClient) -> None:
    for method, path in (
        ("GET", "/campaigns/other"),
        ("POST", "/campaigns/other/asks"),
        ("GET", "/campaigns/other/picture"),
        ("GET", "/campaigns/other/events"),
        ("POST", "/campaigns/other/tickets/1/void"),
        ("GET", "/campaigns/team-a"),
        ("GET", "/accounts/prompts"),
    ):
        problem(client.request(method, path), 404, "not-found")
    problem(client.get(f"{AT}/tickets/4"), 404, "ticket-error")
    problem(client.get("/campaigns/"), 404, "no-such-path")
    answer = client.delete(AT)
    problem(answer, 405, "method-not-allowed")
    assert answer.headers["Allow"] == "GET"


def test_very_many_unknown_fields_are_one_short_error(client: TestClient) -> None:
    fields = {f"f{number}": 1 for number in range(70_000)}
    assert 800_000 < len(json.dumps(fields)) < 1_000_000
    for path in ("asks", "tickets/1/tell", "top-ups"):
        for body in (fields, {"x" * 900_000: 1}):
            said = problem(client.post(f"{AT}/{path}", json=body), 400, "invalid-input")
            assert said.startswith("unknown field of ")
            assert len(said) < 400


ODD = {
    "deep": "[" * 950 + "]" * 950,
    "many": json.dumps([[1] * 10] * 2_000),
    "digits": "1" * 4000,
    "large": str(2**70),
    "no text": '"\\ud800"',
    "long": '"%s"' % ("x" * 5000),
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_whatever_a_field_holds_is_refused_in_a_short_line_or_taken(value: str) -> None:
    """Each field of each body, one after the other."""
    client = running()
    for path, methods in document()["paths"].items():
        facts = methods.get("post", {}).get("requestBody")
        at = path.replace("{name}", "prompts").replace("{ticket}", "1")
        for field in facts["content"]["application/json"]["schema"]["properties"] if facts else ():
            given = facts["content"]["application/json"].get("example", {})
            body = json.dumps({**given, field: "@"}).replace('"@"', value)
            answer = client.post(at, content=body, headers=JSON)
            assert answer.status_code < 500, f"{path} {field}: {answer.text}"
            assert answer.status_code < 400 or len(answer.text) < 3_000, f"{path} {field}"


class Dead(Storage):
    """A storage that does not answer, or has a bug."""

    error: Exception = StorageUnavailable("secret.example:5432: connection refused")

    def names(self, *_: str) -> list[str]:
        raise self.error

    glances = names  # type: ignore[assignment]


def test_a_storage_that_does_not_answer_is_a_503_that_says_when_to_come_again_and_tells_no_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = service(Dead(Memory()))
    for path in ("/readyz", "/campaigns"):
        answer = client.get(path)
        assert "secret" not in problem(answer, 503, "storage-unavailable")
        assert answer.headers["Retry-After"] == "1"
    assert "secret.example" in caplog.text
    assert client.get("/healthz").status_code == 200
    assert "purse_storage_up 0.0" in client.get("/metrics").text


def test_nothing_is_admitted_while_the_storage_cannot_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage = in_memory()
    client = running(storage)
    client.post(f"{AT}/asks")

    def fail(*_: Any) -> None:
        raise StorageUnavailable("disk full")

    monkeypatch.setattr(storage, "change", fail)
    for path, body in (
        ("asks", {}),
        ("tells", {"reports": [{"ticket": 1, "reward": 1, "cost": 0}]}),
        ("tickets/1/settle", {"cost": 0}),
        ("tickets/1/reward", {"reward": 1}),
        ("tickets/1/fail", {}),
        ("tickets/1/void", None),
        ("pause", None),
    ):
        problem(client.post(f"{AT}/{path}", json=body), 503, "storage-unavailable")
    assert client.get(AT).json()["entries"] == 2


def test_a_bug_is_a_500_that_only_the_log_explains(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dead, "error", ZeroDivisionError("secret"))
    with caplog.at_level(logging.ERROR):
        answer = service(Dead(Memory())).get("/campaigns", headers={"X-Request-Id": "r-1"})
    assert problem(answer, 500, "internal") == "the server's log says more under r-1"
    assert "ZeroDivisionError" in caplog.text
    assert "secret" not in json.dumps(answer.json())


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What is logged, as JSON lines."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(problems._JsonLines())
    problems.LOGGER.addHandler(handler)
    before = problems.LOGGER.level
    problems.LOGGER.setLevel(logging.INFO)
    yield written
    problems.LOGGER.removeHandler(handler)
    problems.LOGGER.setLevel(before)


def test_each_request_is_one_line_without_its_token(lines: io.StringIO, tmp_path: Path) -> None:
    path, made = token_file(tmp_path)
    client = service(tokens=path)
    client.get(
        "/campaigns/prompts?secret=1", headers={**bearer(made["read"]), "X-Request-Id": "r-1"}
    )
    client.get("/campaigns", headers=bearer("purse_wrong"))
    first, second = (json.loads(line) for line in lines.getvalue().splitlines())
    assert first.pop("ms") >= 0
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "info",
        "message": "request",
        "method": "GET",
        "route": "/campaigns/{name}",
        "status": 400,
        "campaign": "prompts",
        "request_id": "r-1",
        "token": "read",
    }
    assert (second["status"], second["token"]) == (401, None)
    assert not any(word in lines.getvalue() for word in (*made.values(), "purse_wrong", "secret"))


def record(message: str, **facts: Any) -> logging.LogRecord:
    made = {"msg": message, "levelname": "INFO", "created": 0.0, **facts}
    return logging.makeLogRecord(made)


def test_a_line_for_people_cannot_be_broken() -> None:
    facts = {"campaign": "a\x1b[2J", "token": None}
    line = problems._Lines().format(record("hello\nworld", **{problems.FACTS: facts}))
    assert line == "00:00:00.000 info    hello\\nworld campaign=a\\x1b[2J"


def test_a_failure_is_logged_with_its_cause() -> None:
    error = ZeroDivisionError()
    failed = record("oh", exc_info=(type(error), error, None))
    assert "ZeroDivisionError" in json.loads(problems._JsonLines().format(failed))["error"]
    assert "ZeroDivisionError" in problems._Lines().format(failed)
