from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from purse import InvalidInput
from purse.campaign.storage.remote import unix_socket
from purse.campaign.storage.remote.unix_socket import MOST_PATH, checked_path, frame, peer_user


def test_a_path_is_absolute(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.chdir(folder)
    assert checked_path("s") == str(folder / "s")


@pytest.mark.parametrize("letter", ["a", "ü"])
def test_a_path_that_is_too_long_is_refused_by_name(letter: str) -> None:
    path = "/" + letter * ((MOST_PATH - 1) // len(letter.encode()))
    assert checked_path(path) == path
    with pytest.raises(InvalidInput, match=r"has 10[89] bytes; .* at most 107") as caught:
        checked_path(path + letter)
    assert path + letter in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", ["", "\0abstract"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="must be the path of a file"):
        checked_path(path)


def test_elsewhere_than_on_linux_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(InvalidInput, match="only Linux"):
        checked_path("s")


def test_the_other_end_has_a_user() -> None:
    ends = socket.socketpair()
    assert [peer_user(end) for end in ends] == [os.getuid()] * 2
    for end in ends:
        end.close()


def test_a_frame_is_the_length_and_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    assert frame([1, "a"]) == b"\x00\x00\x00\x07" + b'[1,"a"]'
    monkeypatch.setattr(unix_socket, "MOST_BYTES", 6)
    with pytest.raises(InvalidInput, match="a message of 7 bytes: at most 6 fit"):
        frame([1, "a"])
