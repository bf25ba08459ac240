"""`make bench`: rounds per second of every policy beside the C floor and river, thread scaling, start-up, ask and tell."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import purse
from benchmarks.rivals import floor_rate, river_rate

SIZES = (3, 10, 100)
REPEATS = 5
BUDGET = 3_000
RESULTS = Path(__file__).with_name("results")


def world(n_arms: int) -> purse.World:
    """The same instance as in floor.c."""
    grid = np.arange(n_arms) / (n_arms - 1)
    return purse.environments.bernoulli(rewards=0.1 + 0.72 * grid, costs=0.9 - 0.54 * grid)


def rate(policy: str, place: purse.World, n_paths: int, n_workers: int) -> float:
    """Rounds per second of one simulation."""
    start = time.perf_counter()
    run = purse.simulate(policy, place, BUDGET, n_paths=n_paths, cost_min=0.2, cost_max=1, n_workers=n_workers)
    return float(run.rounds.sum() / (time.perf_counter() - start))


def best(measure: Callable[[], float]) -> float:
    """The best of a few measurements: what the code can do when nothing else runs."""
    return max(measure() for _ in range(REPEATS))


def engine_rows() -> list[dict[str, Any]]:
    """Each policy at each K, on one core and on two."""
    rows: list[dict[str, Any]] = []
    for n_arms in SIZES:
        place, n_paths = world(n_arms), max(40, 2_000 // n_arms)
        floors, river = [], best(lambda n_arms=n_arms: river_rate(n_arms))  # type: ignore[misc]
        for policy in purse.policies.names():
            rate(policy, place, 2, 1)
            ones, twos = [], []
            for _ in range(REPEATS):  # side by side, so that a slow moment of the machine hits all alike
                floors.append(floor_rate(n_arms, BUDGET, n_paths))
                ones.append(rate(policy, place, n_paths, 1))
                twos.append(rate(policy, place, 2 * n_paths, 2))
            rows.append({"policy": policy, "arms": n_arms, "rounds_per_second": max(ones), "two_workers": max(twos) / max(ones), "river": max(ones) / river})
        for row in rows:
            if row["arms"] == n_arms:
                row["floor"] = row["rounds_per_second"] / max(floors)
        rows.append({"policy": "C floor (EXP3++.BwK)", "arms": n_arms, "rounds_per_second": max(floors), "river": max(floors) / river, "floor": 1.0})
        rows.append({"policy": "river EXP3", "arms": n_arms, "rounds_per_second": river, "river": 1.0, "floor": river / max(floors)})
    return rows


def ask_tell_microseconds(policy: str) -> float:
    """One ask and one tell in memory at K=10."""
    live = purse.Policy(policy, n_arms=10, budget=1_000_000, cost_min=0.2, seed=0)
    rounds = 20_000

    def measure() -> float:
        start = time.perf_counter()
        for _ in range(rounds):
            live.tell(live.ask(), 0.5, 0.3)
        return rounds / (time.perf_counter() - start)

    measure()
    return 1e6 / best(measure)


def seconds_of(code: str, cache: str) -> float:
    """How long a fresh Python process takes to run the code."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": cache})
    return time.perf_counter() - start


def startup_rows() -> dict[str, float]:
    """Seconds of fresh processes, the best of a few; the compile once."""
    first = "import purse; purse.simulate('exp3++.bwk', 'misleading_ratio', 100, n_paths=10)"
    with tempfile.TemporaryDirectory() as cache:
        cold = seconds_of(first, cache)
        codes = {"python alone": "pass", "import purse": "import purse", "first simulation, compiled before": first}
        times = {name: 1 / best(lambda code=code: 1 / seconds_of(code, cache)) for name, code in codes.items()}  # type: ignore[misc]
    return {**times, "first simulation, nothing compiled": cold}


def main() -> None:
    """Measure, print one table, and write it as JSON."""
    rows, startup = engine_rows(), startup_rows()
    live = {policy: ask_tell_microseconds(policy) for policy in purse.policies.names() if policy != "oracle"}
    console = Console(width=110)
    grid = Table(title=f"Rounds per second on one core; budget {BUDGET}; {platform.machine()}, {os.cpu_count()} cores")
    for column in ("policy", "K", "million rounds/s", "ns a round", "× C floor", "× river", "two workers ×"):
        grid.add_column(column, justify="left" if column == "policy" else "right")
    for row in rows:
        speed = row["rounds_per_second"]
        two = f"{row['two_workers']:.2f}" if "two_workers" in row else ""
        grid.add_row(row["policy"], str(row["arms"]), f"{speed / 1e6:.3g}", f"{1e9 / speed:.4g}", f"{row['floor']:.2f}", f"{row['river']:.4g}", two)
    console.print(grid)
    for name, seconds in startup.items():
        console.print(f"{name}: {seconds:.2f} s", highlight=False)
    for policy, microseconds in live.items():
        console.print(f"ask + tell, {policy}, K=10: {microseconds:.1f} µs", highlight=False)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "bench.json").write_text(json.dumps({"engine": rows, "startup": startup, "ask_tell_microseconds": live}, indent=2))
    console.print(f"written to {RESULTS / 'bench.json'}", highlight=False)


if __name__ == "__main__":
    main()
