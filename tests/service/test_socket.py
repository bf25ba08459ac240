"""A server on a Unix socket: who can open it, who they are, and where it may be."""

from __future__ import annotations

import os
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from purse.errors import InvalidInput, PurseError
from purse.service.listeners import listening
from purse.service.settings import Settings
from tests.support.service import PROMPTS, bearer, problem, served, service, token_file


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
