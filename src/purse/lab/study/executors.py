"""Shards for threads, a GPU or a cluster. Who plays a shard changes no number in it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

import numpy as np

from purse.base.progress import Progress
from purse.base.validation import usable_cores
from purse.engine import cpu
from purse.engine.simulate import gpu_engine
from purse.lab.study.cluster import play_on_cluster
from purse.lab.study.compile_ahead import warm_up_all
from purse.lab.study.shard import Accept, JobSpec, Shard, bytes_per_path, frames_of, play_shard
from purse.types import CPU, CUDA, PYTHON, Floats, Ints

_GROUP_BYTES = 1 << 30  # of results that a GPU brings back at once


def play_all(
    shards: Sequence[Shard],
    accept: Accept,
    shown: Progress,
    *,
    n_workers: int | None = None,
    device: str = CPU,
    on: str | None = None,
    recipes: Mapping[str, JobSpec] | None = None,
) -> None:
    """Play these shards and hand over each as soon as it is finished; what is interrupted is not
    handed over.

    A GPU leaves late reports to the threads. `on` is the address of a cluster. `recipes` says how
    the job of each key is made, for a cluster and for processes that help to compile.
    """
    if on is not None:
        play_on_cluster(shards, recipes or {}, on, accept, shown)
        return
    if device == PYTHON:
        shards = [shard._replace(job=shard.job.as_python()) for shard in shards]
    if device == CUDA:
        _play_on_gpu([shard for shard in shards if not shard.job.delay.is_late], accept, shown)
        shards = [shard for shard in shards if shard.job.delay.is_late]
    if shards:
        jobs = {shard.key: shard.job for shard in shards if not shard.job.in_python}
        workers = n_workers or usable_cores()
        warm_up_all(jobs, recipes or {}, shown, workers)
        _play_in_threads(shards, accept, shown, workers)


def _play_in_threads(
    shards: Sequence[Shard], accept: Accept, shown: Progress, n_workers: int
) -> None:
    """Play one shard a thread; those in plain Python first, in this thread."""
    # one each: a fault stays with its shard
    pulses, halts = np.zeros((len(shards), 2)), np.zeros((1, len(shards)), np.int64)
    weights = np.array([_budget_of(shard) / shard.n_paths for shard in shards])
    total = sum(map(_budget_of, shards))

    def play(shard: Shard, pulse: Floats, halt: Ints) -> None:
        if not halt[0]:
            frames = play_shard(shard, pulse, halt)
            if not halt[0]:
                accept(shard, frames)

    tasks = [partial(play, shard, pulses[i], halts[0, i : i + 1]) for i, shard in enumerate(shards)]

    def show() -> None:
        shown.show(float(weights @ pulses.sum(axis=1)) / total)

    first, others = list[Callable[[], None]](), list[Callable[[], None]]()
    for shard, task in zip(shards, tasks, strict=True):
        (first if shard.job.in_python else others).append(task)
    cpu.in_turn(first, show)
    cpu.in_threads(others, n_workers, halts, show)


def _budget_of(shard: Shard) -> float:
    """Return the money of the paths of a shard, by which the progress bar counts."""
    return float((shard.job.problem.budget * shard.job.problem.unit_scale).min()) * shard.n_paths


def _play_on_gpu(shards: Sequence[Shard], accept: Accept, shown: Progress) -> None:
    """Play all neighbouring shards of a job at once: a GPU wants many paths."""
    start, length = shown.start, shown.length
    for number, group in enumerate(groups := list(_neighbours(shards))):
        shown.part(start + length * number / len(groups), length / len(groups), shown.title)
        first = group[0].first
        n_paths = group[-1].first + group[-1].n_paths - first
        results = gpu_engine().simulate(group[0].job, n_paths, shown, first)
        for shard in group:
            paths = slice(shard.first - first, shard.first - first + shard.n_paths)
            accept(shard, frames_of(shard, cpu.slice_paths(results, paths)))


def _neighbours(shards: Sequence[Shard]) -> Iterator[list[Shard]]:
    """Shards of a job whose paths follow each other, together, as many as may be in memory."""
    for _, same in groupby(shards, key=lambda shard: shard.key):
        group: list[Shard] = []
        for shard in same:
            limit = _GROUP_BYTES // bytes_per_path(shard.job)
            if group and (
                shard.first != group[-1].first + group[-1].n_paths
                or shard.first + shard.n_paths - group[0].first > limit
            ):
                yield group
                group = []
            group.append(shard)
        yield group
