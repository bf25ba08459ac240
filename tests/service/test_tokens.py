from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from purse.campaign.storage.connect import in_memory
from purse.cli.serve import token as token_command
from purse.errors import InvalidInput
from purse.service import tokens
from purse.service.settings import Settings
from purse.service.tokens import TokenFile
from tests.support.service import (
    HERE,
    PROMPTS,
    TestClient,
    bearer,
    operations_of,
    problem,
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
    "admin": f"/campaigns {P}/top-ups {P}/arms {P}/arms/set {P}/arms/retire {P}/alerts {P}/pause "
    f"{P}/resume {P}/end {P}/audit /accounts {A}/top-ups {A}/pause {A}/resume {A}/end {A}/alerts "
    f"{A}/audit",
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
    **{f"{at}/top-ups": {"amount": 1} for at in (P, A)},
    **{f"{at}/alerts": {"alerts": ["80%"]} for at in (P, A)},
    f"{P}/tells": {"reports": [{"ticket": 1, "reward": 1, "cost": 0}]},
    f"{P}/tickets/1/tell": {"reward": 1, "cost": 0},
    f"{P}/tickets/1/settle": {"cost": 0},
    f"{P}/tickets/1/reward": {"reward": 1},
    f"{P}/arms": {"name": "third"},
    f"{P}/arms/set": {"name": "large", "cost_max": "0.04"},
    f"{P}/arms/retire": {"name": "third"},
}


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
        assert str(guarded.file) not in problem(answer, 503, "storage-unavailable")
    guarded.file.write_bytes(kept)
    assert guarded.send("GET", "/campaigns", "admin").status_code == 200


def test_a_token_ends_at_its_time(tmp_path: Path) -> None:
    path, made = token_file(tmp_path, now=1000)
    clock = [1009.0]
    file = TokenFile(path, now=lambda: clock[0])
    assert file.principal(made["expired"]) == ("expired", "admin")
    clock[0] = 1010.0
    assert file.principal(made["expired"]) is None
    assert file.principal(made["act"]) == ("act", "act")


def test_the_file_holds_no_token_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path, made = token_file(tmp_path)
    text = path.read_text()
    for secret in made.values():
        assert (secret.startswith("purse_"), len(secret), secret[6:] in text) == (True, 49, False)
    assert path.stat().st_mode & 0o777 == 0o600
    tokens.revoke(path, "act")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [token.name for token in tokens._read(path)] == ["read", "admin", "expired"]
    with pytest.raises(InvalidInput, match="there is a token of this name already"):
        tokens.new(path, "admin", "read", None, 0)
    path.write_text(path.read_text().rstrip("\n"))  # a missing newline is no harm
    secret = tokens.new(path, "later", "read", None, 0)
    assert TokenFile(path).principal(secret) == ("later", "read")


def test_tokens_revoked_and_made_at_once_stay_so(tmp_path: Path) -> None:
    path, names = tmp_path / "t.jsonl", [f"t{number}" for number in range(8)]
    for _ in range(10):
        for name in names:
            tokens.new(path, name, "admin", None, 0)
        acts: list[Any] = [partial(tokens.revoke, path, name) for name in names]
        acts += [partial(tokens.new, path, f"n{name}", "read", None, 0) for name in names]
        with ThreadPoolExecutor(len(acts)) as pool:
            for done in [pool.submit(act) for act in acts]:
                done.result()
        assert {token.name for token in tokens._read(path)} == {f"n{name}" for name in names}
        path.unlink()


def test_the_command_makes_lists_and_revokes(tmp_path: Path) -> None:
    file = str(tmp_path / "t.jsonl")
    run = CliRunner()
    made = run.invoke(token_command, ["new", "bot", "--role", "act", "--tokens", file])
    secret = made.stdout.strip()
    assert made.exit_code == 0
    assert "'bot' has the role act and expires 20" in made.stderr
    assert TokenFile(Path(file)).principal(secret) == ("bot", "act")
    boss = ["new", "boss", "--role", "admin", "--expires", "never", "--tokens", file]
    assert run.invoke(token_command, boss).exit_code == 0
    listed = run.invoke(token_command, ["list", "--tokens", file]).stdout.splitlines()
    assert [line.split("\t")[:2] for line in listed] == [["bot", "act"], ["boss", "admin"]]
    assert secret not in "".join(listed)
    assert run.invoke(token_command, ["revoke", "bot", "--tokens", file]).exit_code == 0
    assert TokenFile(Path(file)).principal(secret) is None
    for words in (
        ["revoke", "bot", "--tokens", file],
        ["new", "x", "--role", "act", "--expires", "0d", "--tokens", file],
        ["new", "x", "--role", "act", "--expires", "99999w", "--tokens", file],
        ["list", "--tokens", file + "?"],
    ):
        assert isinstance(run.invoke(token_command, words).exception, InvalidInput)
    for word in ("soon", "90"):
        words = ["new", "x", "--role", "act", "--expires", word, "--tokens", file]
        assert f"'{word}' is not a time" in run.invoke(token_command, words).stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", ""])
def test_other_machines_are_not_served_without_tokens(host: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="needs tokens"):
        Settings(host=host)
    Settings(host=host, tokens=tmp_path / "t")


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
