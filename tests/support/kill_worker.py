"""Clients that are killed again and again. `python -m tests.support.kill_worker` with a storage, a
folder for their logs, a number of kills and a seed.

One process is warmed up and forks all clients, so that a new one lives within milliseconds. Two of
them use one campaign, and each of two more has its own; these share accounts, and are renewed. Some
kill themselves at a labelled point, the others are killed at a random moment. Whoever comes next
goes on with the log. It writes one line of JSON: how many died where.
"""

import json
import os
import random
import select
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from itertools import cycle
from math import inf
from pathlib import Path
from typing import Any

from purse import Account
from purse.campaign.campaign import Campaign
from purse.campaign.run import committer
from purse.campaign.storage.connect import connect
from purse.campaign.terms import calendar
from purse.errors import StorageUnavailable
from tests.support.client_log import RENEWED, SHORT_HOUR, TRAFFIC, FileClientLog, LoggingClient
from tests.support.fault_injection import LABELS, KillPoint, install

CLIENTS, AT_RANDOM = 4, "at random"
CAMPAIGNS = ("killed", "killed", "in-a-team", "beside-it")  # of each client
ACCOUNTS = {"in-a-team": ("company", "team"), "beside-it": ("company",)}  # from the top down
CHECKPOINT_EVERY = 40  # entries
STEPS = 400  # after which a client gives up waiting for its point
PATIENCE = 60  # seconds in which a storage that was killed must be back


def patiently(act: Callable[[], Any], again: Callable[[], Any]) -> Any:
    """Do it; where the storage is away, do it again until it is back."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return act()
        except StorageUnavailable:
            if time.monotonic() > deadline:
                raise
            act = again
            time.sleep(0.02)


def live(
    address: str, folder: Path, client: int, seed: int, label: str, steps: int, said: int
) -> None:
    if label in LABELS[address.partition(":")[0]]:
        times = 1 if "checkpoints" in label else random.Random(seed).randrange(1, 8)
        address = install(KillPoint(label, times), address)

    name = CAMPAIGNS[client]

    def opened() -> tuple[Campaign, list[Account]]:
        storage = connect(address)
        accounts = [Account.open(each, storage=storage) for each in ACCOUNTS.get(name, ())]
        return Campaign.open(name, storage=storage), accounts

    campaign, accounts = patiently(opened, opened)
    made = LoggingClient(
        campaign,
        FileClientLog(folder / f"log-{client}"),
        f"client-{client}",
        random.Random(seed),
        accounts,
    )
    patiently(made.resume, made.resume)
    os.write(said, bytes([client]))
    for _ in range(steps):
        patiently(made.step, made.resume)


class Killer:
    """Keeps all clients alive, and has them die."""

    def __init__(self, address: str, folder: Path, seed: int) -> None:
        self.address, self.folder, self.rng = address, folder, random.Random(seed)
        self.heard, self.said = os.pipe()
        self.labels = cycle(LABELS[address.partition(":")[0]])
        self.missed = set(LABELS[address.partition(":")[0]])  # where nobody has died yet
        self.running: dict[int, tuple[int, str]] = {}  # process -> client, label
        self.due: dict[int, float] = {}  # client -> when it is to be killed
        self.deaths: Counter[str] = Counter()

    def start(self, client: int, label: str, steps: int = STEPS) -> None:
        """A client in a process of its own; what goes wrong with it is kept."""
        seed = self.rng.randrange(2**32)
        pid = os.fork()
        if pid == 0:
            try:
                live(self.address, self.folder, client, seed, label, steps, self.said)
                os._exit(0)
            except BaseException:
                (self.folder / f"error-{client}").write_text(traceback.format_exc())
                os._exit(1)
        self.running[pid] = (client, label)

    def listen(self) -> None:
        """A client that is to be killed at random has begun: it has a moment to live."""
        wait = max(min(self.due.values(), default=time.monotonic() + 0.01) - time.monotonic(), 0)
        if select.select([self.heard], [], [], min(wait, 0.01))[0]:
            labels = dict(self.running.values())
            for client in os.read(self.heard, 100):
                if labels.get(client) == AT_RANDOM:
                    self.due[client] = time.monotonic() + self.rng.random() * 0.03

    def kill(self) -> None:
        for pid, (client, _) in self.running.items():
            if self.due.get(client, inf) <= time.monotonic():
                os.kill(pid, signal.SIGKILL)
                del self.due[client]

    def bury(self) -> None:
        """Count the dead; one that was not killed must have come to its end in peace."""
        for pid in list(self.running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                client, label = self.running.pop(pid)
                code = os.waitstatus_to_exitcode(status)
                if code not in (0, -signal.SIGKILL):
                    raise SystemExit((self.folder / f"error-{client}").read_text())
                self.deaths[label] += code != 0
                if code != 0:
                    self.missed.discard(label)

    def run(self, kills: int) -> None:
        """Until there have been so many kills, at every label too; then all come to their end in
        peace.
        """
        turn = 0
        while self.running or self.deaths.total() < kills or self.missed:
            for client in set(range(CLIENTS)) - {client for client, _ in self.running.values()}:
                if self.deaths.total() + len(self.running) < kills:
                    self.start(client, next(self.labels) if turn % 2 else AT_RANDOM)
                elif self.missed:
                    self.start(client, sorted(self.missed)[turn % len(self.missed)])
                turn += 1
            self.listen()
            self.kill()
            self.bury()
        for client in range(CLIENTS):
            self.start(client, "", steps=2)
        while self.running:
            self.listen()
            self.bury()


def main(address: str, folder: Path, kills: int, seed: int) -> None:
    calendar._HOUR = SHORT_HOUR  # here and in all clients
    setattr(committer, "CHECKPOINT_EVERY", CHECKPOINT_EVERY)  # noqa: B010
    warm = Campaign.create("warm", **TRAFFIC, storage="memory:")
    warm.tell(warm.ask(context=[0, 0]), 1, 1)
    storage = connect(address)
    Account.create("company", budget=20, alerts=[], storage=storage)
    Account.create("team", budget=10, account="company", alerts=[], storage=storage)
    for name in sorted(set(CAMPAIGNS)):
        more = {"account": ACCOUNTS[name][-1], **RENEWED} if name in ACCOUNTS else {}
        Campaign.create(name, **TRAFFIC, **more, expires_after=0.2, storage=storage)
    storage.close()  # opened anew on the other side of the fork
    killer = Killer(address, folder, seed)
    killer.run(kills)
    print(json.dumps(killer.deaths))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
