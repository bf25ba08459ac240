"""The fair lock among processes, and the side file that it locks."""

import fcntl
import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from purse.campaign.storage import file_lock
from purse.campaign.storage.file_lock import (
    _COUNTER,
    _DRAWING,
    FileLock,
    _check_owner,
    _draw,
    _open_lock_file,
    _set_lock,
)
from purse.errors import StorageUnavailable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no lock elsewhere")


def new_lock(folder: Path) -> FileLock:
    (folder / "database").touch()
    return FileLock(str(folder / "lock"), str(folder / "database"))


def wait_until_drawn(folder: Path, number: int) -> None:
    """Wait until so many numbers have been drawn."""
    while _COUNTER.unpack((folder / "lock").read_bytes()[: _COUNTER.size])[0] < number:
        time.sleep(0.001)


def test_one_at_a_time_has_the_lock(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def work(_: int) -> None:
        lock = new_lock(tmp_path)
        for _ in range(20):
            lock.acquire(60)
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            inside[0] -= 1
            lock.release()
        lock.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert most == [1]


def test_the_lock_goes_round_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    first = new_lock(tmp_path)
    first.acquire(1)
    order: list[int] = []

    def work(number: int) -> None:
        lock = new_lock(tmp_path)
        lock.acquire(60)
        order.append(number)
        lock.close()

    with ThreadPoolExecutor(12) as threads:
        for number in range(12):
            threads.submit(work, number)
            wait_until_drawn(tmp_path, number + 2)
        first.close()
    assert order == list(range(12))


def test_numbers_are_drawn_in_turn(tmp_path: Path) -> None:
    """More than a byte of the counter holds, were it written at the wrong place."""
    path, flags = tmp_path / "lock", os.O_RDWR | os.O_CREAT
    files = [os.open(path, flags) for _ in range(30)]
    assert [_draw(file, fcntl.F_OFD_SETLKW) for file in files] == list(range(30))
    for file in files:
        os.close(file)


def test_who_comes_back_at_once_stands_behind_those_who_wait(tmp_path: Path) -> None:
    ours, theirs = new_lock(tmp_path), new_lock(tmp_path)
    ours.acquire(1)
    order: list[str] = []

    def work() -> None:
        theirs.acquire(60)
        order.append("theirs")
        theirs.release()

    with ThreadPoolExecutor() as threads:
        threads.submit(work)
        wait_until_drawn(tmp_path, 2)
        ours.release()
        ours.acquire(60)
        order.append("ours")
    assert order == ["theirs", "ours"]


def test_who_gives_up_lets_nobody_in_before_his_turn(tmp_path: Path) -> None:
    holder, impatient, patient = (new_lock(tmp_path) for _ in range(3))
    holder.acquire(1)
    with pytest.raises(TimeoutError, match="another process has held it for"):
        impatient.acquire(0.05)
    with pytest.raises(TimeoutError):
        patient.acquire(0.05)
    holder.release()
    patient.acquire(60)
    with pytest.raises(TimeoutError):
        impatient.acquire(0.05)
    patient.close()
    impatient.acquire(60)


def test_a_dead_process_has_no_lock(tmp_path: Path) -> None:
    (tmp_path / "database").touch()
    code = f"""
import os, signal
from purse.campaign.storage.file_lock import FileLock
FileLock({str(tmp_path / "lock")!r}, {str(tmp_path / "database")!r}).acquire(60)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    new_lock(tmp_path).acquire(1)


@pytest.mark.parametrize("damage", [b"", b"\xff" * 8, b"garbage of some length"])
def test_a_file_that_was_cut_or_overwritten_does_no_harm(tmp_path: Path, damage: bytes) -> None:
    holder, other = new_lock(tmp_path), new_lock(tmp_path)
    for _ in range(3):
        holder.acquire(1)
        holder.release()
    holder.acquire(1)
    (tmp_path / "lock").write_bytes(damage)
    with pytest.raises(TimeoutError):
        other.acquire(0.05)
    holder.release()
    other.acquire(1)


def test_a_file_that_cannot_be_written_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("purse.campaign.storage.file_lock.os.pwrite", full)
    holder, other = new_lock(tmp_path), new_lock(tmp_path)
    holder.acquire(1)
    with pytest.raises(TimeoutError):
        other.acquire(0.05)
    holder.release()
    other.acquire(1)


def test_a_process_that_stands_still_while_it_draws_is_waited_for_only_so_long(
    tmp_path: Path,
) -> None:
    lock, stuck = new_lock(tmp_path), new_lock(tmp_path)
    stuck.acquire(1)
    stuck.release()
    assert stuck._file is not None
    assert _set_lock(stuck._file, fcntl.F_OFD_SETLK, fcntl.F_WRLCK, _DRAWING, 1)
    with pytest.raises(TimeoutError):
        lock.acquire(0.05)
    stuck.close()
    lock.acquire(1)


def test_a_child_process_leaves_the_lock_to_its_parent(tmp_path: Path) -> None:
    lock, other = new_lock(tmp_path), new_lock(tmp_path)
    lock.acquire(1)
    child = os.fork()
    if child == 0:
        lock.renew()
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(TimeoutError):
        other.acquire(0.05)
    lock.close()
    other.acquire(1)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "purse.db"
    path.touch(0o644)
    return path


def opened(database: Path) -> os.stat_result:
    file = _open_lock_file(f"{database}-lock", str(database))
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
    monkeypatch.setattr(file_lock, "_check_owner", lambda *_: None)
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
        _check_owner(*arguments)
    else:
        with pytest.raises(StorageUnavailable, match="x-lock belongs to user 1001, who may not"):
            _check_owner(*arguments)


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
