"""From shards to a study's frames, cell by cell, so that no more than one policy's runs in one cell
need be in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from purse.lab.study import summary
from purse.lab.study.plan import Cell
from purse.lab.study.store import Store
from purse.lab.theory.notions import against_best_fixed_arm
from purse.types import Floats

if TYPE_CHECKING:
    import polars as pl


def assemble(
    cells: Sequence[Cell], store: Store, scratch: Path | None
) -> tuple[pl.LazyFrame, dict[str, pl.DataFrame]]:
    """Return all runs, cell by cell, so that no more than one policy's in one cell need be in
    memory; and the frames made from them.
    """
    import polars as pl

    parts: list[pl.LazyFrame] = []
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in summary.COLUMNS}
    regrets: dict[tuple[str, str], dict[float, Floats]] = defaultdict(dict)
    for cell in cells:
        games = [store.runs(alone) for alone in cell.alone]
        fixed = np.array([runs["gain"].to_numpy() for runs in games])
        here = {"world": cell.label, "budget": cell.budget}
        rows["bounds"] += [
            {**here, **row}
            for row in summary.bound_rows(
                cell.world, cell.budget, list(cell.policies), cell.stop, late=cell.delay.is_late
            )
        ]
        rows["references"] += [
            {**here, **row} for row in summary.reference_rows(cell.world, cell.budget, fixed)
        ]
        rows["arms"] += [
            {**here, **row} for row in summary.arm_rows(cell.world, cell.budget, games)
        ]
        del games
        for policy, shards in cell.policies.items():
            runs = label_runs(store.runs(shards), cell, policy, fixed)
            parts.append(write_part(runs, scratch, len(parts)))
            rows["table"].append({**here, "policy": policy, **summary.table_row(runs)})
            regrets[cell.label, policy][cell.budget] = summary.in_groups(runs["regret"].to_numpy())
            if shards[0].job.checkpoints.left.size:
                traces = [store.get(f"{shard.name}-trace") for shard in shards]
                pulls = np.sum([trace["pulls"].to_numpy() for trace in traces], axis=0)
                rows["shares"] += [
                    {**here, "policy": policy, **row}
                    for row in summary.share_rows(
                        cell.world, traces[0]["fraction"].to_list(), pulls
                    )
                ]
    for (world, policy), found in regrets.items():
        if len(found) > 1:
            rows["growth"].append(
                {
                    "world": world,
                    "policy": policy,
                    **summary.growth_row(list(found), list(found.values())),
                }
            )
    return pl.concat(parts), {name: summary.framed(name, each) for name, each in rows.items()}


def write_part(runs: pl.DataFrame, scratch: Path | None, number: int) -> pl.LazyFrame:
    """Return the runs, to be read later: from a file, where there is a folder for it."""
    import polars as pl

    if scratch is None:
        return runs.lazy()
    path = scratch / f"{number}.parquet"
    runs.write_parquet(path)
    return pl.scan_parquet(path)


def label_runs(runs: pl.DataFrame, cell: Cell, policy: str, fixed: Floats) -> pl.DataFrame:
    """Return the runs of a policy in a cell with what they belong to, and their regret."""
    import polars as pl

    return runs.select(
        pl.lit(cell.label).alias("world"),
        pl.lit(policy).alias("policy"),
        pl.lit(cell.budget).alias("budget"),
        pl.exclude("pulls"),
        pl.col("pulls").arr.to_list(),  # worlds differ in their number of arms
        pl.Series("regret", against_best_fixed_arm(runs["gain"].to_numpy(), fixed)),
    )
