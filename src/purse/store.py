"""Finished parts of a study on disk, found again by what decides their numbers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from purse import amount
from purse.engine import shadow
from purse.engine.cpu import Job, compiled
from purse.files import make_folder, write_atomically
from purse.progress import Progress
from purse.simulation import play
from purse.types import CPU

if TYPE_CHECKING:
    import polars as pl


class Store:
    """Finished cells on disk, each a Parquet file named by a hash of everything that decides its numbers."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self.folder = None if folder is None else make_folder(make_folder(Path(folder)) / "cells")

    def keep(self, name: str, make: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """The frame of this name: found, or made and kept."""
        import polars as pl

        if self.folder is None:
            return make()
        path = self.folder / f"{name}.parquet"
        if path.is_file():
            return pl.read_parquet(path)
        frame = make()
        write_atomically(path, frame.write_parquet)
        return frame

    def run(self, job: Job, n_paths: int, n_workers: int | None, shown: Progress, device: str = CPU) -> pl.DataFrame:
        """The runs of one policy on one world with one budget, a row for each path."""
        import polars as pl

        def make() -> pl.DataFrame:
            run = play(job, n_paths, n_workers=n_workers, shown=shown, device=device)
            return pl.DataFrame(
                {
                    "path": np.arange(run.n_paths),
                    "gain": run.gain,
                    "rounds": run.rounds,
                    "used": (run.spent / run.budget).max(axis=1),
                    "ended": run.ended,
                    "efficiency": np.full(run.n_paths, np.nan) if run.efficiency is None else run.efficiency,
                    "left": ((job.problem.budget - run.spent_units) / amount.UNIT)[:, 0],
                    "pulls": run.pulls,
                }
            )

        return self.keep(cell_name(job, n_paths), make)

    def shadows(self, job: Job, runs: pl.DataFrame, n_workers: int | None, shown: Progress) -> pl.DataFrame:
        """What each arm was worth over the rounds that these runs of the job had: a row for each path, a column `shadow`."""
        import polars as pl

        def make() -> pl.DataFrame:
            return pl.DataFrame({"shadow": shadow.shadows(job, runs["rounds"].to_numpy(), shown, n_workers)})

        return self.keep(f"{cell_name(job, len(runs))}-{shadow.compiled(job.world).py_func.__name__}", make)


def cell_name(job: Job, n_paths: int) -> str:
    """A hash of everything that decides the numbers: compiled code, parameters, first state, world, problem and game."""
    digest = sha256(compiled(job).py_func.__name__.encode())

    def add(part: Any) -> None:
        if isinstance(part, tuple):
            digest.update(f"({len(part)}".encode())
            for entry in part:
                add(entry)
        elif isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape}".encode() + part.tobytes())
        else:
            digest.update(repr(part).encode())

    add((job.params, job.policy.init(job.params, job.problem, 1), job.world.tables, job.game, n_paths))
    add(tuple(getattr(job.problem, field.name) for field in fields(job.problem)))
    return digest.hexdigest()[:20]
