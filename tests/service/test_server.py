"""The server in a process of its own, and on a Unix socket: who can open it, who they are, and
where it may be.
"""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import purse
from purse import Campaign
from purse.campaign.storage.connect import in_memory
from purse.cli import main
from purse.client.server import Server
from purse.errors import InvalidInput, PurseError
from purse.service.server import listening
from purse.service.settings import Settings
from tests.support.service import PROMPTS, bearer, problem, served, service, token_file

TERMS: dict[str, Any] = {key: value for key, value in PROMPTS.items() if key != "name"}
PATIENCE = 120  # seconds, on a machine that does many other things
BODY = b'{"request_id": "slow"}'
WORKERS = 4


class Process:
    """`purse serve` on a file."""

    def __init__(self, file: Path, *place: str) -> None:
        words = ["serve", "--storage", f"sqlite:///{file}", *place]
        code = "from purse.cli import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *words],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NUMBA_OPT": "1"},
        )
        assert self.process.stderr is not None
        self.lines = [self.process.stderr.readline()]
        self.url = json.loads(self.lines[0])["url"]
        self._reader = threading.Thread(
            target=lambda: self.lines.extend(self.process.stderr or ()), daemon=True
        )
        self._reader.start()

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


def halfway(url: str) -> socket.socket:
    """An ask whose headers the server has read, and for whose body it is waiting."""
    host, port = url.removeprefix("http://").split(":")
    line = socket.create_connection((host, int(port)), PATIENCE)
    about = {
        "Host": f"{host}:{port}",
        "Content-Type": "application/json",
        "Content-Length": len(BODY),
        "Expect": "100-continue",
    }
    head = (
        "POST /campaigns/prompts/asks HTTP/1.1\r\n"
        + "".join(f"{name}: {value}\r\n" for name, value in about.items())
        + "\r\n"
    )
    line.sendall(head.encode())
    assert line.recv(4096).startswith(b"HTTP/1.1 100")
    return line


def rest_of(line: socket.socket) -> bytes:
    parts = []
    while part := line.recv(65536):
        parts.append(part)
    line.close()
    return b"".join(parts)


def test_killed_between_ask_and_tell_then_told_to_stop_amid_work_nothing_is_missing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "purse.db"
    server = Process(file, "--socket", str(tmp_path / "purse.sock"))
    assert server.url == f"unix:{tmp_path}/purse.sock"
    before = Campaign.create("prompts", **TERMS, storage=server.url).ask("before")
    assert server.end(signal.SIGKILL) == -signal.SIGKILL

    server = Process(file, "--port", "0")
    acknowledged: dict[str, int] = {}
    enough = threading.Event()

    def work(number: int) -> None:
        campaign = Campaign.open("prompts", storage=Server(server.url, retries=0))
        for turn in range(10**6):
            request = f"w{number}-{turn}"
            try:
                acknowledged[request] = campaign.ask(request).id
            except purse.errors.StorageUnavailable:
                return
            if turn == 10:
                enough.set()

    far = Campaign.open("prompts", storage=server.url)
    with ThreadPoolExecutor(WORKERS) as pool:
        assert far.ask("before") == before
        assert far.tell(before, 1, "0.001").state == "told"
        with httpx.stream(
            "GET", f"{server.url}/campaigns/prompts/events", timeout=PATIENCE
        ) as events:
            parts = events.iter_bytes()
            assert b"event: picture" in next(parts)
            running = [pool.submit(work, number) for number in range(WORKERS)]
            assert enough.wait(PATIENCE)
            slow = halfway(server.url)
            server.process.send_signal(signal.SIGTERM)
            list(parts)  # the stream ends by itself
        for worker in running:
            worker.result(PATIENCE)
        assert server.process.poll() is None  # it waits for the ask that it has begun
        slow.sendall(BODY)
        answer = rest_of(slow)
    assert answer.startswith(b"HTTP/1.1 200")
    acknowledged["slow"] = json.loads(answer.partition(b"\r\n\r\n")[2])["tickets"][0]["id"]
    assert server.wait() == 0
    assert json.loads(server.lines[-1])["message"] == "stopped"

    campaign = Campaign.open("prompts", storage=f"sqlite:///{file}")
    stored = {entry.request: entry.ticket for entry in campaign.journal() if entry.kind == "asked"}
    assert len(acknowledged) > WORKERS
    assert acknowledged.items() <= stored.items()
    assert campaign.status().counts["told"] == 1
    assert campaign.audit().ok
    campaign.storage.close()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--host", "0.0.0.0"], "needs tokens"),
        (["--tokens", "nowhere.jsonl"], "cannot read the tokens file 'nowhere.jsonl'"),
        (["--storage", "mysql://x"], "storage="),
        (["--rate", "0"], "rate=0"),
        (["--port", "{taken}"], "cannot listen on 127.0.0.1 port"),
    ],
)
def test_a_start_that_cannot_be_is_one_line(
    words: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        given = [word.format(taken=taken.getsockname()[1]) for word in words]
        monkeypatch.setattr(sys, "argv", ["purse", "serve", "--storage", "memory:", *given])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "purse.sock"


def refused(place: Path) -> str:
    with pytest.raises(InvalidInput) as error, listening(Settings(socket=place)):
        pass
    return str(error.value)


def test_only_its_owner_can_open_it_and_it_is_gone_with_the_server(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:  # as a killed server leaves it
        left.bind(str(path))
    old = os.umask(0)
    try:
        with served(storage=in_memory(), socket=path) as server:
            mode = path.stat().st_mode
            assert (stat.S_ISSOCK(mode), stat.S_IMODE(mode)) == (True, 0o600)
            assert server.url == f"unix:{path}"
            assert "must be a path at which no server listens" in refused(path)
            assert Campaign.names(storage=server.url) == []
    finally:
        os.umask(old)
    assert not path.exists()


def test_nobody_can_connect_before_the_mode_is_set(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[type[Exception]] = []
    chmod = Path.chmod

    def looked(self: Path, mode: int) -> None:
        with socket.socket(socket.AF_UNIX) as line:
            try:
                line.connect(str(self))
            except OSError as error:
                tried.append(type(error))
        chmod(self, mode)

    monkeypatch.setattr(Path, "chmod", looked)
    with listening(Settings(socket=path)):
        assert tried == [ConnectionRefusedError]


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
    # without tokens, one that is sent is not looked at, as on a port
    answer = service(socket=path).get("/campaigns", headers=bearer("purse_other"))
    assert (answer.status_code, answer.headers["X-Purse-Role"]) == (200, "admin")


def test_there_are_no_browsers_and_so_no_foreign_pages_but_a_proxy_needs_a_token(
    tmp_path: Path, path: Path
) -> None:
    file, tokens = token_file(tmp_path)
    free, guarded = service(socket=path), service(socket=path, tokens=file)
    for headers in ({"Host": "x"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        assert free.get("/campaigns", headers=headers).status_code == 200
    for header in ("X-Forwarded-For", "Forwarded", "X-Forwarded-Host"):
        sent = {header: "10.0.0.1"}
        for client in (free, guarded):
            problem(client.get("/campaigns", headers=sent), 403, "foreign-request")
        answer = guarded.get("/campaigns", headers={**sent, **bearer(tokens["read"])})
        assert answer.status_code == 200


def test_the_client_sends_its_token_and_many_at_once_never_overspend(
    tmp_path: Path, path: Path
) -> None:
    file, tokens = token_file(tmp_path)
    terms = {**PROMPTS, "budget": "0.5"}
    with served(storage=in_memory(), socket=path, tokens=file) as server:
        with pytest.raises(PurseError, match="needs the role admin"):
            Campaign.create(**terms, storage=server.url, token=tokens["read"])
        Campaign.create(**terms, storage=server.url).close()

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


def test_a_path_that_cannot_be_is_refused_and_left_as_it_is(tmp_path: Path, path: Path) -> None:
    path.write_text("mine")
    link, absent = tmp_path / "link", tmp_path / "no" / "purse.sock"
    link.symlink_to(path)
    for place in (path, link, tmp_path):
        assert "must be a path at which there is no file" in refused(place)
    assert path.read_text() == "mine"
    for place in (absent, tmp_path / ("x" * 200)):
        assert f"cannot listen on {place}" in refused(place)
    path.unlink()
    with listening(Settings(socket=path)):
        path.unlink()
        path.write_text("another")
    assert path.read_text() == "another", "what took its place is left there"
