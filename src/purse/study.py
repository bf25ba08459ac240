"""`purse.compare`: policies on worlds over budgets. What has been computed is kept and found again;
what comes out is a `Study`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from purse import check, cluster, html, manifest, summary
from purse.assembly import put_together
from purse.dispatch import play_all
from purse.errors import MissingExtra, PurseError
from purse.files import PARTS, make_folder, sweep, write_atomically
from purse.plan import Plan, Policies, WorldLike, Worlds
from purse.progress import progress
from purse.regret import brief
from purse.shard import Recipe
from purse.store import Store
from purse.types import CPU, DEVICES

if TYPE_CHECKING:
    import polars as pl

DEFAULT_POLICIES = ("exp3.bwk", "exp3++.bwk", "exp3++.price", "uniform")
DEFAULT_WORLDS: Mapping[str, WorldLike] = {
    "stochastic": "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]",
    "adversarial": "two_worlds:cost_min=0.1,world=2",
    "switching": "switching:segments=[3000,1000],rewards=[[.8,.5,.2],[.1,.5,.9]],costs=[.5,.5,.5]",
    "misleading ratio": "misleading_ratio",
}
DEFAULT_BUDGETS = (1e3, 3e3, 1e4, 3e4, 1e5)
DEFAULT_PATHS = 50
DEFAULT_TITLE = "Policies compared"
RESULTS = "results.parquet"
ROW_GROUP = 1 << 17  # rows of the results that are read at once


@dataclass(frozen=True, eq=False)
class Study:
    """What a comparison came to: its runs, read when they are asked for, and the frames that are
    made from them.
    """

    data: pl.LazyFrame
    frames: Mapping[str, pl.DataFrame]
    facts: Mapping[str, Any]

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Study:
        """The finished study in a folder."""
        import polars as pl

        target, facts = Path(folder), manifest.load(Path(folder))
        if facts["made"] is None:
            raise PurseError(
                f"the study in {str(target)!r} is not finished: "
                f"{manifest.standing(target)}; run it again to continue"
            )
        frames = {name: pl.read_parquet(target / f"{name}.parquet") for name in summary.COLUMNS}
        return cls(pl.scan_parquet(target / RESULTS), frames, facts)

    def lazy(self) -> pl.LazyFrame:
        """The same as `frame()`, not yet read: for results that do not fit into memory."""
        return self.data

    def frame(self) -> pl.DataFrame:
        """One row per world, budget, policy and path: gain, rounds, the part of the budget that was
        used, regret.
        """
        return self.data.collect()

    def table(self) -> pl.DataFrame:
        """One row per world, budget and policy: mean gain and regret with 95% intervals, what was
        left, rounds.
        """
        return self.frames["table"]

    def shares(self) -> pl.DataFrame:
        """One row per world, budget, policy, slice of the budget and arm: the arm's share of the
        pulls in that slice.
        """
        return self.frames["shares"]

    def growth(self) -> pl.DataFrame:
        """One row per world and policy: the slope of log regret against log budget, and the shape
        that fits best.
        """
        return self.frames["growth"]

    def bounds(self) -> pl.DataFrame:
        """One row per world, budget, policy and theorem on its regret: the value, and whether it
        applies there.
        """
        return self.frames["bounds"]

    def references(self) -> pl.DataFrame:
        """One row per world, budget and yardstick: what it gains."""
        return self.frames["references"]

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the study as one HTML file."""
        from purse.report.page import write_page

        return write_page(self, Path(path))

    def publish(self, folder: Path) -> list[Path]:
        """Write the report to a folder, and each of its figures as PNG, SVG and CSV; the page comes
        first.
        """
        from purse.report.export import export

        return [
            self.report(make_folder(folder) / "report.html"),
            *export(self, make_folder(folder / "figures")),
        ]

    def grids(self) -> Iterator[tuple[str, list[list[str]]]]:
        """For each world, its name and the table of regrets for people: a row per policy, a column
        per budget.
        """
        for (world,), part in self.table().group_by(["world"], maintain_order=True):
            budgets = part["budget"].unique().sort().to_list()
            grid = [["regret, mean ± 95%", *(f"B = {budget:g}" for budget in budgets)]]
            for (policy,), row in part.group_by(["policy"], maintain_order=True):
                cells = {
                    cell["budget"]: with_error(cell["regret"], cell["high"])
                    for cell in row.iter_rows(named=True)
                }
                grid.append([str(policy), *(cells[budget] for budget in budgets)])
            yield str(world), grid

    def _repr_html_(self) -> str:
        """The tables of regrets, for notebooks."""
        return "".join(html.table(head, rows, title=world) for world, (head, *rows) in self.grids())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any] | None:
        """The chart of regrets, for notebooks that draw it, and the tables for those that do not;
        None where nothing is installed that makes charts.
        """
        from purse.report.export import notebook

        try:
            return {**notebook(self), "text/html": self._repr_html_(), "text/plain": str(self)}
        except MissingExtra:
            return None

    def __str__(self) -> str:
        """The tables of regrets as plain text."""
        lines = []
        for world, grid in self.grids():
            widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
            lines += [f"{world}: regret against the best fixed arm on the same draws"]
            lines += [
                "  "
                + "  ".join(
                    [
                        row[0].ljust(widths[0]),
                        *(
                            cell.rjust(width)
                            for cell, width in zip(row[1:], widths[1:], strict=True)
                        ),
                    ]
                )
                for row in grid
            ]
        return "\n".join(lines)


def with_error(mean: float, high: float) -> str:
    """A mean with half its interval, where it has one."""
    return brief(mean) if np.isnan(high) else f"{brief(mean)} ± {brief(high - mean)}"


def compare(
    policies: Policies = DEFAULT_POLICIES,
    world: Worlds = DEFAULT_WORLDS,
    *,
    budgets: float | Sequence[float] = DEFAULT_BUDGETS,
    n_paths: int = DEFAULT_PATHS,
    seed: int = 0,
    stop: str = "exit",
    n_workers: int | None = None,
    device: str = CPU,
    on: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    title: str = DEFAULT_TITLE,
) -> Study:
    """Play every policy on every world with every budget, and set each against the best fixed arm
    on the same draws.

    `policies` and `world` are one of them, a list, or a dictionary that gives them labels. A policy
    is text such as "exp3++.bwk:beta=1", the path of a policy file, or a module; a world is a
    `World`, text such as "two_worlds:world=2", or a function of the budget. With `folder`, finished
    parts are kept there and used again. `device` is "cpu" or "cuda"; `on` the address of a cluster
    ("ray://host:10001", "dask://host:8786"); none of these nor `n_workers` changes any number.
    """
    plan = Plan.of(
        policies, world, budgets=budgets, n_paths=n_paths, seed=seed, stop=stop, title=title
    )
    return run(plan, n_workers=n_workers, device=device, on=on, folder=folder)


def run(
    plan: Plan,
    *,
    n_workers: int | None = None,
    device: str = CPU,
    on: str | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Study:
    """Carry out a plan: play the shards that are not there yet, and put everything together."""
    n_workers = None if n_workers is None else check.integer("n_workers", n_workers, low=1)
    check.choice("device", device, DEVICES)
    if on is not None:
        cluster.parse(on)
    recipes: dict[str, Recipe] = {}
    # making every job first says what is wrong before anything runs
    cells = list(plan.cells(recipes))
    shards = [
        shard
        for cell in cells
        for group in (*cell.policies.values(), *cell.alone)
        for shard in group
    ]
    store = Store(folder)
    target = None if folder is None else Path(folder)
    facts = {
        **plan.facts,
        **manifest.surroundings(),
        "shards": sorted({shard.name for shard in shards}),
        "made": None,
    }
    if target is not None:
        manifest.save(target, facts)
        sweep(target)
        sweep(target / "shards")
    with progress("comparing") as shown:
        play_all(
            store.missing(shards),
            store.accept,
            shown,
            n_workers=n_workers,
            device=device,
            on=on,
            recipes=recipes,
        )
    facts["made"] = manifest.now()
    with TemporaryDirectory(dir=target, prefix=PARTS) as scratch:
        study = Study(*put_together(cells, store, Path(scratch) if target else None), facts)
        if target is None:
            return study
        write_atomically(
            target / RESULTS, lambda file: study.data.sink_parquet(file, row_group_size=ROW_GROUP)
        )
        for name, frame in study.frames.items():
            write_atomically(target / f"{name}.parquet", frame.write_parquet)
    manifest.save(target, facts)
    return Study.load(target)
