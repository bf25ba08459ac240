"""What a campaign with very many reports takes: `python -m benchmarks.long_journal 1000000`.

It fills a campaign in a SQLite file, a thousand tickets at a time, and measures size, asks, a
restart, the dashboard's first picture, audits and repeats. Each measurement runs in a process of
its own, so that its memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.machine import most_memory
from purse.campaign.campaign import Campaign
from purse.campaign.views.history import FollowedHistory

AT_ONCE = 1_000  # tickets
REWARDS = 7  # different ones
TERMS: dict[str, Any] = {
    "arms": {"small": "0.01", "large": "0.05"},
    "budget": 10_000_000,
    "cost_min": "0.0001",
    "expires_after": None,
}


def opened(path: Path) -> Campaign:
    """Return the campaign as a new process finds it."""
    return Campaign.open("long", storage=f"sqlite:///{path}")


def report(number: int) -> tuple[int, float, str]:
    """Return the report on a ticket."""
    return number, number % REWARDS / REWARDS, "0.0042"


def fill(path: Path, rows: int) -> None:
    """Make a campaign with this number of reports; go on with one that has fewer."""
    storage = f"sqlite:///{path}"
    campaign = opened(path) if path.exists() else Campaign.create("long", **TERMS, storage=storage)
    while (done := campaign.status().counts["told"]) < rows:
        tickets = campaign.ask_many(AT_ONCE, f"batch-{done // AT_ONCE}")
        campaign.tell_many([report(ticket.id) for ticket in tickets])


def ask(path: Path) -> dict[str, float]:
    """Single asks and reports of a process that runs."""
    campaign = opened(path)
    campaign.tell(*report(campaign.ask().id))
    times = []
    for _ in range(200):
        start = time.perf_counter()
        ticket = campaign.ask()
        times.append(time.perf_counter() - start)
        campaign.tell(*report(ticket.id))
    return {"ask, p50 of 200 (ms)": 1000 * median(times)}


def restart(path: Path) -> dict[str, float]:
    """From opening to the first ticket."""
    return {"first ask of a new process (s)": seconds(lambda: opened(path).ask())}


def picture(path: Path) -> dict[str, float]:
    """Return the first picture of the dashboard, and the next one of a service that is started
    again.
    """
    campaign = opened(path)
    times = {
        "first picture (s)": seconds(
            lambda: FollowedHistory(campaign.terms, campaign.storage).follow()
        )
    }
    times["first picture after a restart (s)"] = seconds(
        lambda: FollowedHistory((campaign := opened(path)).terms, campaign.storage).follow()
    )
    return times


def audit(path: Path) -> dict[str, float]:
    """Return an audit of everything."""
    return {"full audit (s)": seconds(lambda: checked(opened(path), full=True))}


def audit_again(path: Path) -> dict[str, float]:
    """Return an audit from the last one on."""
    return {"audit from the last one on (s)": seconds(lambda: checked(opened(path)))}


def repeat(path: Path) -> dict[str, float]:
    """Old asks and reports are repeated."""
    campaign, times = opened(path), []
    n_told = campaign.status().counts["told"]
    for number in range(1, n_told, max(1, n_told // 50)):
        start = time.perf_counter()
        assert campaign.tell(*report(number)).duplicate
        times.append(time.perf_counter() - start)
    for batch in range(min(5, n_told // AT_ONCE)):
        first = campaign.ask_many(AT_ONCE, f"batch-{batch}")
        assert [ticket.id for ticket in first] == [batch * AT_ONCE + k + 1 for k in range(AT_ONCE)]
    return {"repeated report, p50 (ms)": 1000 * median(times)}


def checked(campaign: Campaign, **how: Any) -> None:
    """Audit, and find nothing."""
    report = campaign.audit(**how)
    assert report.ok, report.findings


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def megabytes(path: Path) -> float:
    """Return the size of a file and its log."""
    files = [file for file in path.parent.glob(f"{path.name}*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / 1e6


STEPS = (ask, restart, picture, audit, audit_again, repeat)


def measure(path: Path, rows: int) -> list[tuple[str, float, float]]:
    """Yield (what, how much, memory in MB) of each measurement, and print it."""
    measurements: list[tuple[str, float, float]] = []
    start = time.perf_counter()
    fill(path, rows)
    print(f"{rows:,} reports: {time.perf_counter() - start:.0f} s, {megabytes(path):.0f} MB")
    measurements.append(("size (MB)", megabytes(path), 0.0))
    for step in STEPS:
        command = [sys.executable, "-m", __spec__.name, "--step", step.__name__, str(path)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        facts = json.loads(done.stdout)
        for what, value in facts["found"].items():
            measurements.append((what, value, facts["memory"]))
            print(f"{what}: {value:.3g}, memory {facts['memory']:.0f} MB", flush=True)
    return measurements


def main() -> None:
    """Measure, or take one step of it."""
    if sys.argv[1] == "--step":
        measured = globals()[sys.argv[2]](Path(sys.argv[3]))
        print(json.dumps({"found": measured, "memory": most_memory()}))
        return
    if len(sys.argv) > 2:
        measure(Path(sys.argv[2]), int(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder, "long.db"), int(sys.argv[1]))


if __name__ == "__main__":
    main()
