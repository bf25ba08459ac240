"""Clients killed with SIGKILL, at random and at labelled points: nothing that was acknowledged is
lost, nothing happens twice, and the budgets hold.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from purse import Account, PurseError
from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import connect
from purse.campaign.terms import calendar
from tests.campaign.test_bill import BUDGETS, CHAIN, Plain, check_level, grown
from tests.support import kill_worker
from tests.support.check_log import check_accounts, check_promises
from tests.support.client_log import SHORT_HOUR, FileClientLog
from tests.support.fault_injection import LABELS
from tests.support.kill_worker import ACCOUNTS, AT_RANDOM, CAMPAIGNS, CLIENTS
from tests.support.paths import ROOT
from tests.support.soak import scale
from tests.support.storages import StorageHarness, counts


@pytest.fixture(autouse=True)
def short_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the clients have them."""
    monkeypatch.setattr(calendar, "_HOUR", SHORT_HOUR)


def started(address: str, folder: Path, kills: int) -> subprocess.Popen[str]:
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


WISHES = ["ask", "tell", "void", "late", "charge", "budget"]


def spend(address: str, names: dict[str, str], seed: int) -> None:
    """Ask, report, charge and set budgets at random; every other process dies on the way."""
    rng, levels = random.Random(seed), opened(names, connect(address))
    if seed % 2:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.01, 0.5))  # which ends it at once
    for _ in range(15):
        campaign: Any = levels[rng.choice(["one", "two"])]
        ticket, cost = rng.randrange(1, 30), f"0.{rng.choice([1, 5, 10, 10, 14, 40]):03d}"
        with suppress(PurseError):
            match rng.choices(WISHES, [8, 8, 2, 2, 1, 1])[0]:
                case "ask":
                    campaign.ask_many(rng.choice([1, 3]))
                case "tell":
                    campaign.tell(ticket, 1, cost)
                case "void":
                    campaign.void(ticket)
                case "late":
                    campaign.settle(ticket, cost)
                case "charge":
                    rng.choice(list(levels.values())).charge(rng.choice(["-0.001", "0.03"]))
                case "budget":
                    level, when = rng.choice(list(levels.values())), rng.choice(["now", "next"])
                    level.set_budget(rng.choice(["0.06", "0.3"]), when)


def opened(names: dict[str, str], storage: Any) -> dict[str, Any]:
    return {
        level: (Campaign if level in ("one", "two") else Account).open(name, storage=storage)
        for level, name in names.items()
    }


def deaths(address: str, names: dict[str, str], seed: int) -> int:
    """How many of eight processes at once were killed."""
    children = []
    for child in range(8):
        if (pid := os.fork()) == 0:
            try:
                spend(address, names, 8 * seed + child)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        children.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    assert set(codes) <= {0, -signal.SIGALRM}
    return sum(code != 0 for code in codes)


def check_history(levels: dict[str, Any], kept: set[str]) -> int:
    """P1 at every ask, added up from the journals in the order of the tree; return their number."""
    plain, asks, paid = Plain(CHAIN, dict(BUDGETS), kept), 0, set[tuple[str, int]]()
    lines = [
        (turn, level, entry)
        for level, each in levels.items()
        for entry, turn, _ in each.storage.digested(each.name, 0, 10**6)
    ]
    for _, level, entry in sorted(lines, key=lambda line: line[0]):
        body, ticket = entry.body, entry.ticket or 0
        match entry.kind:
            case "asked":
                plain.ask(level, ticket, body["held"][0] // 10**6)
                asks += 1
            case "told" | "settled" | "voided" if (level, ticket) not in paid:
                paid |= {(level, ticket)} if "costs" in body else set()
                plain.report(level, ticket, body.get("costs", [0])[0] // 10**6)
            case "charged":
                assert plain.charge(level, body["amount"][0] // 10**6)
            case "budget_set":
                when = "next" if "next" in body else "now"
                plain.set_budget(level, body["units"][0] // 10**6, when)
            case "renewed":
                plain.renew(level)
    for level, each in levels.items():
        check_level(each.status(), level, plain)
    assert levels["firm"].audit().findings == ()
    return asks


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_promise_holds_at_every_grant_while_processes_die(
    kind: str, make_harness: Callable[[str], StorageHarness]
) -> None:
    """Of trees with periods, late, void, presumed and wrong bills, charges and new budgets."""
    dead, asks, harness = 0, 0, make_harness(kind)
    for seed in range(scale(3, 300)):
        rng = random.Random(seed)
        kept = {level for level in BUDGETS if rng.random() < 0.5}
        harness.clock = int(time.time() * 1000)
        names = {
            level: each.name for level, each in grown(harness, kept, "1h", 0.3, f"-{seed}").items()
        }
        harness.close()
        dead += deaths(harness.address, names, seed)
        harness.clock = int(time.time() * 1000)
        levels = opened(names, harness.storage())
        for level in levels.values():
            level.pause()  # no period begins after that
        asks += check_history(levels, kept)
    assert min(dead, asks) > 0
    print(f"{dead} kills, {asks} asks")
