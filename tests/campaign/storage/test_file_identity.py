"""SQLite's files removed, replaced or seen under another name while campaigns use them."""

import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from purse.campaign.campaign import Campaign
from purse.campaign.storage import file_identity, sqlite_file
from purse.campaign.storage.connect import connect
from purse.campaign.storage.sqlite import _SqliteSession
from purse.errors import StorageUnavailable
from tests.support.processes import forked, printed
from tests.support.soak import scale
from tests.support.storages import SqliteHarness

TERMS: dict[str, Any] = {"arms": {"a": 1}, "budget": 100, "cost_min": "0.01", "policy": "uniform"}


def look_with_another_library(path: Path) -> None:
    """Do what a notebook does. The two libraries do not see each other's own locks; without the
    guard the second one removes the log when it closes the file.
    """
    other = sqlite3.connect(path)
    other.execute("SELECT count(*) FROM purse_journal").fetchall()
    other.close()


def remove_log(path: Path) -> None:
    """Remove the log, of which nothing was moved into the file yet."""
    for name in ("-wal", "-shm"):
        Path(f"{path}{name}").unlink()


def elsewhere(path: Path, code: str) -> str:
    """What another process prints about the campaign `c`."""
    script = (
        f"from purse import Campaign; c = Campaign.open('c', storage='sqlite:///{path}'); {code}"
    )
    return printed(script, out=path.with_name("out")).strip()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "purse.db"


@pytest.fixture(params=["guarded", "unguarded"])
def guarded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With the guard's locks, and without, as on other platforms than Linux."""
    if request.param == "unguarded":
        monkeypatch.setattr(sqlite_file, "hold", lambda path: None)
    return request.param == "guarded" and sys.platform == "linux"


@pytest.fixture
def campaign(path: Path) -> Campaign:
    made = SqliteHarness(path).create("c", **TERMS)
    made.tell(made.ask(), reward=1, cost=1)
    return made


@pytest.mark.usefixtures("guarded")
def test_all_processes_see_one_ledger_after_another_library_looked(
    campaign: Campaign, path: Path
) -> None:
    look_with_another_library(path)
    for _ in range(5):
        campaign.tell(campaign.ask(), reward=1, cost=1)
    mine = len([campaign.ask() for _ in range(40)])
    told, theirs = elsewhere(path, "print(c.status().counts['told'], len(c.ask_many(59)))").split()
    assert (told, mine + int(theirs)) == ("6", 94)
    assert campaign.status().purses[0].left == "0"
    assert campaign.audit().ok


WORKS_AND_LOOKS = """
import sqlite3, sys, threading
from contextlib import suppress
import purse
from purse import Campaign

path, told = sys.argv[1], []

def work(campaign):
    while len(told) < int(sys.argv[2]):
        with suppress(purse.errors.StorageUnavailable):
            ticket = campaign.ask()
            campaign.tell(ticket, reward=1, cost="0.01")
            told.append(ticket.id)
            sys.stdout.write(f"{ticket.id}\\n")

opened = [Campaign.open("c", storage=f"sqlite:///{path}") for _ in range(2)]
opened[0].ask()
threads = [threading.Thread(target=work, args=(each,)) for each in opened * 2]
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    with suppress(sqlite3.Error):
        other = sqlite3.connect(path)
        other.execute("SELECT count(*) FROM purse_journal").fetchall()
        other.close()
    threading.Event().wait(0.01)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the guard's locks")
def test_nothing_acknowledged_is_lost_while_another_library_looks_again_and_again(
    campaign: Campaign, path: Path
) -> None:
    """Four threads on two connections work, and one looks."""
    campaign.storage.close()
    wanted = scale(60, 3_000)
    lines = printed(WORKS_AND_LOOKS, path, wanted, out=path.with_name("out"))
    told = [int(line) for line in lines.splitlines()]
    known = [entry.ticket for entry in campaign.journal() if entry.kind == "told"]
    assert len(told) >= wanted
    assert set(told) <= set(known)
    assert len(known) == len(set(known))
    assert campaign.audit().ok
    campaign.tell(campaign.ask(), reward=1, cost=1)


@pytest.mark.parametrize("damage", [look_with_another_library, remove_log])
def test_a_commit_into_files_that_are_gone_is_not_acknowledged(
    path: Path, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "hold", lambda path: None)
    campaign, real = SqliteHarness(path).create("c", **TERMS), _SqliteSession.write

    def write_and_damage(*args: Any) -> None:
        real(*args)
        monkeypatch.setattr(_SqliteSession, "write", real)
        damage(path)

    monkeypatch.setattr(_SqliteSession, "write", write_and_damage)
    with pytest.raises(StorageUnavailable, match="again with the same request_id"):
        campaign.ask(request_id="r")
    if damage is look_with_another_library:
        ticket = campaign.ask(request_id="r")
        assert elsewhere(path, "print([t.id for t in c.tickets()])") == f"[{ticket.id}]"


WORKS = """
import sys, time
from contextlib import suppress
import purse
from purse import Campaign

campaign = Campaign.open("c", storage=f"sqlite:///{sys.argv[1]}")
while True:
    with suppress(purse.errors.StorageUnavailable, purse.errors.TicketError):
        begun = time.time()
        ticket = campaign.ask()
        campaign.tell(ticket, reward=1, cost="0.001")
        sys.stdout.write(f"{begun} {ticket.id}\\n")
        sys.stdout.flush()
"""


def test_after_the_log_was_removed_under_load_all_see_one_ledger(
    campaign: Campaign, path: Path, tmp_path: Path
) -> None:
    """What was in the log is gone with it; what is acknowledged afterwards is not."""
    campaign.storage.close()
    outs = [tmp_path / f"out-{number}" for number in range(3)]
    for out in outs:
        out.touch()
    workers = [forked(WORKS, path, out=out) for out in outs]

    def wait_for_all(more: int, since: float) -> None:
        """Until each has been acknowledged so much more that it began since then."""
        while any(len([each for each in read(out) if each[0] > since]) < more for out in outs):
            assert all(worker.is_alive() for worker in workers)
            time.sleep(0.01)

    try:
        wait_for_all(2, 0)
        for _ in range(scale(3, 60)):
            with suppress(FileNotFoundError):
                remove_log(path)
            removed = time.time()
            wait_for_all(3, removed)
    finally:
        for worker in workers:
            worker.kill()
            worker.join()
    told = {entry.ticket for entry in campaign.journal() if entry.kind == "told"}
    lately = [number for out in outs for begun, number in read(out) if begun > removed]
    assert set(lately) <= told
    assert len(lately) == len(set(lately))
    assert campaign.audit().ok
    campaign.tell(campaign.ask(), reward=1, cost=1)


def read(out: Path) -> list[tuple[float, int]]:
    """When each pair began, and its ticket."""
    lines = [line.split() for line in out.read_text().split("\n")[:-1]]
    return [(float(begun), int(number)) for begun, number in lines]


def test_another_library_does_not_touch_files_that_are_guarded(
    guarded: bool, campaign: Campaign, path: Path
) -> None:
    before = file_identity.identify(str(path))
    look_with_another_library(path)
    assert (file_identity.identify(str(path)) == before) == guarded
    campaign.storage.close()
    assert {file.name for file in path.parent.iterdir()} == {"purse.db", "purse.db-lock"}
    assert str(path.resolve()) not in file_identity._guards


def test_a_reader_follows_files_that_were_replaced(
    campaign: Campaign, path: Path, tmp_path: Path
) -> None:
    campaign.storage.close()
    shutil.copy(path, tmp_path / "backup.db")
    campaign.tell(campaign.ask(), reward=1, cost=1)
    assert campaign.status().counts["told"] == 2
    campaign.storage.close()
    os.replace(tmp_path / "backup.db", path)
    assert campaign.status().counts["told"] == 1


def test_a_hard_link_is_refused_at_opening_and_an_alarm_while_running(
    campaign: Campaign, path: Path, tmp_path: Path
) -> None:
    assert campaign.status().alarms == ()
    os.link(path, tmp_path / "other.db")
    (alarm,) = campaign.status().alarms
    assert alarm.kind == "storage"
    assert "has another name (a hard link)" in alarm.text
    for name in ("purse.db", "other.db"):
        with pytest.raises(StorageUnavailable, match="has another name"):
            connect(f"sqlite:///{tmp_path}/{name}")
    (tmp_path / "other.db").unlink()
    assert campaign.status().alarms == ()


def test_a_symbolic_link_is_the_same_database(
    campaign: Campaign, path: Path, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link.db"
    link.symlink_to(path)
    other = Campaign.open("c", storage=f"sqlite:///{link}")
    other.tell(other.ask(), reward=1, cost=1)
    assert campaign.status().counts["told"] == 2
    assert file_identity.identify(str(link)) == file_identity.identify(str(path))
    if sys.platform == "linux":  # one guard, which stays until the last connection goes
        other.storage.close()
        assert str(link) not in file_identity._guards
        assert str(path.resolve()) in file_identity._guards
    look_with_another_library(path)
    campaign.tell(campaign.ask(), reward=1, cost=1)
    assert elsewhere(path, "print(c.status().counts['told'])") == "3"


def test_a_symbolic_link_that_leads_elsewhere_is_noticed(
    campaign: Campaign, path: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    other = Campaign.open("c", storage=f"sqlite:///{link}")
    other.tell(other.ask(), reward=1, cost=1)
    SqliteHarness(tmp_path / "other.db").create("c", **TERMS)
    link.unlink()
    link.symlink_to(tmp_path / "other.db")
    for call in (other.ask, other.status):
        with pytest.raises(StorageUnavailable, match="leads to another file now"):
            call()
    assert campaign.status().counts["told"] == 2


def test_a_file_that_is_a_mount_point_is_refused(
    campaign: Campaign, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(file_identity, "_MOUNTS", mounts)
    assert file_identity.danger(str(path)) is None  # where mount points are not known
    mounts.write_text(f"36 35 98:0 / {path.parent} rw - ext4 /dev/sda1 rw\n")
    connect(f"sqlite:///{path}")
    mounts.write_text(f"36 35 98:0 /x {path} rw - ext4 /dev/sda1 rw\n")
    with pytest.raises(StorageUnavailable, match=r"is a mount point, .*; mount its folder instead"):
        connect(f"sqlite:///{path}")
    assert [alarm.kind for alarm in campaign.status().alarms] == ["storage"]


def test_mount_points_are_read_as_the_kernel_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(r"36 35 98:0 / /a\040b\134c rw - ext4 /dev/sda1 rw" + "\n")
    monkeypatch.setattr(file_identity, "_MOUNTS", mounts)
    assert file_identity._mount_points() == {"/a b\\c"}
