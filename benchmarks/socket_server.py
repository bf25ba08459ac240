"""`python -m benchmarks.socket_server`: many processes that ask and tell one campaign on SQLite,
each with the file itself and over `purse serve --socket`; --quick for a short look.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.doors import TERMS, Purse
from benchmarks.instance import say
from benchmarks.load import Crowd, Turn, played, summary
from purse import Campaign
from purse.policies import DEFAULT

PROCESSES = (1, 8, 32)
SECONDS, QUICK_SECONDS = 5.0, 1.0


@contextmanager
def served(storage: str, path: Path) -> Iterator[str]:
    """The address of a `purse serve --socket` in a process of its own."""
    command = ["-m", "purse", "serve", "--socket", str(path), "--storage", storage]
    with subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        assert "listening" in line, line
        try:
            yield f"unix:{path}"
        finally:
            server.terminate()


def percentiles(seconds: list[float]) -> str:
    """The median and the 99th percentile, in milliseconds."""
    waits = sorted(1000 * each for each in seconds)
    return f"{waits[len(waits) // 2]:.1f} ms, p99 {waits[int(0.99 * len(waits))]:.1f} ms"


def report(who: str, crowd: Crowd, players: list[list[Turn]], seconds: float) -> None:
    """Print what a crowd did."""
    turns = [turn for each in players for turn in each]
    found = summary(players, seconds)
    say(
        f"{who}, {crowd.processes} processes: {found['pairs_per_second']:,.0f} pairs/s, "
        f"ask {percentiles([turn.ask for turn in turns])}, "
        f"tell {percentiles([turn.tell for turn in turns])}, "
        f"pair {percentiles([turn.ask + turn.tell for turn in turns])}"
    )


def main() -> None:
    """Measure and print."""
    if sys.argv[1:] not in ([], ["--quick"]):
        raise SystemExit("usage: python -m benchmarks.socket_server [--quick]")
    seconds = QUICK_SECONDS if sys.argv[1:] else SECONDS
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/purse.db"
        for policy in ("uniform", DEFAULT):
            for processes in PROCESSES:
                with served(storage, Path(folder, "socket")) as address:
                    for who, where in (("the file", storage), ("the socket", address)):
                        name = f"{policy}-{processes}-{where.partition(':')[0]}"
                        Campaign.create(name, **TERMS, policy=policy, storage=storage)
                        crowd = Crowd(processes)
                        players = played(Purse(where, name), crowd, seconds)
                        report(f"{policy}, {who}", crowd, players, seconds)
                        assert Campaign.open(name, storage=storage).audit().ok


if __name__ == "__main__":
    main()
