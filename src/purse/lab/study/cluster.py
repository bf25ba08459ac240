"""Shards on several machines, through joblib's back-end for Ray.

A shard travels as the recipe of its job and the numbers of its paths; the machine that plays it
makes the job itself, and refuses if its code is not ours. This machine writes the results, so that
machines do not have to share a disk.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from warnings import catch_warnings

import numpy as np

from purse._version import __version__
from purse.base.optional import needs
from purse.base.progress import Progress
from purse.compiler.jit import compile_errors
from purse.engine.job import Job
from purse.errors import InvalidInput, PurseError
from purse.lab.study.shard import Accept, Frames, JobSpec, Shard, key_of, play_shard

_WAVE = 8  # shards for each worker that are sent at once: results come back only together


def play_on_cluster(
    shards: Sequence[Shard],
    recipes: Mapping[str, JobSpec],
    on: str,
    accept: Accept,
    shown: Progress,
) -> None:
    """Play the shards on the cluster at this address."""
    done = 0
    with _connected(check_address(on)) as n_workers:
        from joblib import Parallel, delayed

        size = _WAVE * n_workers
        for start in range(0, len(shards), size):
            wave = shards[start : start + size]
            calls = (
                delayed(_play_there)(sendable(recipes[shard.key]), *shard[1:]) for shard in wave
            )
            for shard, frames in zip(wave, Parallel(n_jobs=n_workers)(calls), strict=True):
                accept(shard, frames)
                done += 1
                shown.show(done / len(shards))


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


def _play_there(recipe: JobSpec, key: str, first: int, n_paths: int) -> Frames:
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
        return play_shard(shard, np.zeros(2), np.zeros(1, np.int64))


def check_address(on: str) -> str | None:
    """Return the address of the cluster that Ray is to connect to; None: the one that it knows."""
    name, colon, host = on.partition("://")
    if name != "ray" or (colon and not host):
        raise InvalidInput(f"on={on!r}: must be ray or ray://HOST:PORT")
    return on if colon else None


@contextmanager
def _connected(address: str | None) -> Iterator[int]:
    """Yield the number of workers of a Ray cluster, on which joblib plays meanwhile; without an
    address the cluster that Ray knows, or a new one here.
    """
    with needs("a Ray cluster", "ray"):
        import ray
        from joblib import parallel_config
        from ray.util.joblib import register_ray

    try:
        with catch_warnings(action="ignore"):
            ray.init(
                address, ignore_reinit_error=True, log_to_driver=False, logging_level=logging.ERROR
            )
    except (OSError, ConnectionError, TimeoutError, ValueError, RuntimeError) as error:
        raise PurseError(
            f"cannot reach {address or 'ray'}: {' '.join(str(error).split())[:200]}; if it asks "
            "for a token, set RAY_AUTH_MODE=token"
        ) from error
    register_ray()
    try:
        cores = int(ray.cluster_resources().get("CPU", 1))
        with parallel_config(backend="ray"):
            yield max(1, cores)
    finally:
        ray.shutdown()
