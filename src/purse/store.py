"""Finished parts of a comparison on disk, found again by what decides their numbers."""

from __future__ import annotations

import os
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from purse.engine.cpu import Job, compiled
from purse.files import make_folder, write_atomically
from purse.progress import Progress
from purse.simulation import play

if TYPE_CHECKING:
    import polars as pl


class Store:
    """Finished cells on disk, each a Parquet file named by a hash of everything that decides its numbers."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self.folder = None if folder is None else make_folder(make_folder(Path(folder)) / "cells")

    def run(self, job: Job, n_paths: int, n_workers: int | None, shown: Progress) -> pl.DataFrame:
        """The runs of one policy on one world with one budget: found, or made and kept."""
        import polars as pl

        path = None if self.folder is None else self.folder / f"{cell_name(job, n_paths)}.parquet"
        if path is not None and path.is_file():
            return pl.read_parquet(path)
        run = play(job, n_paths, n_workers=n_workers, shown=shown)
        frame = pl.DataFrame(
            {
                "path": np.arange(run.n_paths),
                "gain": run.gain,
                "rounds": run.rounds,
                "used": (run.spent / run.budget).max(axis=1),
                "ended": run.ended,
            }
        )
        if path is not None:
            write_atomically(path, frame.write_parquet)
        return frame


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
