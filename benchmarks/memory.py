"""How much memory and disk it takes: the most memory of fresh processes that simulate, study and
replay, and the size of an installation. `python -m benchmarks.memory` prints both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import Distribution, distribution
from pathlib import Path

import numpy as np

import purse
from benchmarks.instance import say
from benchmarks.machine import most_memory

HORIZON = 5_000  # rounds that a replay plays, however many are recorded
ARMS = ("small", "medium", "large")
SHORT, LONG, TABLE = "log_5000.csv", "log_1000000.csv", "table_200000.csv"
MB = 2**20


def simulate(folder: Path) -> None:
    """Play one policy."""
    purse.simulate("exp3++.bwk", "misleading_ratio", 100, n_paths=10)


def compare(folder: Path) -> None:
    """Run `purse compare` with its defaults."""
    from purse.cli import cli

    os.chdir(folder)
    cli(["compare"], standalone_mode=False)


def replay(folder: Path, name: str) -> None:
    """Run `purse replay` with its default policies."""
    purse.replay(folder / name, budgets=1_000, horizon=HORIZON)


STEPS: dict[str, Callable[[Path], None]] = {
    "a simulation": simulate,
    "`purse compare`": compare,
    "replay, a log of 5,000 rows": lambda folder: replay(folder, SHORT),
    "replay, a log of 1,000,000 rows": lambda folder: replay(folder, LONG),
    "replay, a table of 200,000 rows": lambda folder: replay(folder, TABLE),
}


def write_data(folder: Path) -> None:
    """Write the logs and the table, as text."""
    import polars as pl

    rng = np.random.default_rng(1)
    for name, count in ((SHORT, 5_000), (LONG, 1_000_000)):
        arm = rng.integers(0, len(ARMS), count)
        columns = {
            "arm": np.array(ARMS)[arm],
            "reward": (rng.random(count) < 0.3 + 0.2 * arm).astype(float),
            "cost": (0.1 + 0.3 * arm + 0.1 * rng.random(count)).round(4),
            "probability": np.full(count, 1 / len(ARMS)),
        }
        pl.DataFrame(columns).write_csv(folder / name)
    count, table = 200_000, {}
    for k, name in enumerate(ARMS):
        table[f"reward_{name}"] = rng.random(count).round(4)
        table[f"cost_{name}"] = (0.1 + 0.3 * k + 0.1 * rng.random(count)).round(4)
    pl.DataFrame(table).write_csv(folder / TABLE)


def measure() -> dict[str, float]:
    """Return the most memory of each process in MB; what they compile is compiled before."""
    megabytes = {}
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        for step in STEPS:
            command = [sys.executable, "-m", "benchmarks.memory", step, folder]
            for _ in range(2):  # the first may compile
                done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            megabytes[step] = float(done.stdout.split()[-1])
            say(f"{step}: {megabytes[step]:.0f} MB")
    return megabytes


def sizes(extra: str = "") -> dict[str, float]:
    """Return the size of purse and of all that it needs in MB, with one extra or with none, largest
    first.
    """
    from packaging.requirements import Requirement

    megabytes: dict[str, float] = {}
    wanted = [("purse-bandits", extra)]
    while wanted:
        name, chosen = wanted.pop()
        package = distribution(name)
        if package.name not in megabytes:
            megabytes[package.name] = size(package)
            needs = map(Requirement, package.requires or ())
            wanted += [
                (file.name, "")
                for file in needs
                if file.marker is None or file.marker.evaluate({"extra": chosen})
            ]
    return dict(sorted(megabytes.items(), key=lambda item: -item[1]))


def size(package: Distribution) -> float:
    """Return the size of a package's files in MB, those included that Python compiles from them."""
    files = {Path(str(file.locate())) for file in package.files or ()}
    return sum(file.stat().st_size for file in files if file.is_file()) / MB


def main() -> None:
    """Measure, or take one step of it."""
    if len(sys.argv) > 1:
        STEPS[sys.argv[1]](Path(sys.argv[2]))
        print(most_memory())
        return
    measure()
    for name, megabytes in sizes("lab").items():
        say(f"{name}: {megabytes:.1f} MB")


if __name__ == "__main__":
    main()
