"""`purse.compare`: policies on worlds over budgets, as one table. What has been computed is kept and found again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from purse import check, environments
from purse.engine.cpu import Job
from purse.errors import InvalidInput
from purse.progress import progress
from purse.regret import against_best_fixed_arm, brief, estimate
from purse.simulation import make_job, yardsticks
from purse.store import Store
from purse.types import CPU, DEVICES, Floats, World

if TYPE_CHECKING:
    import polars as pl

WorldLike = str | World | Callable[[float], World]
Worlds = WorldLike | Sequence[WorldLike] | Mapping[str, WorldLike]

DEFAULT_POLICIES = ("exp3.bwk", "exp3++.bwk", "exp3++.price", "uniform")
DEFAULT_WORLDS: Mapping[str, WorldLike] = {
    "stochastic": "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]",
    "adversarial": "two_worlds:cost_min=0.1,world=2",
    "switching": "switching:segments=[3000,1000],rewards=[[.8,.5,.2],[.1,.5,.9]],costs=[.5,.5,.5]",
    "misleading ratio": "misleading_ratio",
}
DEFAULT_BUDGETS = (1e3, 3e3, 1e4, 3e4, 1e5)
DEFAULT_PATHS = 50


@dataclass(frozen=True)
class Study:
    """The results of a comparison, one row for each world, budget, policy and path."""

    data: pl.DataFrame

    def frame(self) -> pl.DataFrame:
        """One row per world, budget, policy and path: gain, rounds, the part of the budget that was used, regret."""
        return self.data

    def table(self) -> pl.DataFrame:
        """One row per world, budget and policy: mean gain and regret, with standard error and 95% interval."""
        import polars as pl

        rows = []
        for (world, policy, budget), part in self.data.group_by(["world", "policy", "budget"], maintain_order=True):
            regret = estimate(part["regret"].to_numpy())
            rows.append(
                {
                    "world": world,
                    "policy": policy,
                    "budget": budget,
                    "n_paths": len(part),
                    "gain": float(np.mean(part["gain"].to_numpy())),
                    "regret": regret.mean,
                    "error": regret.error,
                    "low": regret.low,
                    "high": regret.high,
                    "ended": int(part["ended"].sum()),
                }
            )
        return pl.DataFrame(rows)

    def grids(self) -> Iterator[tuple[str, list[list[str]]]]:
        """For each world, its name and the table of regrets for people: a row per policy, a column per budget."""
        for (world,), part in self.table().group_by(["world"], maintain_order=True):
            budgets = part["budget"].unique().sort().to_list()
            grid = [["regret, mean ± 95%", *(f"B = {budget:g}" for budget in budgets)]]
            for (policy,), row in part.group_by(["policy"], maintain_order=True):
                cells = {cell["budget"]: with_error(cell["regret"], cell["high"]) for cell in row.iter_rows(named=True)}
                grid.append([str(policy), *(cells[budget] for budget in budgets)])
            yield str(world), grid

    def __str__(self) -> str:
        """The tables of regrets as plain text."""
        lines = []
        for world, grid in self.grids():
            widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
            lines += [f"{world}: regret against the best fixed arm on the same draws"]
            lines += [
                "  " + "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]) for row in grid
            ]
        return "\n".join(lines)


def with_error(mean: float, high: float) -> str:
    """A mean with half its interval, where it has one."""
    return brief(mean) if np.isnan(high) else f"{brief(mean)} ± {brief(high - mean)}"


def compare(
    policies: str | ModuleType | Sequence[str | ModuleType] = DEFAULT_POLICIES,
    world: Worlds = DEFAULT_WORLDS,
    *,
    budgets: float | Sequence[float] = DEFAULT_BUDGETS,
    n_paths: int = DEFAULT_PATHS,
    seed: int = 0,
    stop: str = "exit",
    n_workers: int | None = None,
    device: str = CPU,
    folder: str | os.PathLike[str] | None = None,
) -> Study:
    """Play every policy on every world with every budget, and set each against the best fixed arm on the same draws.

    `world` is one world, a list of them, or a dictionary that gives them names; a world is a `World`, text such as
    "two_worlds:world=2", or a function of the budget. With `folder`, finished parts are kept there and used again.
    `device` is "cpu" or "cuda"; neither it nor `n_workers` changes any number.
    """
    chosen = [policies] if isinstance(policies, (str, ModuleType)) else list(policies)
    worlds = named_worlds(world)
    sizes = [check.number("budgets", budget, above=0) for budget in (budgets if isinstance(budgets, Sequence) else [budgets])]
    if not chosen or not worlds or not sizes:
        raise InvalidInput("nothing to compare: give at least one policy, one world and one budget")
    refuse_repeats("policy", [policy if isinstance(policy, str) else policy.NAME for policy in chosen])
    refuse_repeats("budget", sizes)
    n_paths = check.integer("n_paths", n_paths, low=1)
    n_workers = None if n_workers is None else check.integer("n_workers", n_workers, low=1)
    check.choice("device", device, DEVICES)
    cells = []  # making every job first says what is wrong before anything runs
    for label, place in worlds.items():
        for budget in sizes:
            here = environments.make(place, budget)
            alone = yardsticks(here, budget, seed=seed, stop=stop)
            cells.append((label, budget, alone, [make_job(policy, here, budget, seed=seed, stop=stop) for policy in chosen]))
    store = Store(folder)
    total = sum(len(alone) + len(jobs) for _, _, alone, jobs in cells)
    done, parts = 0, []
    with progress("comparing") as shown:

        def run(job: Job) -> pl.DataFrame:
            nonlocal done
            shown.part(done / total, 1 / total, f"{label}, B = {budget:g}, {job.name}")
            done += 1
            return store.run(job, n_paths, n_workers, shown, device)

        for label, budget, alone, jobs in cells:
            fixed = np.array([run(job)["gain"].to_numpy() for job in alone])
            parts += [described(run(job), label, job.name, budget, fixed) for job in jobs]
    import polars as pl

    return Study(pl.concat(parts))


def named_worlds(world: Worlds) -> dict[str, WorldLike]:
    """Worlds with a name each."""
    if isinstance(world, Mapping):
        return dict(world)
    worlds = [world] if isinstance(world, (str, World)) or callable(world) else list(world)
    names = [place if isinstance(place, str) else place.name if isinstance(place, World) else getattr(place, "__name__", "world") for place in worlds]
    refuse_repeats("world", names, "; give them names of their own: {'one': world, 'two': world}")
    return dict(zip(names, worlds, strict=True))


def refuse_repeats(what: str, names: Sequence[object], hint: str = "") -> None:
    """Refuse a list that names something twice, whose paths would be counted twice."""
    for name in names:
        if list(names).count(name) > 1:
            raise InvalidInput(f"{what} {name!r} is there twice{hint}")


def described(runs: pl.DataFrame, world: str, policy: str, budget: float, fixed: Floats) -> pl.DataFrame:
    """The runs of a cell with what they belong to, and their regret."""
    import polars as pl

    return runs.select(
        pl.lit(world).alias("world"),
        pl.lit(policy).alias("policy"),
        pl.lit(budget).alias("budget"),
        pl.exclude("pulls"),
        pl.col("pulls").arr.to_list(),  # worlds differ in their number of arms
        pl.Series("regret", against_best_fixed_arm(runs["gain"].to_numpy(), fixed)),
    )
