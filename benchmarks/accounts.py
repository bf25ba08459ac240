"""`python -m benchmarks.accounts`: durable asks and tells a second of eight campaigns, each on its
own and below one account, from 8 and 32 processes; --quick for a short look.

With --alone only campaigns without an account are measured, which a version of purse before
accounts can do, too: put its folder first in PYTHONPATH. A pair is an ask and a tell, each on disk
before it is answered.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import load, servers
from benchmarks.campaigns import DATABASE, EIGHT, FILE, MANY
from benchmarks.doors import TERMS, Purse, Spread
from benchmarks.instance import say
from benchmarks.machine import machine
from purse import Campaign

PACKAGES = ("purse", "apsw", "psycopg")
N_CAMPAIGNS = 8
ONE_ALONE, ALONE = "one campaign, no account", "eight campaigns, no account"
TOGETHER, NESTED = "eight campaigns, one account", "eight campaigns, account below an account"
SECONDS, QUICK = 4.0, 1.0


def created(storage: str, kind: str, crowd: int) -> Spread:
    """Make new campaigns, below the accounts that a kind has."""
    label = f"{crowd}-{kind.replace(' ', '-').replace(',', '')}"
    more: dict[str, Any] = {}
    if kind in (TOGETHER, NESTED):
        from purse import Account

        account: str | None = None
        for level in ("company", "team")[: 1 + (kind == NESTED)]:
            name = f"{level}-{label}"
            Account.create(name, budget=TERMS["budget"], account=account, storage=storage)
            account = name
        more = {"account": account}
    count = 1 if kind == ONE_ALONE else N_CAMPAIGNS
    names = [f"{label}-{number}" for number in range(count)]
    for name in names:
        Campaign.create(name, **TERMS, **more, storage=storage)
    return Spread(tuple(Purse(storage, name) for name in names))


def on(where: str, storage: str, kinds: tuple[str, ...], seconds: float) -> Iterator[Any]:
    """Yield all kinds at one storage."""
    for crowd in (EIGHT, MANY):
        for kind in kinds:
            turns = load.measure(created(storage, kind, crowd.processes), crowd, seconds)
            say(
                f"{where}, {crowd.processes} processes, {kind}: "
                f"{turns['pairs_per_second']:,.0f} pairs/s, median {turns['median_ms']:.1f} ms, "
                f"p99 {turns['p99_ms']:.1f} ms, least share {turns['least_share']:.2f}"
            )
            yield {"where": where, "kind": kind, "processes": crowd.processes, **turns}


def measure(kinds: tuple[str, ...], seconds: float) -> dict[str, Any]:
    """Everything."""
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=".") as name:
        folder = Path(name)
        rows = [*on(FILE, f"sqlite:///{folder / 'purse.db'}", kinds, seconds)]
        with servers.postgres(folder / "postgres") as server:
            server.psql("CREATE DATABASE purse;")
            rows += on(DATABASE, str(server.get_uri(database="purse")), kinds, seconds)
        return {"machine": machine(PACKAGES), "load_before": busy, "rows": rows}


def main() -> None:
    """Measure and print."""
    options = set(sys.argv[1:])
    if options - {"--quick", "--alone"}:
        raise SystemExit("usage: python -m benchmarks.accounts [--quick] [--alone]")
    kinds = (ONE_ALONE, ALONE) + (() if "--alone" in options else (TOGETHER, NESTED))
    facts = measure(kinds, QUICK if "--quick" in options else SECONDS)
    print("| storage | processes | campaigns | pairs/s | median ms | p99 ms |")
    print("|---|---|---|---|---|---|")
    for row in facts["rows"]:
        print(
            f"| {row['where']} | {row['processes']} | {row['kind']} | "
            f"{row['pairs_per_second']:,.0f} | {row['median_ms']:.1f} | {row['p99_ms']:.1f} |"
        )


if __name__ == "__main__":
    main()
