"""`purse.compare`: policies on worlds over budgets; computed results are kept and reused."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from purse.base import validation
from purse.base.files import PARTS, remove_abandoned, write_atomically
from purse.base.optional import check_lab
from purse.base.progress import progress
from purse.base.text import count_in_words
from purse.engine.simulate import check_device
from purse.errors import invalid
from purse.lab.study import cluster, manifest
from purse.lab.study.executors import play_all
from purse.lab.study.manifest import StudyFacts
from purse.lab.study.plan import Plan, Policies, WorldLike, Worlds
from purse.lab.study.results import RESULTS, ROW_GROUP, Study
from purse.lab.study.shard import JobSpec
from purse.lab.study.store import Store
from purse.lab.study.summary import assemble
from purse.policies import DEFAULT
from purse.types import CPU, DEVICES, PYTHON

DEFAULT_POLICIES = (DEFAULT, "exp3.bwk", "exp3++.bwk", "uniform")
DEFAULT_WORLDS: Mapping[str, WorldLike] = {
    "stochastic": "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]",
    "adversarial": "two_worlds:cost_min=0.1,world=2",
    "switching": "switching:segments=[3000,1000],rewards=[[.8,.5,.2],[.1,.5,.9]],costs=[.5,.5,.5]",
    "misleading ratio": "misleading_ratio",
}
DEFAULT_BUDGETS = (1e3, 3e3, 1e4, 3e4)
DEFAULT_PATHS = 50


def compare(
    policies: Policies = DEFAULT_POLICIES,
    world: Worlds = DEFAULT_WORLDS,
    *,
    budgets: float | Sequence[float] = DEFAULT_BUDGETS,
    n_paths: int = DEFAULT_PATHS,
    seed: int = 0,
    stop: str = "exit",
    delay: Any = 0,
    n_workers: int | None = None,
    device: str = CPU,
    on: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    title: str | None = None,
) -> Study:
    """Play every policy on every world with every budget, and measure regret on the same draws.

    policies   a policy, a list of them, or {label: policy}; a policy is text such as
               "exp3++.bwk:beta=1", the path of a policy file, a module, or a class in plain
               Python, whose results are not kept
    world      a world, a list of them, or {label: world}; a world is a `World`, text such as
               "two_worlds:world=2", or a function of the budget
    budgets    one amount, or a list of them
    n_paths    independent paths of each policy on each world with each budget
    seed, stop, delay   as in `purse.simulate`; the best fixed arm is played without delay
    device     "cpu", "cuda" or "python"
    on         the address of a cluster: "ray://host:10001"; "ray": the one that Ray knows
    folder     a folder that keeps finished parts and results; a repeat plays only what is missing
    title      the title of the report; None: the policies and the worlds

    Regret is measured against the best fixed arm. None of `n_workers`, `device` and `on` changes
    any number.
    Return the `Study`.

    Raise `InvalidInput` when a value is not allowed, before anything is played.
    """
    plan = Plan.of(
        policies,
        world,
        budgets=budgets,
        n_paths=n_paths,
        seed=seed,
        stop=stop,
        title=title,
        delay=delay,
    )
    return run(plan, n_workers=n_workers, device=device, on=on, folder=folder)


def run(
    plan: Plan,
    *,
    n_workers: int | None = None,
    device: str = CPU,
    on: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    shared: bool = False,
) -> Study:
    """Play the missing shards of a plan; if `shared`, with those of folders beside."""
    check_lab("compare", *([] if device == PYTHON else ["numba"]), "polars")
    n_workers = validation.workers(n_workers)
    validation.choice("device", device, DEVICES)
    if on is not None:
        cluster.check_address(on)
    recipes: dict[str, JobSpec] = {}
    # making every job first says what is wrong before anything runs
    cells = list(plan.cells(recipes))
    groups = [group for cell in cells for group in (*cell.policies.values(), *cell.alone)]
    shards = [shard for group in groups for shard in group]
    for shard in shards:
        check_device(device, shard.job)
        if on is not None and shard.job.of_class:
            raise invalid(
                "on", on, f"{shard.job.name} is a class, which plays on this machine only"
            )
    store = Store(folder, shared=shared)
    target = None if folder is None else Path(folder)
    names = sorted({shard.name for shard in shards if not shard.job.of_class})
    facts = StudyFacts(**plan.facts, **manifest.surroundings(), shards=names, made=None)
    if target is not None:
        manifest.save(target, facts.to_json())
        remove_abandoned(target)
    if store.folder is not None:
        remove_abandoned(store.folder)
    chosen = count_in_words(len(plan.policies), "policy", "policies")
    with progress(f"comparing {chosen}") as bar:
        how: dict[str, Any] = {"n_workers": n_workers, "device": device, "on": on}
        play_all(store.missing(shards), store.accept, bar, **how, recipes=recipes)
    facts = replace(facts, made=manifest.now())
    with TemporaryDirectory(dir=target, prefix=PARTS) as scratch:
        study = Study(*assemble(cells, store, Path(scratch) if target else None), facts)
        if target is None:
            return study
        write_atomically(
            target / RESULTS, lambda file: study.data.sink_parquet(file, row_group_size=ROW_GROUP)
        )
        for name, frame in study.frames.items():
            write_atomically(target / f"{name}.parquet", frame.write_parquet)
    manifest.save(target, facts.to_json())
    return Study.load(target)
