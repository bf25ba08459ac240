"""A server on a Unix socket: who can open it, who they are, and what they may send."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from purse import Account, Campaign
from purse.campaign.storage.connect import in_memory
from purse.client.server import Server
from purse.errors import InvalidInput, PurseError
from purse.service import connections
from purse.service.listeners import listening
from purse.service.settings import Settings
from tests.support.server import LONG, Served, served
from tests.support.service import PROMPTS, bearer, problem, service, token_file
from tests.support.sockets import all_of

SOON = 0.3  # seconds
HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /campaigns HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "purse.sock"


@contextmanager
def connected(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(LONG)
        line.connect(str(path))
        yield line


def exchange(path: Path, request: bytes) -> bytes:
    with connected(path) as line:
        line.sendall(request + b"Connection: close\r\n\r\n")
        return all_of(line)


def test_only_its_owner_can_open_it_and_it_is_gone_with_the_server(path: Path) -> None:
    old = os.umask(0)
    try:
        with served(storage=in_memory(), socket=path) as server:
            found = path.stat().st_mode
            assert (stat.S_ISSOCK(found), stat.S_IMODE(found)) == (True, 0o600)
            assert server.url == f"unix:{path}"
            assert b"HTTP/1.1 200 OK" in exchange(path, HEAD)
    finally:
        os.umask(old)
    assert not path.exists()


def test_nobody_can_connect_before_the_mode_is_set(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[type[Exception]] = []
    chmod = Path.chmod

    def looked(self: Path, mode: int) -> None:
        try:
            with connected(self):
                pass
        except OSError as error:
            tried.append(type(error))
        chmod(self, mode)

    monkeypatch.setattr(Path, "chmod", looked)
    with listening(Settings(socket=path)):
        assert tried == [ConnectionRefusedError]


def test_campaigns_and_accounts_are_used_over_it(path: Path) -> None:
    with served(storage=in_memory(), socket=path) as server:
        Account.create("team-a", budget=5, resources=["USD"], storage=server.url).close()
        with Campaign.create(**PROMPTS, account="team-a", storage=server.url) as campaign:
            ticket = campaign.ask("q")
            assert campaign.ask("q") == ticket
            assert campaign.tell(ticket, 1, "0.001").state == "told"
            assert [entry.kind for entry in campaign.journal()] == ["created", "asked", "told"]
            assert campaign.end().status == "ended"


def test_whoever_sends_no_token_is_an_admin_and_a_token_that_is_sent_is_checked(
    tmp_path: Path, path: Path
) -> None:
    file, tokens = token_file(tmp_path)
    client = service(tokens=file, socket=path)
    assert client.get("/campaigns").headers["X-Purse-Role"] == "admin"
    assert client.post("/campaigns", json=PROMPTS).status_code == 201
    for role in ("read", "act", "admin"):
        answer = client.get("/campaigns", headers=bearer(tokens[role]))
        assert (answer.status_code, answer.headers["X-Purse-Role"]) == (200, role)
    pause = "/campaigns/prompts/pause"
    problem(client.post(pause, headers=bearer(tokens["act"])), 403, "wrong-role")
    assert client.post(pause, headers=bearer(tokens["admin"])).status_code == 200
    for wrong in (
        bearer("purse_wrong"),
        bearer(tokens["expired"]),
        bearer(""),
        {"Authorization": f"Basic {tokens['admin']}"},
        {"Authorization": ""},
    ):
        problem(client.get("/campaigns", headers=wrong), 401, "no-token")


def test_without_tokens_a_token_is_not_looked_at_as_on_a_port(path: Path) -> None:
    answer = service(socket=path).get("/campaigns", headers=bearer("purse_other"))
    assert (answer.status_code, answer.headers["X-Purse-Role"]) == (200, "admin")


def test_a_token_is_sent_by_the_client(tmp_path: Path, path: Path) -> None:
    file, tokens = token_file(tmp_path)
    with served(storage=in_memory(), socket=path, tokens=file) as server:
        reader = Server(server.url, token=tokens["read"])
        with pytest.raises(PurseError, match="needs the role admin"):
            Campaign.create(**PROMPTS, storage=reader)
        assert Campaign.names(storage=reader) == []
        reader.close()


def test_there_are_no_browsers_and_so_no_foreign_pages(path: Path) -> None:
    client = service(socket=path)
    for headers in (
        {"Host": "evil.example"},
        {"Host": "x"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ):
        assert client.get("/campaigns", headers=headers).status_code == 200


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Forwarded-Host"])
def test_what_a_proxy_forwards_needs_a_token(tmp_path: Path, path: Path, header: str) -> None:
    file, tokens = token_file(tmp_path)
    sent = {header: "10.0.0.1"}
    for client in (service(socket=path), service(socket=path, tokens=file)):
        problem(client.get("/campaigns", headers=sent), 403, "foreign-request")
    answer = client.get("/campaigns", headers={**sent, **bearer(tokens["read"])})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET", HEAD, HEAD + b"X-Half: hal", POST + b'Content-Length: 100\r\n\r\n{"name": '],
)
def test_a_request_that_is_sent_by_half_is_given_up(
    path: Path, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", SOON)
    with served(storage=in_memory(), socket=path), connected(path) as line:
        line.sendall(begun)
        assert all_of(line) == b""
        assert b"HTTP/1.1 200" in exchange(path, HEAD)


def test_sizes_and_numbers_are_bounded_as_on_a_port(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 3)
    with served(storage=in_memory(), socket=path, max_body=1000):
        long = HEAD + b"X-Long: " + b"x" * 100_000 + b"\r\n"
        with suppress(BrokenPipeError, ConnectionResetError):
            assert b" 200 " not in exchange(path, long)
        assert b"413" in exchange(path, POST + b"Content-Length: 1001\r\n")
        smuggled = POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n"
        assert b" 200 " not in exchange(path, smuggled)
        with ExitStack() as stack:
            silent = stack.enter_context(connected(path))
            for _ in range(3):
                stack.enter_context(connected(path))
            assert all_of(silent) == b""


def test_many_at_once_never_overspend(path: Path) -> None:
    with served(storage=in_memory(), socket=path) as server:
        Campaign.create(**{**PROMPTS, "budget": "0.5"}, storage=server.url).close()

        def play(number: int) -> int:
            with Campaign.open("prompts", storage=server.url) as campaign:
                try:
                    return len(campaign.ask_many(4, f"r{number}"))
                except PurseError:
                    return 0

        with ThreadPoolExecutor(8) as pool:
            given = sum(pool.map(play, range(24)))
        with Campaign.open("prompts", storage=server.url) as campaign:
            status = campaign.status()
    assert given == status.counts["held"] > 0
    assert float(status.purses[0].held) <= 0.5


def test_what_a_killed_server_left_is_replaced(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    assert path.exists()
    with served(storage=in_memory(), socket=path):
        assert b"HTTP/1.1 200" in exchange(path, HEAD)


def refused(settings: Settings) -> str:
    with pytest.raises(InvalidInput) as error, listening(settings):
        pass
    return str(error.value)


def test_a_path_that_cannot_be_is_refused_and_left_as_it_is(tmp_path: Path, path: Path) -> None:
    path.write_text("mine")
    assert "must be a path at which there is no file" in refused(Settings(socket=path))
    assert path.read_text() == "mine"
    link = tmp_path / "link"
    link.symlink_to(path)
    assert "must be a path at which there is no file" in refused(Settings(socket=link))
    assert "no file" in refused(Settings(socket=tmp_path))
    absent = tmp_path / "no" / "purse.sock"
    assert f"cannot listen on {absent}" in refused(Settings(socket=absent))
    assert "cannot listen on" in refused(Settings(socket=tmp_path / ("x" * 200)))


def test_a_path_at_which_a_server_listens_is_refused(path: Path) -> None:
    def look(server: Served) -> None:
        said = refused(Settings(socket=path))
        assert "must be a path at which no server listens" in said
        assert b"HTTP/1.1 200" in exchange(path, HEAD)

    with served(storage=in_memory(), socket=path) as server:
        look(server)


def test_a_socket_that_took_its_place_is_left_there(path: Path) -> None:
    with listening(Settings(socket=path)):
        path.unlink()
        path.write_text("another")
    assert path.read_text() == "another"


def test_proxies_that_are_trusted_are_of_no_use_on_a_socket(tmp_path: Path, path: Path) -> None:
    given: Any = {"socket": path, "tokens": tmp_path / "t", "trusted_proxies": ("10.0.0.2",)}
    with pytest.raises(InvalidInput, match=r"trusted_proxies='10.0.0.2': must be left out"):
        Settings(**given)


def test_the_command_says_its_address(tmp_path: Path, path: Path) -> None:
    words = ["serve", "--storage", f"sqlite:///{tmp_path}/purse.db", "--socket", str(path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "purse", *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_OPT": "1"},
    )
    try:
        assert process.stderr is not None
        url = json.loads(process.stderr.readline())["url"]
        assert url == f"unix:{path}"
        assert Campaign.names(storage=url) == []
    finally:
        process.terminate()
        process.communicate(timeout=LONG)
    assert process.returncode == 0
    assert not path.exists()
