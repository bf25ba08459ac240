"""Who may send what, and how much of it."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from purse.campaign.storage.connect import in_memory
from purse.client.wire import error_of
from purse.errors import InvalidInput, StorageUnavailable
from purse.service import auth, tokens
from purse.service.auth import TokenBuckets
from purse.service.settings import Settings
from tests.support.service import (
    HERE,
    LONG,
    PROMPTS,
    TestClient,
    bearer,
    operations_of,
    problem,
    served,
    service,
    token_file,
)

PUBLIC = ("/", "/healthz", "/readyz", "/openapi.json", "/dashboard/style.css")
OPEN = {("GET", path) for path in PUBLIC}
P, A = "/campaigns/prompts", "/accounts/team-a"
NEEDED = {  # what each route needs: GET needs `read`; one that is not here fails the test below
    "read": f"/campaigns {P} {P}/tickets {P}/tickets/1 {P}/labels {P}/journal {P}/recommendation "
    f"{P}/certificate {P}/picture {P}/events /accounts {A} {A}/journal /overview /metrics",
    "act": f"{P}/asks {P}/probabilities {P}/tells {P}/tickets/1/tell {P}/tickets/1/settle "
    f"{P}/tickets/1/reward {P}/tickets/1/fail {P}/tickets/1/void {P}/expire",
    "admin": f"/campaigns {P}/top-ups {P}/budget {P}/charges {P}/limits {A}/budget {A}/charges "
    f"{P}/hand-over {P}/arms {P}/arms/set {P}/arms/retire {P}/alerts {P}/pause {P}/resume "
    f"{P}/end {P}/audit /accounts {A}/top-ups {A}/pause {A}/resume {A}/end {A}/alerts {A}/audit",
}
ROLE = {
    ("GET" if role == "read" else "POST", path): role
    for role, paths in NEEDED.items()
    for path in paths.split()
}
END = f"{P}/end"
BODY: dict[str, Any] = {
    "/campaigns": {**PROMPTS, "name": "another"},
    "/accounts": {"name": "team-b", "budget": "9", "resources": ["USD"]},
    **{f"{at}/{way}": {"amount": 1} for at in (P, A) for way in ("top-ups", "budget", "charges")},
    **{f"{at}/alerts": {"alerts": ["80%"]} for at in (P, A)},
    f"{P}/asks": {"labels": {"tenant": "acme"}},
    f"{P}/tells": {"reports": [{"ticket": 1, "reward": 1, "cost": 0}]},
    f"{P}/tickets/1/tell": {"reward": 1, "cost": 0},
    f"{P}/tickets/1/settle": {"cost": 0},
    f"{P}/tickets/1/reward": {"reward": 1},
    f"{P}/limits": {"key": "tenant", "amount": 5},
    f"{P}/arms": {"name": "third"},
    f"{P}/arms/set": {"name": "large", "cost_max": "0.04"},
    f"{P}/arms/retire": {"name": "third"},
}


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
    monkeypatch.setattr(auth, "_SENDER_LIMIT", 3)
    buckets = TokenBuckets(1, clock=lambda: 0.0)
    assert [buckets.take(name) for name in "abcd"] == [0] * 4
    assert len(buckets._buckets) == 3
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


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", ""])
def test_other_machines_are_not_served_without_tokens(host: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="needs tokens"):
        Settings(host=host)
    Settings(host=host, tokens=tmp_path / "t")


class Guarded:
    """A service with tokens of all roles."""

    def __init__(self, folder: Path) -> None:
        self.storage = in_memory()
        self.file, self.tokens = token_file(folder)
        self.client = service(self.storage, tokens=self.file)
        self.app: Any = self.client.app
        account = {**BODY["/accounts"], "name": "team-a"}
        assert self.send("POST", "/accounts", "admin", json=account).status_code == 201
        terms = {**PROMPTS, "capacity": 3, "cost_ceiling": "0.05"}
        assert self.send("POST", "/campaigns", "admin", json=terms).status_code == 201
        assert self.send("POST", "/campaigns/prompts/asks", "act").status_code == 200

    def send(self, method: str, path: str, role: str | None, **more: Any) -> Any:
        body = {"json": BODY[path]} if method == "POST" and path in BODY else {}
        headers = bearer(self.tokens[role]) if role else {}
        return self.client.request(method, path, **{"headers": headers, **body, **more})


@pytest.fixture
def guarded(tmp_path: Path) -> Guarded:
    return Guarded(tmp_path)


def test_every_route_is_either_public_or_needs_a_role(guarded: Guarded) -> None:
    assert operations_of(guarded.app) == {**dict.fromkeys(OPEN), **ROLE}


def test_without_a_valid_token_no_route_answers(guarded: Guarded) -> None:
    before = guarded.storage.overview("prompts")
    for method, path in ROLE:
        for headers in (
            {},
            bearer("purse_wrong"),
            bearer(""),
            {"Authorization": guarded.tokens["admin"]},
            {"Authorization": f"Basic {guarded.tokens['admin']}"},
        ):
            answer = guarded.send(method, path, None, headers=headers)
            problem(answer, 401, "no-token")
            assert answer.headers["WWW-Authenticate"] == 'Bearer realm="purse"'
            assert "X-Purse-Role" not in answer.headers
        problem(guarded.send(method, path, "expired"), 401, "no-token")
    problem(guarded.client.get("/nothing"), 401, "no-token")  # not even that there is no such path
    problem(guarded.send("GET", "/nothing", "read"), 404, "no-such-path")
    assert guarded.storage.overview("prompts") == before
    for method, path in OPEN:
        assert guarded.client.request(method, path).status_code == 200
        assert guarded.client.request(method, path, headers=bearer("wrong")).status_code == 200
    other = TestClient(guarded.app, base_url=HERE.replace("127.0.0.1", "purse.example"))
    assert other.get("/campaigns", headers=bearer(guarded.tokens["read"])).status_code == 200


def test_a_role_may_do_what_needs_it_or_a_lower_one_and_no_more(guarded: Guarded) -> None:
    guarded.app.views.close()  # so that its stream ends after one event
    before = guarded.storage.overview("prompts")
    for (method, path), needed in ROLE.items():
        for role in tokens._ROLES[: tokens._ROLES.index(needed)]:
            answer = guarded.send(method, path, role)
            said = problem(answer, 403, "wrong-role")
            assert f"needs the role {needed}; the token {role!r} has the role {role}" in said
            assert answer.headers["X-Purse-Role"] == role
    assert guarded.storage.overview("prompts") == before
    for (method, path), needed in sorted(ROLE.items(), key=lambda row: row[0][1] == END):
        for role in tokens._ROLES[tokens._ROLES.index(needed) :]:
            new = {"json": {**PROMPTS, "name": f"by-{role}"}} if path == "/campaigns" else {}
            answer = guarded.send(method, path, role, **(new if method == "POST" else {}))
            assert answer.status_code in (200, 201, 409), answer.text
            assert answer.headers["X-Purse-Role"] == role


def test_a_revoked_token_is_refused_without_a_restart(guarded: Guarded) -> None:
    tokens.revoke(guarded.file, "read")
    for method, path in ROLE:
        problem(guarded.send(method, path, "read"), 401, "no-token")
    fresh = tokens.new(guarded.file, "read", "read", None, 0)
    assert guarded.client.get("/campaigns", headers=bearer(fresh)).status_code == 200


def test_nobody_gets_in_while_the_file_cannot_be_read(guarded: Guarded) -> None:
    kept = guarded.file.read_bytes()
    for broken in (b"{}\n", b"\xff\n", None):
        guarded.file.unlink(missing_ok=True) if broken is None else guarded.file.write_bytes(broken)
        answer = guarded.send("GET", "/campaigns", "admin")
        assert str(guarded.file) not in problem(answer, 503, "tokens-unreadable")
        assert type(error_of(answer.json())) is StorageUnavailable  # a client may try again
    guarded.file.write_bytes(kept)
    assert guarded.send("GET", "/campaigns", "admin").status_code == 200


def test_without_tokens_no_foreign_page_gets_an_answer() -> None:
    client = service()
    for headers, everywhere in (
        ({"Host": "evil.example"}, True),
        ({"Host": "127.0.0.1.evil.example:8000"}, False),
        ({"Host": "["}, False),
        ({"Origin": "https://evil.example"}, True),
        ({"Origin": "null"}, False),
        ({"Origin": "http://127.0.0.1:9999"}, False),
        ({"X-Forwarded-For": "1.2.3.4"}, True),
    ):
        for method, path in OPEN | set(ROLE) if everywhere else ():
            assert client.request(method, path, headers=headers).status_code == 403
        problem(client.get("/campaigns", headers=headers), 403, "foreign-request")
    for host in ("127.0.0.1:8000", "localhost:8000", "[::1]:8000", "localhost"):
        answer = client.get("/campaigns", headers={"Host": host, "Origin": f"http://{host}"})
        assert (answer.status_code, answer.headers["X-Purse-Role"]) == (200, "admin")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        form = {"content": json.dumps(PROMPTS), "headers": {"Content-Type": kind}}
        problem(client.post("/campaigns", **form), 415, "not-json")
    assert client.get("/campaigns").json() == {"names": []}
