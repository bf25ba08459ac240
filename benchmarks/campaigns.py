"""`python -m benchmarks.campaigns`: durable asks and tells a second, from one to many processes,
beside Optuna in one run; --quick for a short look.

`make bench` measures it too. A pair is an ask and a tell, each on disk before it is answered.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import live, load, page, record, recovery, servers
from benchmarks.doors import TERMS, Optuna, PlainFile, Purse, Spread
from benchmarks.http_doors import Http
from benchmarks.instance import say
from benchmarks.load import Crowd, Door
from benchmarks.machine import machine
from purse import Campaign
from purse.campaign.api.kinds import MOST

PACKAGES = ("purse", "apsw", "psycopg", "optuna", "sqlalchemy", "starlette", "uvicorn")
FILE, DATABASE, SERVICE = "SQLite", "PostgreSQL", "HTTP, SQLite behind it"
SERVED, SERVED_TWICE = "HTTP, PostgreSQL behind it", "HTTP, PostgreSQL behind two servers"
ONE, EIGHT, MANY = Crowd(), Crowd(8), Crowd(32)
THREADS, MIXED = Crowd(1, 32), Crowd(4, 8)
PAUSING = Crowd(32, 1, 0.2)  # as routers do that wait for their calls
BATCH, LARGEST, HTTP_BATCH, CONNECTIONS = 64, MOST, 16, Crowd(1, 4)
numbers = count(1)


class Effort(NamedTuple):
    """How much is measured."""

    seconds: float = 4  # of each crowd
    rows: int = 1_000_000  # of the long journal


QUICK = Effort(0.5, 20_000)


def created(storage: str) -> str:
    """Return the name of a new campaign there."""
    return Campaign.create(f"campaign-{next(numbers)}", **TERMS, storage=storage).name


def studied(address: str) -> Optuna:
    """Return a new study of Optuna."""
    door = Optuna(address)
    door.study()
    return door


def take(
    who: str, where: str, door: Door, crowd: Crowd, effort: Effort, batch: int = 1
) -> dict[str, Any]:
    """Measure one crowd."""
    turns = load.measure(door, crowd, effort.seconds)
    say(
        f"{who}, {where}, {live.describe(crowd._asdict(), batch)}: "
        f"{turns['pairs_per_second']:,.0f} pairs/s, "
        f"median {turns['median_ms']:.1f} ms, p99 {turns['p99_ms']:.1f} ms, longest "
        f"{turns['longest_ms']:.1f} ms"
    )
    return {"who": who, "where": where, **crowd._asdict(), "batch": batch, **turns}


def on_files(folder: Path, effort: Effort) -> Iterator[dict[str, Any]]:
    """SQLite, and Optuna on SQLite and on its journal file; a plain file first."""
    yield take(live.FLOOR, FILE, PlainFile(str(folder / "plain")), ONE, effort)
    storage = f"sqlite:///{folder / 'purse.db'}"
    for crowd in (ONE, EIGHT):
        yield take(live.PURSE, FILE, Purse(storage, created(storage)), crowd, effort)
        database, journal = (folder / f"optuna-{crowd.processes}.{end}" for end in ("db", "log"))
        yield take(live.RDB, FILE, studied(f"sqlite:///{database}"), crowd, effort)
        yield take(live.JOURNAL, FILE, studied(str(journal)), crowd, effort)
    yield from without_rival(FILE, storage, (MANY, PAUSING, THREADS), effort)


def on_postgres(server: Any, effort: Effort) -> Iterator[dict[str, Any]]:
    """PostgreSQL, and Optuna on it."""
    for name in ("purse", "optuna_1", "optuna_8"):
        server.psql(f"CREATE DATABASE {name};")
    storage = str(server.get_uri(database="purse"))
    for crowd in (ONE, EIGHT):
        yield take(live.PURSE, DATABASE, Purse(storage, created(storage)), crowd, effort)
        rival = server.get_uri(database=f"optuna_{crowd.processes}").replace(
            "postgresql://", "postgresql+psycopg://"
        )
        yield take(live.RDB, DATABASE, studied(rival), crowd, effort)
    yield from without_rival(DATABASE, storage, (MANY, THREADS, MIXED), effort)
    for n_servers, where in enumerate((SERVED, SERVED_TWICE), 1):
        yield from over_http(where, storage, n_servers, effort)


def without_rival(
    where: str, storage: str, crowds: Sequence[Crowd], effort: Effort
) -> Iterator[dict[str, Any]]:
    """Yield what no rival does: these crowds, batches, and asks alone."""
    for crowd in crowds:
        yield take(live.PURSE, where, Purse(storage, created(storage)), crowd, effort)
    yield take(live.PURSE, where, Purse(storage, created(storage), BATCH), ONE, effort, BATCH)
    for batch in (BATCH, LARGEST):
        door = Purse(storage, created(storage), batch, tells=False)
        yield take(live.ASKS, where, door, ONE, effort, batch)


def over_http(where: str, storage: str, n_servers: int, effort: Effort) -> Iterator[dict[str, Any]]:
    """Yield 1, 8 and 32 clients of some servers that share a storage: of one campaign, and of one
    each.
    """
    with ExitStack() as stack:
        urls = [stack.enter_context(servers.service(storage)).url for _ in range(n_servers)]
        for crowd in (ONE, Crowd(1, 8), MIXED):
            clients = crowd.processes * crowd.threads
            for campaigns, words in ((1, ""), (clients, ", a campaign each"))[: min(2, clients)]:
                names = [created(storage) for _ in range(campaigns)]
                places = islice(zip(cycle(urls), cycle(names), strict=False), clients)
                doors = tuple(Http(url, name, 1) for url, name in places)
                spread = Spread(doors, crowd.threads)
                yield take(live.PURSE, where + words, spread, crowd, effort)
        door = Http(urls[0], created(storage), HTTP_BATCH)
        yield take(live.PURSE, where, door, CONNECTIONS, effort, HTTP_BATCH)


def measure(effort: Effort = Effort()) -> dict[str, Any]:  # noqa: B008 - it never changes
    """Everything."""
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=".") as name:
        folder = Path(name)
        rows = [*on_files(folder, effort)]
        rows += over_http(SERVICE, f"sqlite:///{folder / 'service.db'}", 1, effort)
        with servers.postgres(folder / "postgres") as server:
            settings = servers.settings(server.get_uri())
            rows += on_postgres(server, effort)
        return {
            "machine": machine(PACKAGES),
            "load_before": busy,
            "seconds": effort.seconds,
            "postgres": settings,
            "rows": rows,
            "recovery": recovery.measure(str(folder / "long.db"), effort.rows),
        }


def main() -> None:
    """Measure and print; without --quick, keep the numbers and renew the page."""
    quick = sys.argv[1:] == ["--quick"]
    if sys.argv[1:] and not quick:
        raise SystemExit("usage: python -m benchmarks.campaigns [--quick]")
    facts = record.rounded(measure(QUICK if quick else Effort()))
    print(live.part(facts))
    if not quick:
        page.publish(record.CAMPAIGNS, facts)


if __name__ == "__main__":
    main()
