"""P7: a storage that cannot answer makes ask and tell refuse, soon, and nothing has happened; when
it is back all goes on.
"""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from purse.campaign.campaign import Campaign
from purse.campaign.storage import postgres, sqlite_file
from purse.campaign.storage.file_lock import FileLock
from purse.errors import StorageUnavailable
from tests.support.client_log import TERMS
from tests.support.fault_injection import mounted
from tests.support.soak import scale

SOON = 10  # seconds: far more than the patience that is set here, far less than for ever


def have_no_patience(patch: pytest.MonkeyPatch) -> None:
    """Nobody waits for long."""
    patch.setattr(sqlite_file, "_LOCK_TIMEOUT_S", 0.1)
    patch.setattr(
        postgres,
        "_SETTINGS",
        postgres._SETTINGS.replace(
            f"'lock_timeout', '{postgres._LOCK_TIMEOUT_S}s'", "'lock_timeout', '50ms'"
        ),
    )
    patch.setattr(postgres, "_LOCK_TIMEOUT_S", 1)
    patch.setattr(postgres, "_QUERY_TIMEOUT_S", 1.5)


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    have_no_patience(monkeypatch)


def begun(storage: Any) -> tuple[Campaign, Any]:
    campaign = Campaign.create("test", **TERMS, storage=storage)
    return campaign, campaign.ask("first")


def in_time(call: Any) -> BaseException | None:
    """What a call raised; it must come back soon."""
    caught: list[BaseException | None] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            caught.append(error)
        else:
            caught.append(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SOON)
    assert caught, "it hangs"
    return caught[0]


def refuses(campaign: Campaign, ticket: Any, calls: int = 4) -> None:
    """Neither asks nor reports are taken, and whoever calls is told in one line."""
    for call in (
        lambda: campaign.ask("second"),
        lambda: campaign.tell(ticket, 1, 1),
        lambda: campaign.void(ticket),
        lambda: campaign.top_up(1),
    )[:calls]:
        error = in_time(call)
        assert type(error) is StorageUnavailable, repr(error)
        assert "\n" not in str(error)


@contextmanager
def goes_on(address: str) -> Iterator[tuple[Campaign, Any]]:
    """A campaign with a ticket that is out. In the end nothing has happened, and all goes on."""
    campaign, ticket = begun(address)
    yield campaign, ticket
    assert [entry.kind for entry in campaign.journal()] == ["created", "asked"]
    assert campaign.ask("first") == ticket
    assert not campaign.tell(ticket, 1, 1).duplicate
    assert campaign.ask("second").id == 2
    assert campaign.audit().ok
    campaign.storage.close()


def test_another_program_holds_the_lock(tmp_path: Path) -> None:
    with (
        goes_on(f"sqlite:///{tmp_path}/purse.db") as (campaign, ticket),
        closing(apsw.Connection(f"{tmp_path}/purse.db")) as foreign,
    ):
        foreign.execute("BEGIN IMMEDIATE")
        refuses(campaign, ticket)
        assert campaign.status().counts["held"] == 1  # who only reads waits for nobody


def test_a_process_stands_still_with_the_lock(tmp_path: Path) -> None:
    with (
        goes_on(f"sqlite:///{tmp_path}/purse.db") as (campaign, ticket),
        closing(FileLock(f"{tmp_path}/purse.db-lock", f"{tmp_path}/purse.db")) as lock,
    ):
        lock.acquire(1)
        refuses(campaign, ticket)
        assert campaign.status().counts["held"] == 1  # who only reads waits for nobody


def test_the_file_may_only_be_read(tmp_path: Path) -> None:
    with (
        mounted() as disk,
        goes_on(f"sqlite:///{tmp_path}/purse.db?vfs={disk.name}") as (campaign, ticket),
    ):
        campaign.storage.close()
        disk.read_only = True
        refuses(campaign, ticket)
        campaign.storage.close()
        disk.read_only = False


def test_the_folder_vanishes_and_comes_back(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    with goes_on(f"sqlite:///{tmp_path}/here/purse.db") as (campaign, ticket):
        (tmp_path / "here").rename(tmp_path / "elsewhere")
        refuses(campaign, ticket)
        (tmp_path / "elsewhere").rename(tmp_path / "here")


def test_the_file_is_replaced_by_a_copy(tmp_path: Path) -> None:
    """As when a backup is put in its place: whatever is acknowledged afterwards is in the file that
    is there, not in the one that nobody can reach.
    """
    address = f"sqlite:///{tmp_path}/purse.db"
    campaign, ticket = begun(address)
    with closing(apsw.Connection(f"{tmp_path}/purse.db")) as file:
        file.execute("VACUUM INTO ?", (f"{tmp_path}/copy.db",))
    for path in tmp_path.glob("purse.db*"):
        path.unlink()
    (tmp_path / "copy.db").rename(tmp_path / "purse.db")
    calls = {"asked": lambda: campaign.ask("second"), "told": lambda: campaign.tell(ticket, 1, 1)}
    acknowledged = [
        kind for kind, call in calls.items() if not isinstance(in_time(call), StorageUnavailable)
    ]
    assert [entry.kind for entry in Campaign.open("test", storage=address).journal()] == [
        "created",
        "asked",
        *acknowledged,
    ]
    campaign.storage.close()


@contextmanager
def stopped(server: Any) -> Iterator[None]:
    """While the server is down."""
    server.stop()
    try:
        yield
    finally:
        server.ensure_postgres_running()


def test_postgres_is_stopped(postgres_server: Any, postgres_address: str) -> None:
    with goes_on(postgres_address) as (campaign, ticket):
        campaign.status()
        with stopped(postgres_server):
            refuses(campaign, ticket)
            with pytest.raises(StorageUnavailable):
                campaign.status()
            with pytest.raises(StorageUnavailable):
                Campaign.open("test", storage=postgres_address)


def test_postgres_was_started_anew_while_nobody_looked(
    postgres_server: Any, postgres_address: str
) -> None:
    with goes_on(postgres_address) as (campaign, _):
        campaign.status()
        with stopped(postgres_server):
            pass
        assert campaign.status().counts["held"] == 1


def test_postgres_stands_still(
    postgres_server: Any, postgres_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psutil

    with goes_on(postgres_address) as (campaign, ticket):
        server = psutil.Process(postgres_server.get_pid())
        processes = [server, *server.children()]
        for process in processes:
            process.suspend()
        try:
            with monkeypatch.context() as patch:
                patch.setattr(postgres, "_QUERY_TIMEOUT_S", 0.3)
                # one waits for an answer, and all others for two seconds for a new connection
                refuses(campaign, ticket, scale(2, 4))
        finally:
            for process in processes:
                process.resume()


def test_another_session_locks_the_campaign_in_postgres(postgres_address: str) -> None:
    import psycopg

    with goes_on(postgres_address) as (campaign, ticket):
        campaign.storage.close()
        with psycopg.connect(postgres_address) as foreign:
            foreign.execute("SELECT 1 FROM purse_levels FOR UPDATE")
            refuses(campaign, ticket)
            assert campaign.status().counts["held"] == 1


def test_a_campaign_that_is_stuck_delays_no_other_in_postgres(
    postgres_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.undo()  # who waits, waits for long
    stuck, ticket = begun(postgres_address)
    storage = stuck.storage
    other = Campaign.create("other", **TERMS, storage=storage)
    with psycopg.connect(postgres_address) as foreign:
        foreign.execute("SELECT 1 FROM purse_levels WHERE name = 'test' FOR UPDATE")
        waiting = threading.Thread(target=stuck.tell, args=(ticket, 1, 1))
        waiting.start()
        assert in_time(lambda: other.tell(other.ask(), 1, 1)) is None
        assert in_time(stuck.status) is None
        assert waiting.is_alive()
    waiting.join()
    assert stuck.status().counts["told"] == other.status().counts["told"] == 1
    storage.close()


def test_who_only_reads_is_not_delayed_by_one_who_waits_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    campaign, ticket = begun(f"sqlite:///{tmp_path}/purse.db")
    lock = FileLock(f"{tmp_path}/purse.db-lock", f"{tmp_path}/purse.db")
    lock.acquire(1)
    waiting = [
        threading.Thread(target=campaign.tell, args=(ticket, 1, 1)),
        threading.Thread(target=campaign.ask),
    ]
    for thread in waiting:
        thread.start()
    for read in (campaign.status, campaign.tickets, campaign.storage.names):
        assert in_time(read) is None
    assert all(thread.is_alive() for thread in waiting)
    lock.close()
    for thread in waiting:
        thread.join()
    assert campaign.status().counts["told"] == 1
    campaign.storage.close()


def test_one_reader_who_takes_long_delays_no_other(tmp_path: Path) -> None:
    campaign, _ = begun(f"sqlite:///{tmp_path}/purse.db")
    storage: Any = campaign.storage
    with storage.db.reading(), storage.db.reading():
        assert in_time(campaign.status) is None
    storage.close()
