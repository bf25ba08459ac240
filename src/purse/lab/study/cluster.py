"""Shards on several machines, through joblib's back-ends for Ray and Dask.

A shard travels as the recipe of its job and the numbers of its paths; the machine that plays it
makes the job itself, and refuses if its code is not ours. This machine writes the results, so that
machines do not have to share a disk.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from warnings import catch_warnings

import numpy as np

from purse._version import __version__
from purse.base.optional import needs
from purse.base.progress import Progress
from purse.compiler.jit import compile_errors
from purse.engine.job import Job
from purse.errors import InvalidInput, PurseError
from purse.lab.study.shard import Accept, Frames, JobSpec, Shard, key_of, play_shard

_WAVE = 8  # shards for each worker that are sent at once where results come back only together
_CONNECT_TIMEOUT_S = 20  # seconds to wait for a cluster
_ADDRESSES = "ray, ray://HOST:PORT, dask or dask://HOST:PORT"


def play_on_cluster(
    shards: Sequence[Shard],
    recipes: Mapping[str, JobSpec],
    on: str,
    accept: Accept,
    shown: Progress,
) -> None:
    """Play the shards on the cluster at this address."""
    waiting = {shard.name: shard for shard in shards}
    with _connected(on) as (streams, n_jobs):
        from joblib import Parallel, delayed

        names = list(waiting)
        size = max(1, len(names)) if streams else _WAVE * n_jobs
        how = {"return_as": "generator_unordered"} if streams else {}
        for start in range(0, len(names), size):
            wave = [waiting[name] for name in names[start : start + size]]
            calls = (
                delayed(_play_there)(sendable(recipes[shard.key]), *shard[1:]) for shard in wave
            )
            for name, frames in Parallel(n_jobs=n_jobs, **how)(calls):
                accept(waiting.pop(name), frames)
                shown.show(1 - len(waiting) / len(shards))


def sendable(recipe: JobSpec) -> JobSpec:
    """Return the recipe with its policy as text, by which every machine finds it."""
    policy = recipe.policy
    if isinstance(policy, str):
        return recipe
    text = policy.NAME if policy.__name__.startswith("purse.policies.") else policy.__file__
    if text is None:
        raise InvalidInput(
            f"policy {policy.NAME!r} comes from no file, and so cannot be sent to a cluster"
        )
    return recipe._replace(policy=str(text))


_jobs: dict[str, Job] = {}


def _play_there(recipe: JobSpec, key: str, first: int, n_paths: int) -> tuple[str, Frames]:
    """Make the job on a worker, refuse it if it is another one, and play its shard."""
    if key not in _jobs:
        job = recipe.make()
        if key_of(job) != key:
            raise PurseError(
                f"a worker (purse {__version__}) has other code than this machine: "
                "all need the same purse and the same policy files"
            )
        _jobs[key] = job
    shard = Shard(_jobs[key], key, first, n_paths)
    with compile_errors(shard.job.name, shard.job.policy):
        return shard.name, play_shard(shard, np.zeros(2), np.zeros(1, np.int64))


def parse(on: str) -> tuple[str, str]:
    """Return the kind of cluster and its address, which may be empty."""
    kind, colon, address = on.partition("://")
    if kind not in ("ray", "dask") or (colon and not address):
        raise InvalidInput(f"on={on!r}: must be one of {_ADDRESSES}")
    return kind, address


@contextmanager
def _connected(on: str) -> Iterator[tuple[bool, int]]:
    """Yield whether results come back one by one, and the number of workers."""
    kind, address = parse(on)
    connect = _on_ray if kind == "ray" else _on_dask
    with connect(address) as (config, streams, n_jobs), config:
        yield streams, n_jobs


@contextmanager
def _on_ray(address: str) -> Iterator[tuple[Any, bool, int]]:
    """Yield a Ray cluster; without an address the one Ray knows, or a new one here."""
    with needs("a Ray cluster", "ray"):
        import ray
        from joblib import parallel_config
        from ray.util.joblib import register_ray

    with (
        _unreachable(f"ray://{address}", "; where it asks for a token, set RAY_AUTH_MODE=token"),
        catch_warnings(action="ignore"),
    ):
        ray.init(
            f"ray://{address}" if address else None,
            ignore_reinit_error=True,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    register_ray()
    try:
        cores = int(ray.cluster_resources().get("CPU", 1))
        yield parallel_config(backend="ray"), False, max(1, cores)
    finally:
        ray.shutdown()


@contextmanager
def _on_dask(address: str) -> Iterator[tuple[Any, bool, int]]:
    """Yield a Dask cluster; without an address a new one on this machine."""
    with needs("a Dask cluster", "dask"):
        from distributed import Client
        from joblib import parallel_config

    with _unreachable(f"dask://{address}"):
        where: dict[str, Any] = {"dashboard_address": None}
        if address:
            where = {"address": f"tcp://{address}", "timeout": _CONNECT_TIMEOUT_S}
        client = Client(set_as_default=False, **where)
    with client:
        threads = sum(client.nthreads().values())
        yield parallel_config(backend="dask", client=client), True, max(1, threads)


@contextmanager
def _unreachable(where: str, hint: str = "") -> Iterator[None]:
    """Say in one line that there is no cluster."""
    try:
        yield
    except (OSError, ConnectionError, TimeoutError, ValueError, RuntimeError) as error:
        raise PurseError(
            f"cannot reach {where}: {' '.join(str(error).split())[:200]}{hint}"
        ) from error
