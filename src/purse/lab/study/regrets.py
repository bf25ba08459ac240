"""`purse.lab.regrets`: every notion of regret of one policy on one world."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from purse import worlds
from purse.base import amounts, validation
from purse.base.optional import check_lab, pl
from purse.base.progress import Progress, progress
from purse.base.text import count, first_paragraph, split_mean
from purse.engine.job import Job, make_job, single_arm_jobs
from purse.engine.rules import RETRY
from purse.engine.simulate import check_device
from purse.errors import InvalidInput, unknown
from purse.lab.result import Grid, Result
from purse.lab.study.store import Store
from purse.lab.theory import contexts, knapsack
from purse.lab.theory.estimate import Estimate, estimate
from purse.lab.theory.notions import CONTEXT_NOTIONS, NOTIONS, RunEvidence
from purse.types import CPU, DEVICES, World

_EVERY = NOTIONS | CONTEXT_NOTIONS


@dataclass(frozen=True, eq=False, repr=False)
class Regrets(Result):
    """The notions of regret of a policy on a world, by name, and the evidence for them.

    `regrets["NAME"]` is an estimate with `mean`, `error` (standard error), and `low` and `high`,
    the ends of the 95% interval.
    """

    policy: str
    world: str
    budget: float
    evidence: RunEvidence
    estimates: dict[str, Estimate]

    def __getitem__(self, notion: str) -> Estimate:
        if notion not in self.estimates:
            raise unknown("notion of regret on this world", str(notion), self.estimates)
        return self.estimates[notion]

    @property
    def title(self) -> str:
        """The policy, the world, the number of paths and the budget, in a line."""
        paths = count(len(self.evidence.gain), "path")
        return f"{self.policy} on {self.world}: {paths}, budget {self.budget:g}"

    def grids(self) -> Iterator[Grid]:
        """Yield a table with a row for each notion: mean, half its 95% interval, what it is."""
        rows = [
            (name, *split_mean(estimate.mean, estimate.high), first_paragraph(_EVERY[name].__doc__))
            for name, estimate in self.estimates.items()
        ]
        half = "± 95%" if len(self.evidence.gain) > 1 else ""
        yield Grid(["regret", "mean", half, "what it is"], rows, words=(0, 2, 3))

    def as_dict(self) -> dict[str, Any]:
        """Return the policy, the world, the budget and each estimate, as JSON has them."""
        regrets = {name: estimate._asdict() for name, estimate in self.estimates.items()}
        names = {"policy": self.policy, "world": self.world, "budget": self.budget}
        return {**names, "n_paths": len(self.evidence.gain), "regrets": regrets}


def regrets(
    policy: str | ModuleType,
    world: str | World,
    budget: float,
    *,
    n_paths: int = 100,
    seed: int = 0,
    stop: str = "exit",
    n_workers: int | None = None,
    device: str = CPU,
    folder: str | os.PathLike[str] | None = None,
) -> Regrets:
    """Play `policy` and every arm alone on the same draws, and return every notion of regret.

    policy, world   as in `purse.simulate`
    budget          one amount; the world must have one resource, and every pull must cost something
    n_paths, seed, stop   as in `purse.simulate`
    n_workers       threads; their number changes no result
    device          "cpu", "cuda" for an NVIDIA GPU, or "python"; it changes no result
    folder          a folder that keeps finished parts; a repeat reads them

    Raise `InvalidInput` when the world has several resources, or pulls that cost nothing.
    """
    check_lab("regrets", "numba", "polars")
    n_paths = validation.integer("n_paths", n_paths, low=1)
    how: dict[str, Any] = {"seed": seed, "stop": stop, "n_workers": validation.workers(n_workers)}
    how["device"] = validation.choice("device", device, DEVICES)
    name = getattr(policy, "NAME", policy)
    with progress(f"regret of {name}") as bar:
        return measure(Store(folder), policy, world, budget, n_paths=n_paths, **how, bar=bar)


def measure(
    store: Store,
    policy: str | ModuleType,
    world: str | World,
    budget: float,
    *,
    n_paths: int,
    seed: int = 0,
    stop: str = "exit",
    n_workers: int | None = None,
    device: str = CPU,
    bar: Progress,
) -> Regrets:
    """Return the same as `regrets`, with a store and a progress bar that exist already."""
    world = worlds.make(world, budget)
    if world.n_resources > 1:
        raise InvalidInput(
            f"{world.name} has {world.n_resources} resources; these notions of regret are for one"
        )
    if (world.cost_min == 0).any():
        raise InvalidInput(
            f"{world.name} has pulls that cost nothing, for which reward per cost means "
            "nothing; `compare` and `simulate` play it"
        )
    job = make_job(policy, world, budget, seed=seed, stop=stop)
    check_device(device, job)
    fixed = single_arm_jobs(world, budget, seed=seed, stop=stop)
    start, share, title = bar.start, bar.length / (len(fixed) + 2), bar.title

    def run(number: int, task: Job) -> pl.DataFrame:
        bar.part(start + number * share, share, title)
        return store.run(task, n_paths, n_workers, bar, device)

    runs, *alone = (run(number, task) for number, task in enumerate([job, *fixed]))
    bar.part(start + (len(fixed) + 1) * share, share, title)
    names = ("gain", "rounds", "left", "efficiency", "pulls")
    sums: dict[str, Any] = {name: runs[name].to_numpy() for name in names}
    for name in ("gain", "rounds", "efficiency"):
        sums[f"fixed_{name}"] = np.array([runs_alone[name].to_numpy() for runs_alone in alone])
    benchmarks: dict[str, Any] = _known_benchmarks(job)
    evidence = RunEvidence(
        budget=float(job.problem.budget[0] / amounts.UNIT),
        counterfactual=store.counterfactuals(job, runs, n_workers, bar)["shadow"].to_numpy().T,
        own_clock=store.own_clock(job, runs, n_workers, bar),
        reward_means=world.reward_means,
        cost_means=None if world.cost_means is None else world.cost_means[:, 0],
        context_optima=contexts.optima(world, amounts.text(job.problem.budget[0]))
        if world.n_features
        else {},
        **sums,
        **benchmarks,
    )
    values = {name: notion(evidence) for name, notion in _EVERY.items()}
    estimates = {name: estimate(value) for name, value in values.items() if value is not None}
    return Regrets(job.name, world.name, evidence.budget, evidence, estimates)


def _known_benchmarks(job: Job) -> dict[str, float | None]:
    """Return the gains of knapsack benchmarks; None if one does not apply."""
    world, budget = job.world, job.problem.budget
    gains: dict[str, float | None] = {"greedy": None, "knapsack": None, "optimum": None}

    def attempt(name: str, compute: Callable[[], float]) -> None:
        with suppress(InvalidInput):
            gains[name] = compute()

    text = amounts.text(budget[0])
    if world.costs is not None and world.reward_means is not None and world.horizon is None:
        arms = (world.reward_means, [amounts.text(units) for units in world.costs[:, 0]], text)
        attempt("greedy", lambda: knapsack.greedy(*arms))
        attempt("knapsack", lambda: knapsack.exact(*arms))
    if job.game.rule != RETRY:  # a player who may try again can do better
        attempt("optimum", lambda: knapsack.dynamic_optimum(world, text))
    return gains
