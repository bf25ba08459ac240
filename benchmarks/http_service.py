"""`python -m benchmarks.http_service`: what HTTP costs, one request at a time, beside a bare route
of the same server with the same bodies in the same run; --quick for a short look.

CPU time of a request, in the service and in the client, and durable pairs a second. A plain
generator sends with Python's own library over connections that stay open; `purse.Campaign` with the
server's address is our client.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from benchmarks import http_page, load, page, record, servers
from benchmarks.doors import COST, REWARD, TERMS, Purse
from benchmarks.http_doors import Health, Http, HttpMany, HttpOne
from benchmarks.http_page import BARE, CROWDS, HEALTH, LOCAL, OURS, PACKAGES, PLAIN
from benchmarks.instance import say
from benchmarks.load import Crowd, Door
from benchmarks.machine import machine
from benchmarks.servers import Running
from purse import Campaign

NAME = "campaign"


class Effort(NamedTuple):
    """How much is measured."""

    pairs: int = 200  # of each turn whose CPU time is taken
    turns: int = 10  # the least of them counts
    seconds: float = 4  # of each crowd


QUICK = Effort(50, 4, 1)


class Subject(NamedTuple):
    """What is measured, and the process of its service."""

    name: str
    door: Door
    process: int | None


@contextmanager
def subjects(folder: Path) -> Iterator[list[Subject]]:
    """Yield all that is measured, with their servers."""
    storage = f"sqlite:///{folder / 'service.db'}"
    Campaign.create(NAME, **TERMS, storage=storage)
    with servers.service(storage) as served:
        ask, tell = bodies(served)
        with servers.running(
            "-m", "benchmarks.bare_service", json.dumps(ask), json.dumps(tell)
        ) as bare:
            yield [
                Subject(BARE, Http(bare.url, NAME, 1), bare.process),
                Subject(HEALTH, Health(served.url, NAME), served.process),
                Subject(PLAIN, Http(served.url, NAME, 1), served.process),
                Subject(OURS, Purse(served.url, NAME), served.process),
                Subject(LOCAL, Purse(storage, NAME), None),
            ]


def bodies(server: Running) -> tuple[Any, Any]:
    """Return the answers of the service to an ask and to a tell."""
    player = HttpOne(Http(server.url, NAME, 1))
    ask = player.send("/asks", {"n": 1})
    report = {"reward": REWARD, "cost": COST}
    tell = player.send(f"/tickets/{ask['tickets'][0]['id']}/tell", report)
    player.close()
    return ask, tell


def costs(services: list[Subject], effort: Effort) -> dict[str, tuple[float | None, float]]:
    """Milliseconds of CPU time of one request, in the service and in the client: the least of turns
    that each takes after the others.
    """
    turns: dict[str, list[tuple[float, float]]] = {subject.name: [] for subject in services}
    for _ in range(effort.turns):
        for subject in services:
            player = subject.door.enter()  # a new connection: a server closes idle ones
            player.tell(player.ask())
            before = cpu(subject.process), time.process_time()
            for _ in range(effort.pairs):
                player.tell(player.ask())
            after = cpu(subject.process), time.process_time()
            if isinstance(player, HttpMany):
                player.close()
            requests = 2 * effort.pairs
            turns[subject.name].append(
                ((after[0] - before[0]) / requests, (after[1] - before[1]) / requests)
            )
    return {
        subject.name: (
            None
            if subject.process is None
            else 1000 * min(took for took, _ in turns[subject.name]),
            1000 * min(took for _, took in turns[subject.name]),
        )
        for subject in services
    }


def cpu(process: int | None) -> float:
    """Seconds of CPU time that a process has taken; 0 without one."""
    if process is None:
        return 0.0
    times = psutil.Process(process).cpu_times()
    return float(times.user + times.system)


def measure(effort: Effort = Effort()) -> dict[str, Any]:  # noqa: B008 - it never changes
    """Everything."""
    busy = os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory(prefix=".bench-", dir=".") as name,
        subjects(Path(name)) as services,
    ):
        milliseconds = costs(services, effort)
        rows: list[dict[str, Any]] = [
            {"what": name, "service_ms": service, "client_ms": client, "pairs": {}}
            for name, (service, client) in milliseconds.items()
        ]
        for count in CROWDS:
            for subject, row in zip(services, rows, strict=True):
                played = load.measure(subject.door, Crowd(count), effort.seconds)
                row["pairs"][str(count)] = played["pairs_per_second"]
                say(f"{subject.name}, {count}: {played['pairs_per_second']:,.0f} pairs/s")
    return {
        "machine": machine(PACKAGES),
        "load_before": busy,
        "seconds": effort.seconds,
        "rows": rows,
    }


def main() -> None:
    """Measure and print; without --quick, keep the numbers and renew the page."""
    quick = sys.argv[1:] == ["--quick"]
    if sys.argv[1:] and not quick:
        raise SystemExit("usage: python -m benchmarks.http_service [--quick]")
    facts = record.rounded(measure(QUICK if quick else Effort()))
    print(http_page.part(facts))
    if not quick:
        page.publish(record.HTTP, facts)


if __name__ == "__main__":
    main()
