"""Crowds that ask and tell at once: processes, each with threads, that begin together; how many
pairs they got done, and how long each waited.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from typing import Any, NamedTuple, Protocol

WARM = 3  # pairs of each client before the clock runs: they load what has to be loaded


class Player(Protocol):
    """A client that asks and tells."""

    def ask(self) -> Any:
        """Ask for some tickets."""

    def tell(self, answer: Any) -> int:
        """Report on the tickets, and return their number."""


class Door(Protocol):
    """The door to ask at; can be sent to another process, and is entered there."""

    def enter(self) -> Player:
        """Be connected; threads may share it."""


class Crowd(NamedTuple):
    """How many take part."""

    processes: int = 1
    threads: int = 1  # of each process
    pause: float = 0.0  # seconds between two calls


class Turn(NamedTuple):
    """One ask and one tell: how many pairs they were, and the seconds of both."""

    pairs: int
    ask: float
    tell: float


def play(player: Player, begin: Any, seconds: float, pause: float, turns: list[Turn]) -> None:
    """Ask and tell for so long, after all others are ready, and stay until they are done."""
    for _ in range(WARM):
        player.tell(player.ask())
    begin.wait()
    now = time.perf_counter()
    end = now + seconds
    while now < end:
        start, asked, middle = now, player.ask(), time.perf_counter()
        if pause:
            time.sleep(pause)
        reported = time.perf_counter() if pause else middle
        pairs = player.tell(asked)
        now = time.perf_counter()
        turns.append(Turn(pairs, middle - start, now - reported))
        if pause:
            time.sleep(pause)
            now = time.perf_counter()
    begin.wait()  # a process that ends takes time from those whose last pair is under way


def work(door: Door, crowd: Crowd, begin: Any, seconds: float, results: Any) -> None:
    """One process: its threads, and what each of them did."""
    player = door.enter()
    turns: list[list[Turn]] = [[] for _ in range(crowd.threads)]
    crew = [
        threading.Thread(target=play, args=(player, begin, seconds, crowd.pause, mine))
        for mine in turns
    ]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    results.put(turns)


def measure(door: Door, crowd: Crowd, seconds: float) -> dict[str, Any]:
    """Pairs a second of a crowd, and milliseconds of one ask with its tell: the median, the 99th
    percentile and the longest.
    """
    return summary(played(door, crowd, seconds), seconds)


def played(door: Door, crowd: Crowd, seconds: float) -> list[list[Turn]]:
    """Return the turns of each of a crowd."""
    spawn = multiprocessing.get_context("spawn")
    begin, results = spawn.Barrier(crowd.processes * crowd.threads), spawn.Queue()
    workers = [
        spawn.Process(target=work, args=(door, crowd, begin, seconds, results))
        for _ in range(crowd.processes)
    ]
    for worker in workers:
        worker.start()
    of_players = [turns for _ in workers for turns in results.get(timeout=600)]
    for worker in workers:
        worker.join()
    return of_players


def summary(players: list[list[Turn]], seconds: float) -> dict[str, Any]:
    """Return the speed of all of them together. The last pair of each ends after the time is up: it
    counts by the part that lies before.
    """
    waits = sorted(1000 * (turn.ask + turn.tell) for turns in players for turn in turns)
    rates = [
        sum(turn.pairs for turn in turns)
        / max(seconds, sum(turn.ask + turn.tell for turn in turns))
        for turns in players
    ]
    return {
        "pairs_per_second": sum(rates),
        "asks_per_second": sum(
            sum(turn.pairs for turn in turns) / sum(turn.ask for turn in turns) for turns in players
        ),
        "median_ms": waits[len(waits) // 2],
        "p99_ms": waits[int(0.99 * len(waits))],
        "longest_ms": waits[-1],
        "least_share": min(rates) * len(rates) / sum(rates),
    }
