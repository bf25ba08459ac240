"""How much more regret a policy has than the best one, on the same draws: which differences are
beyond chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from purse.lab.theory.estimate import estimate

if TYPE_CHECKING:
    import polars as pl

    from purse.lab.report.data import StudyData


def differences(study: StudyData) -> pl.DataFrame:
    """Return a row for each world, budget and policy: its regret less the least mean regret there,
    path by path, with a 95% interval; `tied` where that interval does not lie above zero. With one
    path only the least is `tied`.
    """
    import polars as pl

    kinds = {"world": pl.String, "budget": pl.Float64, "policy": pl.String, "tied": pl.Boolean}
    numbers = dict.fromkeys(("more", "low", "high"), pl.Float64)
    return pl.DataFrame(list(cell_rows(study)), schema={**kinds, **numbers})


def cell_rows(study: StudyData) -> Iterator[dict[str, Any]]:
    """Yield the rows, cell by cell: no more than the regrets of one cell are in memory."""
    import polars as pl

    for (world, budget), part in study.table().group_by(["world", "budget"], maintain_order=True):
        best = part.sort("regret", maintain_order=True)["policy"][0]
        here = (pl.col("world") == world) & (pl.col("budget") == budget)
        runs = study.lazy().filter(here).select("policy", "path", "regret").collect()
        regrets = {
            policy: runs.filter(policy=policy).sort("path")["regret"].to_numpy()
            for policy in part["policy"]
        }
        for policy, values in regrets.items():
            more = estimate(values - regrets[best])
            tied = policy == best or (len(values) > 1 and not more.low > 0)
            yield {
                "world": world,
                "budget": budget,
                "policy": policy,
                "tied": tied,
                "more": more.mean,
                "low": more.low,
                "high": more.high,
            }
