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

from purse import Account, Campaign, PurseError
from purse.campaign.storage.connect import connect
from purse.campaign.terms import calendar
from purse.errors import CampaignPaused, StorageUnavailable
from tests.support.service import served

SHORT_HOUR = 1_000  # ms: periods of an hour end while clients live
ACCOUNTS = {"company": None, "team-0": "company", "team-1": "company"}
DEADLINES: Sequence[float | None] = (0.005, 0.02, 0.1, 0.5, 2, None, 0.005, 0.05)  # seconds
BETWEEN_KILLS = 4_000  # characters in all logs at most: some twenty answers
SERVER = "server"
PATIENCE = 300  # seconds in which a storage or a server must be back
Line = dict[str, Any]


def create(address: str) -> None:
    """Make two levels of accounts and the campaigns below them; some of each are renewed."""
    storage = connect(address)
    renewed: list[Line] = [{}, {"every": "1h"}, {"every": "1h", "carry": "all"}]
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


class Client:
    """Does something at random, again and again, and writes it down."""

    def __init__(self, address: str, path: Path, number: int, seed: int) -> None:
        self.address, self.rng = address, random.Random(seed)
        self.name, self.campaign = f"p{number}", f"campaign-{number % len(DEADLINES)}"
        lines = path.read_text().splitlines() if path.exists() else []
        self.count, self.last = len(lines), json.loads(lines[-1]) if lines else {}
        self.file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self.tickets: list[int] = []
        self.asks: list[Line] = []
        self.levels: dict[str, Any] = {}
        self.poor = False  # whether the last ask was refused for lack of money

    def open(self) -> None:
        above = ["company", f"team-{int(self.campaign[-1]) % 2}"]
        place = self.address if "http" in self.address else connect(self.address)
        self.levels = {name: Account.open(name, storage=place) for name in above}
        self.levels[self.campaign] = Campaign.open(self.campaign, storage=place)

    def write(self, line: Line) -> None:
        """Hand a line to the system, which keeps it whatever becomes of this process."""
        os.write(self.file, (json.dumps(line) + "\n").encode())
        self.count += 1

    def run(self, end: Path) -> None:
        """Go on until a file is there."""
        patiently(self.open)
        if "want" in self.last:  # whoever wanted this has died: it is wanted again
            self.have(self.last)
        while not end.exists():
            line = self.wish()
            self.write(line)
            self.have(line)

    def wish(self) -> Line:
        rng, level = self.rng, self.campaign
        request = f"{self.name}-{self.count}"
        draw = rng.random()
        if self.poor and draw < 0.3:
            line: Line = {
                "want": "top_up",
                "level": rng.choice(list(self.levels)),
                "request": request,
            }
            return line | {"amount": f"{rng.uniform(1, 50):.3f}"}
        if draw < 0.05 and self.asks:
            return rng.choice(self.asks)
        if draw < 0.4 or not self.tickets:
            labels = {"user": f"u{rng.randrange(5)}", "day": rng.choice("ab")}
            n = rng.choice((1, 1, 2, 3))
            line = {"want": "ask", "level": level, "request": request, "n": n, "labels": labels}
            self.asks = [*self.asks[-9:], line]
            return line
        if draw < 0.42:
            verb = rng.choice(("pause", "resume", "resume"))
            return {"want": verb, "level": rng.choice(list(self.levels))}
        if draw < 0.45:
            return {"want": "expire", "level": level}
        ticket = self.tickets.pop(rng.randrange(len(self.tickets)))
        if rng.random() < 0.05:
            ticket += rng.randrange(-3, 4)  # of somebody else, perhaps
        if rng.random() < 0.3:
            self.tickets.append(ticket)  # something more will be said of it
        line = {"want": "", "level": level, "ticket": max(ticket, 1)}
        cost, reward = f"{rng.uniform(0.05, 1.7):.3f}", rng.randrange(9) / 8
        says: dict[str, Line] = {"void": {}, "fail": {"cost": cost}, "settle": {"cost": cost}}
        says |= {"reward": {"reward": reward}, "tell": {"cost": cost, "reward": reward}}
        verb = rng.choice(("tell", "tell", *says))
        return line | says[verb] | {"want": verb}

    def have(self, line: Line) -> None:
        """Do it, again if it is unknown what became of it, and write down the answer."""
        said = {name: value for name, value in line.items() if name not in ("want", "labels", "n")}
        try:
            answer = patiently(lambda: self.do(line))
        except PurseError as error:
            answer = {"refused": type(error).__name__}
            if isinstance(error, CampaignPaused) and self.rng.random() < 0.2:
                for level in self.levels.values():
                    patiently(level.resume)
        self.poor = answer.get("refused") in ("BudgetHeld", "BudgetExhausted")
        self.write({"got": line["want"], **said, **answer})
        self.tickets = [*self.tickets[-20:], *answer.get("tickets", ())]

    def do(self, line: Line) -> Line:
        level = self.levels[line["level"]]
        match line["want"]:
            case "ask":
                tickets = level.ask_many(line["n"], line["request"], labels=line["labels"])
                # of those that were handed out before, some are not held any more
                held = [ticket.held[0] if ticket.state == "held" else None for ticket in tickets]
                return {"tickets": [ticket.id for ticket in tickets], "held": held}
            case "top_up":
                level.top_up(line["amount"], line["request"])
            case "pause" | "resume" | "expire" as verb:
                getattr(level, verb)()
            case verb:
                said = {name: line[name] for name in ("reward", "cost") if name in line}
                getattr(level, verb)(line["ticket"], **said)
        return {}


def patiently(act: Callable[[], Any]) -> Any:
    """Do it; if the storage or the server is away, do it again until it is back."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return act()
        except StorageUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


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
            else (lambda: Client(place, log, who, client_seed).run(end))
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
