from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from purse import errors
from purse.base.problem_types import OF_ERRORS, kind_of, of_error
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.sqlite import Memory
from purse.campaign.storage.storage import Storage
from purse.client.wire import error_of
from purse.errors import PurseError, StorageUnavailable
from purse.service.openapi import document
from tests.support.service import PROMPTS, TestClient, problem, problem_kinds, running, service

JSON = {"Content-Type": "application/json"}
KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, PurseError)
]


@pytest.fixture(scope="module")
def client() -> TestClient:
    """A service with one ticket out, for requests that change nothing."""
    client = running()
    client.post("/campaigns/prompts/asks")
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


def test_no_two_problems_share_a_word() -> None:
    words = [kind.slug for kind in problem_kinds()]
    assert len(set(words)) == len(words)


def test_a_child_that_is_not_listed_is_told_as_its_parent() -> None:
    class Stranger(errors.Conflict):
        pass

    assert kind_of(Stranger("x")).slug == "conflict"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"reward": NaN, "cost": 0}', "reward=nan: must be a finite number"),
        ('{"reward": Infinity, "cost": 0}', "reward=inf: must be a finite number"),
        ('{"reward": 1.0000001, "cost": 0}', "reward=1.0000001: must lie between 0 and 1"),
        ('{"reward": -1, "cost": 0}', "reward=-1.0: must lie between 0 and 1"),
        (f'{{"reward": 1{"0" * 400}, "cost": 0}}', "reward=1000"),
        ('{"reward": true, "cost": 0}', "reward=True: must be a number"),
        ('{"reward": "1", "cost": 0}', "reward='1': must be a number"),
        ('{"reward": 1, "cost": NaN}', "cost=nan: must be a number with at most nine decimals"),
        ('{"reward": 1, "cost": -Infinity}', "cost=-inf: must be a number"),
        ('{"reward": 1, "cost": 1e999}', "cost=inf: must be a number"),
        ('{"reward": 1, "cost": -0.01}', "cost=-0.01: must not be negative"),
        ('{"reward": 1, "cost": "-0.01"}', "cost='-0.01': must not be negative"),
        ('{"reward": 1, "cost": "0.0000000001"}', "cost='0.0000000001': must be a number"),
        ('{"reward": 1, "cost": "NaN"}', "cost='NaN': must be a number"),
        ('{"reward": 1, "cost": 9223372036854775808}', "cost=9223372036854775808: must be"),
        ('{"reward": 1, "cost": "4611686019"}', "cost='4611686019': must be a number"),
        ('{"reward": 1, "cost": null}', "cost=None: must be a number"),
        ('{"reward": 1, "cost": false}', "cost=False: must be a number"),
        ('{"reward": 1, "cost": []}', "cost=[]: must be one amount for each"),
        ('{"reward": 1, "cost": [[[1]]]}', "cost=[[[1]]]: must be one amount for each"),
        ('{"reward": 1, "cost": [1, 2]}', "cost=[1, 2]: must be one amount"),
        ('{"reward": [1, 1], "cost": 1}', "reward=[1, 1]: must be a number"),
        ('{"reward": 1, "cost": {"EUR": 1}}', "EUR"),
        ('{"reward": 1}', "cost: is missing"),
        ('{"reward": 1, "cost": 0, "tip": 1}', "unknown field of tell 'tip'"),
        ("[]", "body: "),
        ("1", "body: "),
        ("null", "body: "),
        ('"text"', "body: "),
        ("{", "body: is not JSON"),
        ("", "reward: is missing"),
        ("[" * 100_000, "body: is not JSON in UTF-8, or is nested too deeply"),
        ("9" * 10_000, "body: is not JSON in UTF-8, or is nested too deeply"),
    ],
)
def test_a_report_that_cannot_be_is_refused_by_name_and_changes_nothing(
    client: TestClient, body: str, words: str
) -> None:
    assert words in problem(
        client.post("/campaigns/prompts/tickets/1/tell", content=body, headers=JSON),
        400,
        "invalid-input",
    )
    assert client.get("/campaigns/prompts").json()["entries"] == 2


def test_bytes_that_are_no_text_are_refused(client: TestClient) -> None:
    for body in (
        b"\xff\xfe{}",
        b'{"request_id": "\xff"}',
        b'{"request_id": "\\ud800"}',
        b'{"\\ud800": 1}',
    ):
        problem(
            client.post("/campaigns/prompts/asks", content=body, headers=JSON), 400, "invalid-input"
        )


@pytest.mark.parametrize(
    "name", ["a b", "%00", "é", "x" * 101, "-x", "a%0Ab", "a%5Cb", "%C3%28", "'"]
)
@pytest.mark.parametrize(
    "path", ["/campaigns/{}", "/campaigns/{}/journal", "/campaigns/{}/tickets/1"]
)
def test_a_name_that_cannot_be_is_refused(client: TestClient, name: str, path: str) -> None:
    answer = client.get(path.format(name))
    assert (answer.status_code, answer.json()["status"]) in ((400, 400), (404, 404))
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "x", str(2**63), "9" * 5000])
def test_a_number_that_cannot_be_is_refused(client: TestClient, number: str) -> None:
    assert "ticket=" in problem(
        client.get(f"/campaigns/prompts/tickets/{number}"), 400, "invalid-input"
    )


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", f"after={2**63}", "limit=0", "limit=10001", "limit="]
)
def test_a_page_that_cannot_be_is_refused(client: TestClient, query: str) -> None:
    problem(client.get(f"/campaigns/prompts/journal?{query}"), 400, "invalid-input")


def test_a_word_in_a_query_that_is_not_known_is_refused(client: TestClient) -> None:
    assert "unknown field of tickets 'stat'; did you mean 'state'?" in problem(
        client.get("/campaigns/prompts/tickets?stat=held"), 400, "invalid-input"
    )
    assert "unknown field of journal 'from'" in problem(
        client.get("/campaigns/prompts/journal?from=1"), 400, "invalid-input"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policy": "mine.py"}, "policy='mine.py': must be the name of a policy; a server"),
        ({"policy": "/tmp/mine.py:beta=1"}, "a server takes no files"),
        ({"policy": " mine.py "}, "a server takes no files"),
        ({"policy": "mine.py :beta=1"}, "a server takes no files"),
        ({"policy": "a/b"}, "unknown policy 'a/b'"),
        ({"policy": "exp3.bwkk"}, "did you mean 'exp3.bwk'?"),
        ({"policy": "exp3.bwk:beta=["}, "cannot read"),
        ({"policy": 1}, "policy=1: must be a name"),
        ({"name": "a/b"}, "name='a/b': must be 1 to 100 letters"),
        ({"arms": []}, "arms=[]: must say the most"),
        ({"arms": {}}, "arms={}: must say the most"),
        ({"arms": {"a": -1}}, "arms='-1': must not be negative"),
        ({"arms": {"a\u0000b": 1}}, "arms="),
        ({"arms": ["a", "b"]}, "arms=['a', 'b']: must say the most"),
        ({"arms": [1]}, "arms=[1]: must say the most"),
        ({"budget": 0}, "budget=0"),
        ({"budget": [1, 2]}, "budget="),
        ({"budget": {"EUR": 1}}, "EUR"),
        ({"cost_min": "0.5"}, "cost_min=0.5: must be at most cost_max"),
        ({"plays": 1}, "unknown field of create 'plays'"),
        ({"horizon": 0}, "horizon=0: must be a"),
        ({"seed": -1}, "seed=-1: must be a"),
        ({"seed": 2**63}, "seed=9223372036854775808: must be a whole number"),
        ({"expires_after": 0}, "expires_after=0: must be a"),
        ({"on_expiry": "presume"}, "unknown field of create 'on_expiry'"),
        ({"storage": "sqlite:///other.db"}, "unknown field of create 'storage'"),
        ({"cooldown": 0}, "cooldown=0: must be a"),
        ({"cooldown": "1"}, "cooldown='1': must be a number"),
        ({"reward_within": -1}, "reward_within=-1: must be a"),
        ({"missing_reward": "none"}, "missing_reward='none': must be a number"),
        ({"reward_within": 9}, "reward_within=9: needs missing_reward, what a reward counts as"),
        ({"missing_reward": 0}, "missing_reward=0: needs reward_within"),
        ({"missing_reward": 2, "reward_within": 9}, "missing_reward=2: must be a number at least"),
        ({"reward_range": [1]}, "reward_range=[1]: must be two numbers"),
        ({"reward_range": [1, 0]}, "reward_range=[1, 0]: must be two numbers"),
        ({"reward_range": [-1e308, 1e308]}, "must be two numbers"),
        ({"reward_range": [0, "1"]}, "reward_range=[0, '1']: must be"),
        ({"explore": 0.7}, "explore=0.7: must be a number above 0 and at most 0.5"),
        ({"explore": "greedy:0.1"}, "explore='greedy:0.1': must be a number"),
        ({"explore": [0.1]}, "explore=[0.1]: must be a number"),
        ({"explore": True}, "explore=True: must be a number"),
        ({"explore": 0.1, "policy": "budgeted-thompson"}, "needs a policy that can state its"),
        ({"capacity": 1}, "capacity=1: must be a whole number from 2"),
        ({"capacity": 10_001}, "capacity=10001: must be a whole number from 2 to 10000"),
        ({"cost_ceiling": "0.02"}, "must be at least the most of arm 'large'"),
        ({"cost_ceiling": [1, 2, 3]}, "cost_ceiling="),
        ({"arms": {str(n): 1 for n in range(1_001)}}, "arms='1,001 entries': must have at most"),
        ({"resources": [str(n) for n in range(101)]}, "resources='101 entries': must have at most"),
        ({"cost_min": ["0.1"] * 20_000}, "cost_min='20,000 entries': must have at most 1,000"),
        ({"budget": ["1"] * 20_000}, "budget='20,000 entries': must have at most 1,000"),
    ],
)
def test_terms_that_cannot_be_are_refused_by_name(
    client: TestClient, change: dict[str, Any], words: str
) -> None:
    assert words in problem(
        client.post("/campaigns", json={**PROMPTS, "name": "new", **change}), 400, "invalid-input"
    )
    assert client.get("/campaigns").json() == {"names": ["prompts"]}


def test_a_campaign_is_made_once_and_others_are_not_there(client: TestClient) -> None:
    problem(client.post("/campaigns", json=PROMPTS), 409, "campaign-exists")
    for method, path in (
        ("GET", ""),
        ("POST", "/asks"),
        ("POST", "/pause"),
        ("GET", "/journal"),
        ("GET", "/tickets"),
        ("POST", "/tickets/1/void"),
    ):
        problem(client.request(method, f"/campaigns/other{path}"), 404, "not-found")


def test_an_exhausted_budget_and_one_that_is_held_are_told_apart() -> None:
    client = running(arms={"a": 1, "b": 1}, budget=2, cost_min=1)
    client.post("/campaigns/prompts/asks", json={"n": 2})
    assert "tell or void them" in problem(
        client.post("/campaigns/prompts/asks"), 409, "budget-held"
    )
    client.post(
        "/campaigns/prompts/tells",
        json={"reports": [{"ticket": number, "reward": 1, "cost": 1} for number in (1, 2)]},
    )
    problem(client.post("/campaigns/prompts/asks"), 409, "budget-exhausted")


def test_the_first_mistake_is_named(client: TestClient) -> None:
    reports: list[Any] = [{"ticket": 1, "reward": 1, "cost": 1}, {"ticket": 2, "reward": 1}, 3]
    answer = client.post("/campaigns/prompts/tells", json={"reports": reports})
    said = problem(answer, 400, "invalid-input")
    assert said == "reports[1]={'ticket': 2, 'reward': 1}: must have ticket, reward, cost"
    assert "errors" not in answer.json()
    assert client.get("/campaigns/prompts").json()["entries"] == 2


def test_very_many_unknown_fields_are_one_short_error(client: TestClient) -> None:
    fields = {f"f{number}": 1 for number in range(70_000)}
    assert 800_000 < len(json.dumps(fields)) < 1_000_000
    for path in ("asks", "tickets/1/tell", "top-ups"):
        for body in (fields, {"x" * 900_000: 1}):
            answer = client.post(f"/campaigns/prompts/{path}", json=body)
            said = problem(answer, 400, "invalid-input")
            assert said.startswith("unknown field of ")
            assert len(said) < 400


DEEP = "[" * 950 + "]" * 950
MANY = json.dumps([[1] * 10] * 20_000)


@pytest.mark.parametrize(
    "value", [DEEP, MANY, "1" * 4000, str(2**70), '"\\ud800"', '"%s"' % ("x" * 5000)]
)
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


def test_methods_that_are_not_known(client: TestClient) -> None:
    answer = client.delete("/campaigns/prompts")
    problem(answer, 405, "method-not-allowed")
    assert answer.headers["Allow"] == "GET"
    problem(client.get("/campaigns/"), 404, "no-such-path")


class Dead(Storage):
    """A storage that does not answer."""

    def names(self, *_: str) -> list[str]:
        raise StorageUnavailable("secret.example:5432: connection refused")


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


def test_nothing_is_admitted_while_the_storage_cannot_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage = in_memory()
    client = running(storage)
    client.post("/campaigns/prompts/asks")

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
        problem(client.post(f"/campaigns/prompts/{path}", json=body), 503, "storage-unavailable")
    assert client.get("/campaigns/prompts").json()["entries"] == 2


class Broken(Storage):
    """A storage with a bug."""

    def names(self, *_: str) -> list[str]:
        raise ZeroDivisionError("secret")


def test_a_bug_is_a_500_that_only_the_log_explains(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = TestClient(service(Broken(Memory())).app, base_url="http://localhost").get(
            "/campaigns", headers={"X-Request-Id": "r-1"}
        )
    assert problem(answer, 500, "internal") == "the server's log says more under r-1"
    assert "ZeroDivisionError" in caplog.text
    assert "secret" not in json.dumps(answer.json())
