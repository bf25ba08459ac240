"""A crowd of processes on campaigns below two levels of accounts, killed with SIGKILL again and
again. `python -m tests.support.crowd` with a storage, a folder for their logs, a number of
processes, seconds, a seed, and `serve` if they are to reach the storage through a service, which is
killed, too.

Each process writes what it wants and what it is answered to a log of its own; whoever comes next
goes on with it. It writes one line of JSON: how many were killed.
"""

import json
import os
import random
import signal
import socket
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from purse import Account, Campaign
from purse.campaign.storage.connect import connect
from purse.campaign.terms import calendar
from tests.support.client_log import FileClientLog, LoggingClient
from tests.support.kill_worker import patiently
from tests.support.service import served

SHORT_HOUR = 1_000  # ms: periods of an hour end while clients live
ACCOUNTS = {"company": None, "team-0": "company", "team-1": "company"}
DEADLINES: Sequence[float | None] = (0.005, 0.02, 0.1, 0.5, 2, None, 0.005, 0.05)  # seconds
BETWEEN_KILLS = 4_000  # characters in all logs at most: some twenty answers
SERVER = "server"


def create(address: str) -> None:
    """Make two levels of accounts and the campaigns below them; some of each are renewed."""
    storage = connect(address)
    renewed: list[dict[str, Any]] = [{}, {"every": "1h"}, {"every": "1h", "carry": "all"}]
    for number, (name, above) in enumerate(ACCOUNTS.items()):
        Account.create(
            name,
            budget=100,
            account=above,
            **renewed[number],
            alerts=["80%", "overrun"],
            storage=storage,
        )
    for number, deadline in enumerate(DEADLINES):
        late = {"reward_within": 0.05, "missing_reward": 0.5} if number % 2 else {}
        Campaign.create(
            f"campaign-{number}",
            arms={"left": 1, "right": "1.5"},
            budget=40,
            cost_min="0.1",
            policy="uniform",
            expires_after=deadline,
            cooldown=0.005,
            account=f"team-{number % 2}",
            **renewed[number % 3],
            **late,
            alerts=["expired"],
            storage=storage,
        )
    storage.close()


def live(place: str, log: Path, number: int, seed: int, end: Path) -> None:
    """A client of a storage or a server, until a file is there."""
    which = number % len(DEADLINES)

    def opened() -> tuple[Any, list[Any]]:
        at: Any = place if "http" in place else connect(place)
        above = [Account.open(name, storage=at) for name in ("company", f"team-{which % 2}")]
        return Campaign.open(f"campaign-{which}", storage=at), above

    campaign, above = patiently(opened, opened)
    made = LoggingClient(campaign, FileClientLog(log), f"p{number}", random.Random(seed), above)
    patiently(made.resume, made.resume)
    while not end.exists():
        patiently(made.step, made.resume)


def child(work: Callable[[], Any], error: Path) -> int:
    """Do something in a process of its own, and keep what goes wrong."""
    if pid := os.fork():
        return pid
    try:
        work()
        os._exit(0)
    except BaseException:
        error.write_text(traceback.format_exc())
        os._exit(1)


def serve(address: str, port: int) -> None:
    with served(port, storage=connect(address)):
        signal.pause()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def crowd(
    address: str, folder: Path, processes: int, seconds: float, seed: int, through: str = ""
) -> Counter[str]:
    """Keep so many processes alive, and kill one after the other, for so long at least and until
    each has died twice, on average.
    """
    port, rng, kills = free_port(), random.Random(seed), Counter[str]()
    place, end = f"http://127.0.0.1:{port}" if through else address, folder / "end"
    create(address)
    until, enough, running = time.time() + seconds, 0, dict[int, Any]()

    def start(who: Any) -> None:
        client_seed, error = rng.randrange(2**32), folder / f"error-{who}"
        log = folder / f"log-{who}"
        work: Callable[[], None] = (
            (lambda: serve(address, port))
            if who == SERVER
            else (lambda: live(place, log, who, client_seed, end))
        )
        running[child(work, error)] = who

    for who in [*range(processes), *[SERVER] * bool(through)]:
        start(who)
    while any(who != SERVER for who in running.values()):
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended:
            who, code = running.pop(ended), os.waitstatus_to_exitcode(status)
            if code not in (0, -signal.SIGKILL):
                stop(running)
                raise SystemExit((folder / f"error-{who}").read_text())
            if code:
                kills["servers" if who == SERVER else "clients"] += 1
                start(who)
        elif end.exists():
            time.sleep(0.01)
        elif time.time() > until and kills["clients"] > 2 * processes:
            end.touch()
        elif (size := sum(path.stat().st_size for path in folder.glob("log-*"))) > enough:
            enough = size + rng.randrange(BETWEEN_KILLS)
            os.kill(rng.choice(list(running)), signal.SIGKILL)
        else:
            time.sleep(0.005)
    stop(running)
    return kills


def stop(running: dict[int, Any]) -> None:
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def main(address: str, folder: str, processes: str, seconds: str, seed: str, *more: str) -> None:
    calendar._HOUR = SHORT_HOUR  # here and in all processes
    warm = Campaign.create("warm", arms={"a": 1}, budget=9, policy="uniform", storage="memory:")
    warm.tell(warm.ask(), 1, 1)
    kills = crowd(address, Path(folder), int(processes), float(seconds), int(seed), *more)
    print(json.dumps(kills))


if __name__ == "__main__":
    main(*sys.argv[1:])
