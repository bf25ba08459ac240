"""Clients killed with SIGKILL, at random and at labelled points: nothing that was acknowledged is
lost, nothing happens twice, and the budgets hold.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from purse import Account
from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import connect
from purse.campaign.terms import calendar
from tests.support import kill_worker
from tests.support.check_log import check_accounts, check_promises
from tests.support.client_log import SHORT_HOUR, FileClientLog
from tests.support.fault_injection import LABELS
from tests.support.kill_worker import ACCOUNTS, AT_RANDOM, CAMPAIGNS, CLIENTS
from tests.support.paths import ROOT
from tests.support.soak import scale
from tests.support.storages import counts


@pytest.fixture(autouse=True)
def short_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the clients have them."""
    monkeypatch.setattr(calendar, "_HOUR", SHORT_HOUR)


def started(address: str, folder: Path, kills: int) -> subprocess.Popen[str]:
    """The killer at work."""
    return subprocess.Popen(
        [sys.executable, "-m", kill_worker.__name__, address, str(folder), str(kills), "11"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def check_after(address: str, folder: Path, killer: subprocess.Popen[str], kills: int) -> None:
    """Everybody died as planned, and the campaigns are what their logs say."""
    out, err = killer.communicate(timeout=1800)
    assert killer.returncode == 0, err
    deaths = json.loads(out)
    assert sum(deaths.values()) >= kills, deaths
    labels = LABELS[address.partition(":")[0]]
    missed = [label for label in (AT_RANDOM, *labels) if not deaths.get(label)]
    assert not missed, f"nobody died {missed}"
    logs = [FileClientLog(folder / f"log-{client}") for client in range(CLIENTS)]
    assert not any(log.open for log in logs)
    storage = connect(address)
    campaigns = {name: Campaign.open(name, storage=storage) for name in CAMPAIGNS}
    for name, campaign in campaigns.items():
        clients = [client for client in range(CLIENTS) if CAMPAIGNS[client] == name]
        check_promises(campaign, [line for k in clients for line in logs[k].lines])
        calendar = storage.level(name)[-1].head.period
        assert (bool(calendar) and calendar[0] > 2) == (name in ACCOUNTS)
    told = sum(counts(each)["told"] for each in campaigns.values())
    assert told > kills // 4
    below = {
        account: [campaigns[name] for name, above in ACCOUNTS.items() if account in above]
        for account in ("company", "team")
    }
    check_accounts(
        [Account.open(account, storage=storage) for account in below],
        below,
        [line for log in logs for line in log.lines],
    )
    storage.close()
    print(f"{sum(deaths.values())} kills at {len(deaths)} harnesss, {told} reports")


def test_killed_clients_of_a_file(tmp_path: Path) -> None:
    address, kills = f"sqlite:///{tmp_path}/purse.db", scale(50, 2_400)
    check_after(address, tmp_path, started(address, tmp_path, kills), kills)


def test_killed_clients_of_postgres_and_the_server_too(
    tmp_path: Path, postgres_server: Any, postgres_address: str
) -> None:
    """By turns the server itself and one of its processes, which makes it throw out everybody, are
    killed while clients go on dying.
    """
    kills, blows = scale(46, 2_400), scale(2, 24)
    killer = started(postgres_address, tmp_path, kills)
    for blow in range(blows):
        wait_for_lines(tmp_path, killer, (blow + 1) * scale(15, 100))
        server = psutil.Process(postgres_server.get_pid())
        if blow % 2:
            kill_one_of(server)
        else:
            server.kill()
            server.wait(60)
            restarted(postgres_server)
    check_after(postgres_address, tmp_path, killer, kills)


def kill_one_of(server: psutil.Process) -> None:
    """One of its processes, that works for a client; they come and go."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for process in server.children():
            with suppress(psutil.Error):
                if "[local]" in " ".join(process.cmdline()):
                    return process.kill()
    raise AssertionError("nobody is connected")


def wait_for_lines(folder: Path, killer: subprocess.Popen[str], wanted: int) -> None:
    """Until the logs have so many lines."""
    while (
        killer.poll() is None
        and sum(path.read_bytes().count(b"\n") for path in folder.glob("log-*")) < wanted
    ):
        time.sleep(0.01)
    assert killer.poll() is None, f"all was over before there were {wanted} lines"


def restarted(server: Any) -> None:
    """The server runs again; it will not begin before all of its old processes have gone."""
    for _ in range(600):
        try:
            return server.ensure_postgres_running()
        except (subprocess.SubprocessError, AssertionError):
            time.sleep(0.05)
    raise AssertionError("the server did not come back")
