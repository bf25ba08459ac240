"""`python -m research.evidence.exploration`: what exploration costs, on recorded answers of three
language models (`examples/llm_routing_replay.py`; pip install paretobandit).

Every path meets all 1,824 prompts in another order, under the rules of a campaign: stop rule `fit`,
the default policy, and the exploration of `explore` before it
(`research/evidence/explored_replan.py`).
"""

from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

import purse
from benchmarks.instance import say
from examples import llm_routing_replay
from purse.cli import execute
from purse.lab.data.table import read_table, world_of_table
from research.commands import quick_option

EXPLORED = Path(__file__).parent / "explored_replan.py"
POLICIES = {
    "none": "replan",
    "0.05": f"{EXPLORED}:share=0.05",
    "each arm alike": f"{EXPLORED}:share=0.05,even=1",
}
BUDGETS = (0.3, 3.0)  # dollars
PATHS, QUICK_PATHS = 2_000, 2  # enough to see what happens once in a thousand times


class Row(NamedTuple):
    """The gains of one way to explore with one budget."""

    explore: str
    budget: float
    mean: float  # quality bought
    error: float
    lowest: float  # of all paths
    pulls: tuple[float, ...]  # of each model, on average


def measure(world: purse.lab.World, paths: int) -> list[Row]:
    """Return a row for each budget and way to explore."""
    rows = []
    for budget in BUDGETS:
        for explore, policy in POLICIES.items():
            run = purse.simulate(policy, world, budget, n_paths=paths, seed=1, stop="fit")
            error = float(run.gain.std(ddof=1) / np.sqrt(paths))
            pulls = tuple(run.pulls.mean(axis=0).tolist())
            mean, lowest = float(run.gain.mean()), float(run.gain.min())
            rows.append(Row(explore, budget, mean, error, lowest, pulls))
            say(f"explore={explore}, ${budget:g}")
    return rows


def table(rows: list[Row], arms: tuple[str, ...]) -> Table:
    """Return the rows for people."""
    grid = Table()
    for name in ("budget", "explore", "quality", "standard error", "of none", "lowest", *arms):
        grid.add_column(name, justify="left" if name == "explore" else "right")
    for row in rows:
        whole = next(first for first in rows if first.budget == row.budget)
        grid.add_row(
            f"${row.budget:g}",
            row.explore,
            f"{row.mean:,.1f}",
            f"{row.error:.1f}",
            f"{row.mean / whole.mean:.1%}",
            f"{row.lowest:,.0f}",
            *(f"{count:,.1f}" for count in row.pulls),
        )
    return grid


@click.command()
@click.argument("orders", type=int, default=PATHS)
@quick_option
def main(orders: int, quick: bool) -> None:
    """Print the gains of each way to explore over so many orders of the prompts."""
    data: pl.DataFrame = llm_routing_replay.answers()
    world = world_of_table(read_table(data))
    rows = measure(world, QUICK_PATHS if quick else orders)
    Console(width=140).print(table(rows, world.arms or ()))


if __name__ == "__main__":
    execute(main, "python -m research.evidence.exploration")
