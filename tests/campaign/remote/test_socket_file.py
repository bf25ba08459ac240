from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from purse import InvalidInput
from purse.campaign.server.socket_file import SocketFile


def test_only_its_owner_may_use_it(path: str) -> None:
    before = os.umask(0)
    file = SocketFile(path)
    os.umask(before)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    file.remove()
    assert not os.path.exists(path)
    file.remove()


def test_the_file_of_a_server_that_has_gone_is_replaced(path: str) -> None:
    SocketFile(path).socket.close()
    assert os.path.exists(path)
    SocketFile(path).remove()


def test_a_server_that_listens_is_left_alone(path: str) -> None:
    file = SocketFile(path)
    with pytest.raises(InvalidInput, match="a server listens there already"):
        SocketFile(path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
    file.remove()


def test_a_server_that_lets_nobody_in_for_now_is_left_alone(path: str) -> None:
    file = SocketFile(path)
    file.socket.listen(0)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        with pytest.raises(InvalidInput, match="a server listens there already"):
            SocketFile(path)
    file.remove()


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_any_other_file_is_left_alone(path: str, kind: str) -> None:
    if kind == "file":
        Path(path).write_text("mine")
    elif kind == "folder":
        Path(path).mkdir()
    else:
        Path(path).symlink_to("/nowhere")
    before = os.lstat(path)
    with pytest.raises(InvalidInput, match="is not a socket") as caught:
        SocketFile(path)
    assert path in str(caught.value)
    assert os.lstat(path).st_ino == before.st_ino


def test_a_folder_that_is_not_there_is_named(path: str) -> None:
    with pytest.raises(InvalidInput, match="No such file or directory"):
        SocketFile(f"{path}/s")


def test_a_server_removes_only_its_own_file(path: str) -> None:
    first = SocketFile(path)
    os.unlink(path)
    second = SocketFile(path)
    first.remove()
    assert os.path.exists(path)
    second.remove()
