from __future__ import annotations

import json
import os
import signal
import socket
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
from purse.cli import main
from purse.client.server import Server
from tests.support.service import PROMPTS

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
        """Ask until the server is gone."""
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
