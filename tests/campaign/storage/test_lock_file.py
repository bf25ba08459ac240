from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from purse.campaign.storage import file_lock
from purse.campaign.storage.file_lock import check_owner, open_lock_file
from purse.errors import StorageUnavailable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no lock elsewhere")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "purse.db"
    path.touch(0o644)
    return path


def opened(database: Path) -> os.stat_result:
    file = open_lock_file(f"{database}-lock", str(database))
    try:
        return os.fstat(file)
    finally:
        os.close(file)


@pytest.mark.parametrize(
    ("rights", "expected"), [(0o644, 0o600), (0o664, 0o660), (0o640, 0o600), (0o666, 0o666)]
)
def test_who_may_only_read_the_database_cannot_open_its_lock(
    database: Path, rights: int, expected: int
) -> None:
    database.chmod(rights)
    Path(f"{database}-lock").touch(0o644)  # of an older version
    assert stat.S_IMODE(opened(database).st_mode) == expected


def test_a_lock_without_a_database_is_private(database: Path) -> None:
    database.unlink()
    assert stat.S_IMODE(opened(database).st_mode) == 0o600


def test_root_makes_it_for_the_owner_of_the_database(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []
    real = os.stat(database)
    other = os.stat_result((*real[:4], 1234, 1234, *real[6:]))
    monkeypatch.setattr("purse.campaign.storage.file_lock.os.geteuid", lambda: 0)
    monkeypatch.setattr("purse.campaign.storage.file_lock.os.stat", lambda _: other)
    monkeypatch.setattr(
        "purse.campaign.storage.file_lock.os.fchown", lambda _, *owner: given.append(owner)
    )
    monkeypatch.setattr(file_lock, "check_owner", lambda *_: None)
    opened(database)
    assert given == [(1234, -1), (-1, 1234)]


@pytest.mark.parametrize(
    ("uid", "gid", "mode", "trusted"),
    [
        (1000, 1000, 0o644, True),
        (0, 0, 0o644, True),
        (1001, 1000, 0o644, False),
        (1001, 1000, 0o664, True),
        (1001, 1001, 0o664, False),
        (1001, 1001, 0o666, True),
    ],
)
def test_a_lock_file_of_somebody_who_may_not_write_the_database_is_refused(
    uid: int, gid: int, mode: int, trusted: bool
) -> None:
    def made(uid: int, gid: int, mode: int) -> os.stat_result:
        return os.stat_result((stat.S_IFREG | mode, 0, 0, 1, uid, gid, 0, 0, 0, 0))

    arguments = ("x-lock", made(uid, gid, 0o600), "x", made(1000, 1000, mode))
    if trusted:
        check_owner(*arguments)
    else:
        with pytest.raises(StorageUnavailable, match="x-lock belongs to user 1001, who may not"):
            check_owner(*arguments)


def test_a_link_is_not_followed(database: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.touch()
    Path(f"{database}-lock").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        opened(database)


@pytest.mark.parametrize("kind", ["fifo", "hard link"])
def test_what_is_no_plain_file_of_its_own_is_refused(
    database: Path, tmp_path: Path, kind: str
) -> None:
    path = Path(f"{database}-lock")
    if kind == "fifo":
        os.mkfifo(path)
    else:
        (tmp_path / "precious").touch()
        os.link(tmp_path / "precious", path)
    with pytest.raises(StorageUnavailable, match="must be a plain file with one name"):
        opened(database)
