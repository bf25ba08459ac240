from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from purse.campaign.storage.file_lock import COUNTER, DRAWING, FileLock, set_lock

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no lock elsewhere")


def new_lock(folder: Path) -> FileLock:
    (folder / "database").touch()
    return FileLock(str(folder / "lock"), str(folder / "database"))


def wait_until_drawn(folder: Path, number: int) -> None:
    """Wait until so many numbers have been drawn."""
    while COUNTER.unpack((folder / "lock").read_bytes()[: COUNTER.size])[0] < number:
        time.sleep(0.001)


def test_one_at_a_time_has_the_lock(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def work() -> None:
        lock = new_lock(tmp_path)
        for _ in range(20):
            lock.acquire(60)
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            inside[0] -= 1
            lock.release()
        lock.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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

    threads = []
    for number in range(12):
        threads.append(threading.Thread(target=work, args=(number,)))
        threads[-1].start()
        wait_until_drawn(tmp_path, number + 2)
    first.close()
    for thread in threads:
        thread.join()
    assert order == list(range(12))


def test_who_comes_back_at_once_stands_behind_those_who_wait(tmp_path: Path) -> None:
    ours, theirs = new_lock(tmp_path), new_lock(tmp_path)
    ours.acquire(1)
    order: list[str] = []

    def work() -> None:
        theirs.acquire(60)
        order.append("theirs")
        theirs.release()

    other = threading.Thread(target=work)
    other.start()
    wait_until_drawn(tmp_path, 2)
    ours.release()
    ours.acquire(60)
    order.append("ours")
    other.join()
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
    assert set_lock(stuck._file, fcntl.F_OFD_SETLK, fcntl.F_WRLCK, DRAWING, 1)
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
