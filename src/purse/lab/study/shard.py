"""Shards: paths of a job, a second of work, cut alike on every machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from hashlib import sha256
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse.base import amounts
from purse.base.optional import pl
from purse.base.progress import Progress
from purse.engine.cpu import compiled_loop, fault_error, play_paths, warm_up
from purse.engine.job import Job, make_job
from purse.engine.rounds import FAULT
from purse.engine.run import Run
from purse.engine.simulate import to_run
from purse.engine.workspace import PathResults
from purse.errors import invalid
from purse.types import Floats, Ints, World

# rounds times arms (and ten more, for what a round takes besides) in a shard: about a second
_WORK = 2e8
_WORK_IN_PYTHON = 2e5  # the same of a class
_BYTES = 1 << 26  # and at most so much memory for its results
_MOST_SHARDS = 10**6  # of a job: twelve days of work


class JobSpec(NamedTuple):
    """The recipe of a job: little enough to be sent to another machine."""

    policy: str | ModuleType
    world: str | World
    budget: Any
    seed: int
    stop: str
    checkpoints: int = 0
    delay: Any = 0

    def make(self) -> Job:
        """Return the job, with checkpoints at fractions of the budget alone."""
        job = make_job(**self._asdict())
        return job._replace(checkpoints=job.checkpoints._replace(rounds=job.checkpoints.rounds[:0]))

    def compile(self, shown: Progress) -> None:
        """Compile the loop of the job, or load it from the disk cache."""
        warm_up(self.make(), shown)


class Shard(NamedTuple):
    """The paths first .. first + n_paths - 1 of a job."""

    job: Job
    key: str  # of the job
    first: int
    n_paths: int

    @property
    def name(self) -> str:
        """What the shard's files are called: decided by all that decides its numbers."""
        return f"{self.key}-{self.first}-{self.n_paths}"


class Frames(NamedTuple):
    """The results of a shard."""

    runs: pl.DataFrame
    # the pulls of each arm over all paths, a row for each checkpoint; None without checkpoints
    trace: pl.DataFrame | None


Accept = Callable[[Shard, Frames], None]


def shards_of(job: Job, n_paths: int) -> Iterator[Shard]:
    """Yield the shards of n paths; with more paths, all but the last stay the same."""
    key, size = key_of(job), _shard_size(job)
    if n_paths > _MOST_SHARDS * size:
        allowed = f"must be at most {_MOST_SHARDS * size:,} for {job.name} on {job.world.name}"
        raise invalid("n_paths", n_paths, f"{allowed}: {_MOST_SHARDS:,} seconds of work, or so")
    for first in range(0, n_paths, size):
        yield Shard(job, key, first, min(size, n_paths - first))


def _shard_size(job: Job) -> int:
    """Return the paths in a second of work, at costs halfway between their bounds."""
    problem = job.problem
    typical = np.maximum(1, (problem.cost_min + problem.cost_max).mean(axis=0) / 2)
    rounds = max(1.0, min(float(job.game.last_round), float((problem.budget / typical).min())))
    work = _WORK_IN_PYTHON if job.of_class else _WORK
    return max(1, int(min(work / (rounds * (10 + problem.n_arms)), _BYTES / bytes_per_path(job))))


def bytes_per_path(job: Job) -> int:
    """Return the memory that the results of a path take."""
    return 8 * (job.problem.n_arms + job.problem.n_resources + 4) * (1 + len(job.checkpoints.left))


def key_of(job: Job) -> str:
    """Return a hash of all that decides the numbers of a job, its code included."""
    # a class is known as long as it lives
    code = str(id(job.policy)) if job.of_class else compiled_loop(job).mark
    digest = sha256(code.encode())

    def add(part: Any) -> None:
        if isinstance(part, tuple):
            # the text of a part says how long it is, so that no two sequences read alike
            digest.update(f"({len(part)};".encode())
            for entry in part:
                add(entry)
        elif isinstance(part, np.ndarray):
            digest.update(f"{part.dtype}{part.shape};".encode() + part.tobytes())
        else:
            digest.update(f"{part!r};".encode())

    policy = job.params, job.policy.init(job.params, job.problem)
    world = job.world.tables, job.world.n_rounds, job.world.reward_range
    add((*policy, *world, job.game, job.checkpoints))
    add(tuple(getattr(job.problem, field.name) for field in fields(job.problem)))
    if job.delay.is_late:
        add(job.delay)
    return digest.hexdigest()[:20]


def _runs_frame(run: Run, first: int = 0) -> pl.DataFrame:
    units = np.rint(run.budget * amounts.UNIT).astype(np.int64)
    unknown = np.full(run.n_paths, np.nan)
    columns = {
        "path": np.arange(first, first + run.n_paths),
        "gain": run.gain,
        "rounds": run.rounds,
        "used": (run.spent / run.budget).max(axis=1),
        "ended": run.ended,
        "efficiency": unknown if run.efficiency is None else run.efficiency,
        "left": ((units - run.spent_units) / amounts.UNIT)[:, 0],
        "pulls": run.pulls,
    }
    return pl.DataFrame(columns)


def frames_of(shard: Shard, results: PathResults) -> Frames:
    """Return the results of a shard as frames."""
    run, trace = to_run(shard.job, results), None
    if (traced := run.by_budget) is not None:
        trace = pl.DataFrame({"fraction": traced.checkpoints, "pulls": traced.pulls.sum(axis=0)})
    return Frames(_runs_frame(run, shard.first), trace)


def play_shard(shard: Shard, pulse: Floats, halt: Ints) -> Frames:
    """Return the paths of a shard, played in this thread. Raise if the policy broke the rules."""
    results = play_paths(shard.job, shard.first, shard.n_paths, pulse, halt)
    if halt[0] == FAULT:
        raise fault_error(shard.job)
    return frames_of(shard, results)
