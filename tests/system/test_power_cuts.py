"""Power cuts, failing disks, full disks, and storages that do not answer: nothing that was
acknowledged is lost, nothing is admitted that is not written.
"""

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import apsw
import pytest

from purse import Account
from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import connect
from purse.campaign.storage.sqlite import Sqlite
from purse.campaign.storage.storage import Storage
from purse.campaign.terms import calendar
from purse.errors import StorageUnavailable
from tests.support.check_log import check_accounts, check_promises
from tests.support.client_log import RENEWED, SHORT_HOUR, TERMS, ClientLog, LoggingClient
from tests.support.fault_injection import Disk, mounted, nothing
from tests.support.soak import SOAK, scale
from tests.support.storages import kinds

# SQLite passes over some errors of a disk, and apsw says so
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
CUTS = scale(24, 480)
LOG = 20  # pages after which it is moved into the file
LIVES = 12  # of one campaign; then a new one begins
ACCOUNTS = ("company", "team")  # where there are some: from the top down
OPERATIONS = ("write", "sync", "truncate", "delete")
FAULTS = {"EIO": apsw.IOError, "ENOSPC": apsw.FullError}


@pytest.fixture(autouse=True)
def short_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calendar, "_HOUR", SHORT_HOUR)


class SmallLog(Sqlite):
    """A storage that moves its log into the file often, so that tests meet that too."""

    def _opened(self) -> apsw.Connection:
        db = super()._opened()
        db.execute(f"PRAGMA wal_autocheckpoint = {LOG}")
        return db


class Countdown:
    """Does something at the n-th operation of some kinds."""

    def __init__(self, n: int, kinds: tuple[str, ...], act: Callable[[], None]) -> None:
        self.left, self.kinds, self.act = n, kinds, act

    def __call__(self, operation: str, _file: str) -> None:
        self.left -= operation in self.kinds
        if self.left <= 0 and operation in self.kinds:
            self.act()


def reached(disk: Disk, folder: Path) -> Storage:
    database = SmallLog(f"sqlite:///{folder}/purse.db?vfs={disk.name}")
    database.prepare()
    return Storage(database)


def check_file(disk: Disk, folder: Path) -> None:
    db = apsw.Connection(f"{folder}/purse.db", vfs=disk.name)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    db.close()


def new_home(folder: Path, *, paid: bool = False) -> Path:
    """A folder with a new campaign, where that is wanted under accounts, and renewed."""
    folder.mkdir()
    store = connect(f"sqlite:///{folder}/purse.db")
    terms = {**TERMS, "expires_after": None}
    if paid:
        Account.create(ACCOUNTS[0], budget=8, alerts=[], storage=store)
        Account.create(ACCOUNTS[1], budget=6, account=ACCOUNTS[0], alerts=[], storage=store)
        terms |= {"account": ACCOUNTS[1], **RENEWED}
    Campaign.create("cut", **terms, storage=store)
    store.close()
    return folder


def accounts_of(campaign: Campaign) -> list[Account]:
    """Those above a campaign, from the top down."""
    above = ACCOUNTS if campaign.terms.account else ()
    return [Account.open(name, storage=campaign.storage) for name in above]


def check_all(campaign: Campaign, log: ClientLog) -> list[Account]:
    """The campaign and the accounts above it keep what was acknowledged."""
    check_promises(campaign, log.lines)
    accounts = accounts_of(campaign)
    check_accounts(accounts, {name: [campaign] for name in ACCOUNTS}, log.lines)
    return accounts


def lived(disk: Disk, home: Path, next_home: Path, log: ClientLog, seed: int) -> None:
    """One life: what was acknowledged before is there; the client goes on until the power is cut;
    the disk of the next life is in the next home.
    """
    rng = random.Random(seed)
    torn = rng if seed % 2 else None

    def cut() -> None:
        if not next_home.exists():
            disk.cut(next_home, torn)
        raise apsw.IOError("the power is gone")

    store = reached(disk, home)
    try:
        campaign = Campaign.open("cut", storage=store)
        check_file(disk, home)
        accounts = check_all(campaign, log)
        disk.watch = Countdown(rng.randrange(1, 250), OPERATIONS, cut)
        go_on(LoggingClient(campaign, log, f"client-{seed}", rng, accounts=accounts))
    except StorageUnavailable:
        disk.watch = nothing  # what is tidied up now is of no interest
        assert next_home.exists(), "it failed, and the power was there"
    store.close()


def test_nothing_acknowledged_is_lost_in_a_power_cut(tmp_path: Path) -> None:
    """Cut at any write, sync or deletion, with what was not synced thrown away, or kept in part and
    torn.
    """
    answers = 0
    for cut in range(CUTS):
        if cut % LIVES == 0:
            paid = cut // LIVES % 2 == 1  # every second campaign is under accounts
            home, log = new_home(tmp_path / f"home-{cut}", paid=paid), ClientLog()
        next_home = tmp_path / f"home-{cut}-cut"
        with mounted() as disk:
            lived(disk, home, next_home, log, cut)
        shutil.rmtree(home)
        home = next_home
        answers += cut % LIVES == LIVES - 1 and sum("got" in line for line in log.lines)
    assert answers > 3 * CUTS, "the cuts came too early to mean anything"


def test_a_power_cut_while_the_file_is_made(tmp_path: Path) -> None:
    """At every operation: the campaign is there, or it can be created; never is there a file that
    nobody can use.
    """
    n, made = 0, False
    while not made:
        n += scale(2, 1)
        for torn in (None, random.Random(n)):
            home = tmp_path / f"{n}-{torn is None}"
            home.mkdir()
            with mounted() as disk:
                made = created_until(n, disk, home, tmp_path / f"{home.name}-cut", torn)
            if not made:
                store = connect(f"sqlite:///{tmp_path}/{home.name}-cut/purse.db")
                if "cut" not in store.names():
                    Campaign.create("cut", **TERMS, storage=store)
                assert kinds(Campaign.open("cut", storage=store)) == ["created"]
                store.close()
    assert n > 20


def created_until(
    n: int, disk: Disk, home: Path, next_home: Path, torn: random.Random | None
) -> bool:
    """Whether a campaign could be created before the n-th operation, at which the power is cut."""

    def cut() -> None:
        disk.watch = nothing
        disk.cut(next_home, torn)
        raise apsw.IOError("the power is gone")

    disk.watch = Countdown(n, OPERATIONS, cut)
    with suppress(StorageUnavailable):
        campaign = Campaign.create("cut", **TERMS, storage=reached(disk, home))
        disk.watch = nothing
        campaign.storage.close()
    return not next_home.exists()


def made(campaign: Campaign, log: ClientLog, name: str, seed: int) -> LoggingClient:
    """A client of a campaign and of the accounts above it."""
    return LoggingClient(campaign, log, name, random.Random(seed), accounts=accounts_of(campaign))


def scenario(campaign: Campaign, log: ClientLog, steps: int) -> LoggingClient:
    """A client that does the same things whenever nothing fails."""
    client = made(campaign, log, "client", 5)
    for _ in range(steps):
        client.step()
    return client


FAILURES = [("EIO", "read"), *product(FAULTS, ("write", "sync", "truncate"))]


@pytest.mark.parametrize(
    ("fault", "operation", "paid"),
    [
        (*failure, paid)
        for failure in FAILURES
        for paid in (False, True)
        if SOAK or paid == (failure[0] == "ENOSPC")
    ],
)
def test_a_failing_disk_makes_no_half_effects(
    tmp_path: Path, fault: str, operation: str, paid: bool
) -> None:
    """The n-th operation fails, once or from then on for a while, for n = 1, 2, ... until all goes
    through; of a campaign under accounts, too.
    """
    new_home(tmp_path / "seed", paid=paid)
    with mounted() as disk:
        first = ClientLog()
        store = reached(disk, tmp_path / "seed")
        scenario(Campaign.open("cut", storage=store), first, 3)
        store.close()
    n, failed, stride = (
        0,
        0,
        {"read": scale(8, 1), "write": scale(25, 1), "sync": scale(3, 1), "truncate": 1}[operation],
    )
    while True:
        n += stride
        home, log = tmp_path / f"disk-{n}", ClientLog()
        shutil.copytree(tmp_path / "seed", home)
        log.lines = list(first.lines)
        with mounted() as disk:
            refused = broken_at(
                n,
                disk,
                home,
                log,
                fault,
                operation,
                lasting=operation in ("write", "sync") and n // stride % 2 == 0,
            )
        shutil.rmtree(home)
        if refused is None:
            break
        failed += refused
    assert failed >= (0 if operation == "truncate" else 3), f"{failed} of {n} faults were noticed"


def broken_at(
    n: int, disk: Disk, home: Path, log: ClientLog, fault: str, operation: str, *, lasting: bool
) -> int | None:
    """How many calls were refused because the n-th operation failed; None where there are not that
    many.
    """
    struck = refused = 0

    def strike() -> None:
        nonlocal struck
        struck += 1
        if lasting or struck == 1:
            raise FAULTS[fault](f"{fault} at {operation} {n}")

    store = None
    disk.watch = Countdown(n, (operation,), strike)
    try:
        store = reached(disk, home)
        campaign = Campaign.open("cut", storage=store)
        scenario(campaign, log, 12)
    except StorageUnavailable:
        refused = 1
        if lasting and store is not None and log.open is not None:
            # as long as the disk is broken; what is written can be read
            with pytest.raises(StorageUnavailable):
                go_on(made(campaign, log, "client", 5))
            assert campaign.storage.level("cut")[-1].seq == len(list(campaign.journal()))
    disk.watch = nothing
    return finish(disk, home, log, store, refused if struck else None)


def go_on(client: LoggingClient) -> None:
    """The repeat is answered where the fault came after the commit; nothing new is."""
    client.resume()
    while True:
        client.step()


def finish(disk: Disk, home: Path, log: ClientLog, store: Any, refused: int | None) -> int | None:
    """The disk is well again: the same object goes on, and so does a new one."""
    for again in (store or reached(disk, home), reached(disk, home)):
        campaign = Campaign.open("cut", storage=again)
        client = made(campaign, log, f"later-{len(log.lines)}", 6)
        client.resume()
        for _ in range(2):
            client.step()
        again.close()
    check_all(campaign, log)
    check_file(disk, home)
    again.close()
    return refused
