"""What the benchmark of campaigns asks and tells: purse, Optuna the way that its users ask
it, and a plain file as the floor of both.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from benchmarks.load import Door, Player
from purse import Campaign

ARMS = ("a", "b", "c", "d", "e")
REWARD, COST = 0.5, "0.3"
TERMS: dict[str, Any] = {"arms": dict.fromkeys(ARMS, 1), "budget": 1_000_000_000, "cost_min": "0.1"}


class Purse(NamedTuple):
    """A campaign with the default policy, opened in this process."""

    storage: str
    name: str
    batch: int = 1
    tells: bool = True

    def enter(self) -> Player:
        """Open it."""
        return PurseOne(self) if self.batch == 1 else PurseMany(self)


class PurseOne:
    """Asks for one ticket at a time."""

    def __init__(self, door: Purse) -> None:
        self.campaign = Campaign.open(door.name, storage=door.storage)

    def ask(self) -> Any:
        """Return a ticket."""
        return self.campaign.ask()

    def tell(self, answer: Any) -> int:
        """Report on the ticket; return 1, the number of tickets."""
        self.campaign.tell(answer, REWARD, COST)
        return 1


class PurseMany:
    """Asks for many tickets at a time."""

    def __init__(self, door: Purse) -> None:
        self.campaign, self.batch, self.tells = (
            Campaign.open(door.name, storage=door.storage),
            door.batch,
            door.tells,
        )

    def ask(self) -> Any:
        """Tickets."""
        return self.campaign.ask_many(self.batch)

    def tell(self, answer: Any) -> int:
        """Report on the tickets, unless only asks are measured; return their number."""
        return len(
            self.campaign.tell_many([(ticket, REWARD, COST) for ticket in answer])
            if self.tells
            else answer
        )


class Spread(NamedTuple):
    """Several doors, of which each thread of each process has the next."""

    doors: tuple[Door, ...]
    threads: int = 1  # of each process

    def enter(self) -> Player:
        """Begin with another one than the processes before."""
        (number, *_) = multiprocessing.current_process()._identity or (0,)
        return SpreadOne(self, count(number * self.threads))


class SpreadOne:
    """Has a door for each thread."""

    def __init__(self, spread: Spread, numbers: Iterator[int]) -> None:
        self._doors, self._numbers, self._local = spread.doors, numbers, threading.local()

    def ask(self) -> Any:
        """Return a ticket of the thread's door."""
        if not hasattr(self._local, "player"):
            number = next(self._numbers) % len(self._doors)
            self._local.player = self._doors[number].enter()
        return self._local.player.ask()

    def tell(self, answer: Any) -> int:
        """Report on the ticket; return 1, the number of tickets."""
        return int(self._local.player.tell(answer))


class Optuna(NamedTuple):
    """A study of Optuna with one categorical parameter and its random sampler, which is the
    quickest: ask, suggest, tell. It has no budget.
    """

    address: str  # of a database, or the path of a journal file

    def study(self) -> Any:
        """Return the study, and make it first if it is missing."""
        import optuna
        from optuna.storages import JournalStorage, RDBStorage
        from optuna.storages.journal import JournalFileBackend

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        storage = (
            RDBStorage(self.address)
            if "://" in self.address
            else JournalStorage(JournalFileBackend(self.address))
        )
        return optuna.create_study(
            study_name="study",
            storage=storage,
            sampler=optuna.samplers.RandomSampler(),
            load_if_exists=True,
        )

    def enter(self) -> Player:
        """Load it."""
        return OptunaOne(self.study())


class OptunaOne:
    """Asks for one trial at a time."""

    def __init__(self, study: Any) -> None:
        self.study = study

    def ask(self) -> Any:
        """Return a trial with its arm."""
        trial = self.study.ask()
        trial.suggest_categorical("arm", ARMS)
        return trial

    def tell(self, answer: Any) -> int:
        """Report on the ticket; return 1, the number of tickets."""
        self.study.tell(answer, REWARD)
        return 1


class PlainFile(NamedTuple):
    """A file to which each ask and each tell appends a line, on disk before it counts: what no
    journal can be quicker than.
    """

    path: str

    def enter(self) -> Player:
        """Open it."""
        return PlainLines(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND))


class PlainLines:
    """Appends lines."""

    def __init__(self, file: int) -> None:
        self.file = file

    def ask(self) -> None:
        """Write a line."""
        os.write(self.file, b"a" * 199 + b"\n")
        os.fdatasync(self.file)

    def tell(self, _: Any) -> int:
        """Another."""
        self.ask()
        return 1
