"""Frames by name: on disk, each a Parquet file that is whole or absent, or in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from purse.base import amounts
from purse.base.files import make_folder, write_atomically
from purse.base.optional import pl
from purse.base.progress import Progress
from purse.engine import counterfactual
from purse.engine.job import Job
from purse.lab.study.executors import play_all
from purse.lab.study.manifest import SHARDS
from purse.lab.study.shard import Frames, Shard, key_of, shards_of
from purse.lab.theory import own_clock
from purse.types import CPU, Floats


class Store:
    """Results, found again by what decides their numbers; those of a class stay in memory.

    folder   the folder of a study; None: nothing is kept
    shared   whether several studies that lie side by side share what has been computed
    """

    def __init__(self, folder: str | os.PathLike[str] | None, *, shared: bool = False) -> None:
        self.folder: Path | None = None
        if folder is not None:
            own = make_folder(Path(folder))
            self.folder = make_folder((own.parent if shared else own) / SHARDS)
        self.memory: dict[str, pl.DataFrame] = {}

    def has(self, name: str) -> bool:
        """Return whether the frame is there."""
        if self.folder is None or name in self.memory:
            return name in self.memory
        return (self.folder / f"{name}.parquet").is_file()

    def get(self, name: str) -> pl.DataFrame:
        """Return the frame of this name."""
        if self.folder is None or name in self.memory:
            return self.memory[name]
        return pl.read_parquet(self.folder / f"{name}.parquet")

    def put(self, name: str, frame: pl.DataFrame) -> None:
        """Keep a frame."""
        if self.folder is None:
            self.memory[name] = frame
        else:
            write_atomically(self.folder / f"{name}.parquet", frame.write_parquet)

    def keep(self, name: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """Return the frame of this name: found, or made and kept."""
        if not self.has(name):
            self.put(name, make())
        return self.get(name)

    def missing(self, shards: Sequence[Shard]) -> list[Shard]:
        """Return the shards that are not there, each once."""
        return list({shard.name: shard for shard in shards if not self.has(shard.name)}.values())

    def accept(self, shard: Shard, frames: Frames) -> None:
        """Keep what a shard came to; its runs last, since they say that it is finished."""
        put = self.memory.__setitem__ if shard.job.of_class else self.put
        if frames.trace is not None:
            put(f"{shard.name}-trace", frames.trace)
        put(shard.name, frames.runs)

    def runs(self, shards: Sequence[Shard]) -> pl.DataFrame:
        """Return a row for each path of finished shards."""
        return pl.concat([self.get(shard.name) for shard in shards])

    def run(
        self, job: Job, n_paths: int, n_workers: int | None, shown: Progress, device: str = CPU
    ) -> pl.DataFrame:
        """Return the runs of a job, a row for each path: found, or played and kept."""
        shards = list(shards_of(job, n_paths))
        play_all(self.missing(shards), self.accept, shown, n_workers=n_workers, device=device)
        return self.runs(shards)

    def counterfactuals(
        self, job: Job, runs: pl.DataFrame, n_workers: int | None, shown: Progress
    ) -> pl.DataFrame:
        """Return the worth of each arm over the rounds of these runs: column `shadow`."""

        def make() -> pl.DataFrame:
            rounds = runs["rounds"].to_numpy()
            sums = counterfactual.counterfactual_sums(job, rounds, shown, n_workers)
            return pl.DataFrame({"shadow": sums})

        code = counterfactual.compiled_sums(job.world).mark
        return self.keep(f"{key_of(job)}-{len(runs)}-{code}", make)

    def own_clock(
        self, job: Job, runs: pl.DataFrame, n_workers: int | None, shown: Progress
    ) -> Floats | None:
        """Return each arm's credit on the player's own clock, (K, P); None if undefined."""
        if not own_clock.is_defined(job, len(runs)):
            return None

        def make() -> pl.DataFrame:
            spent = float(job.problem.budget[0]) / amounts.UNIT - runs["left"].to_numpy()
            return pl.DataFrame({"credit": own_clock.credit_arms(job, spent, n_workers, shown)})

        if job.world.efficiencies is not None:  # quick to make
            return make()["credit"].to_numpy().T
        return self.keep(f"{key_of(job)}-{len(runs)}-own-clock", make)["credit"].to_numpy().T
