"""Prompts to serve with a budget in dollars: which policy buys most quality? Replayed on
recorded answers of three language models.

The data are public, in the package paretobandit (Apache-2.0): 1,824 prompts, each with the quality
and the price in US dollars of every model's answer. Run it: python examples/llm_routing_replay.py;
with names of policies it plays those, with "all" every policy that can play it. With "contexts" it
plays policies that know the source of each prompt, and says what that is worth.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import purse
from purse.lab.data.table import read_table, world_of_table

LESS_CAUTION = "primal-dual-bwk:c_rad=0.03"
POLICIES = [
    "replan",
    "primal-dual-bwk",
    LESS_CAUTION,
    "exp3++.prices",
    "omega-ucb",
    "uniform",
]
SEEING = "lin-ucb.price"  # a policy that sees contexts
# dollars; to send every prompt to the cheapest model costs 0.05, to the best one 27.6
BUDGETS = [0.05, 0.1, 0.3, 1, 3, 10, 30]


def records(part: str = "test_holdout") -> list[dict[str, Any]]:
    """Return a record for each prompt, from one of the two files: test_holdout or val. "arms" has
    every model's answer, "source" the collection that the prompt is from.
    """
    package = find_spec("pareto_bandit")
    if package is None or not package.submodule_search_locations:
        print(
            "the data are in a package that is not installed: pip install paretobandit",
            file=sys.stderr,
        )
        raise SystemExit(2)
    file = Path(package.submodule_search_locations[0]) / "data" / "examples" / f"{part}.jsonl"
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def answers(part: str = "test_holdout") -> pl.DataFrame:
    """Return a row for each prompt and model, from one of the two files."""
    return pl.DataFrame(
        [
            {
                "round": number,
                "arm": model.rpartition("/")[2],
                "reward": answer["reward"],
                "cost": answer["cost"],
            }
            for number, record in enumerate(records(part))
            for model, answer in record["arms"].items()
        ]
    )


def one_hot(names: Sequence[str], columns: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the names as rows with a 1 in their column; a name without one has 0 in all."""
    return np.array([[float(name == column) for column in columns] for name in names])


def world_of(
    data: Sequence[dict[str, Any]], features: npt.NDArray[np.float64] | None = None
) -> purse.lab.World:
    """Return the prompts in a random order, each with its features, shape (T, F)."""
    answered = [list(record["arms"].values()) for record in data]
    return purse.worlds.table(
        rewards=[[answer["reward"] for answer in row] for row in answered],
        costs=[[answer["cost"] for answer in row] for row in answered],
        features=features,
        shuffle=True,
        horizon=len(data),
    )


def show_contexts(n_paths: int = 100) -> None:
    """Print the quality bought without contexts and with the source of each prompt."""
    data = records()
    sources = one_hot(
        [record["source"] for record in data],
        sorted({record["source"] for record in records("val")}),  # none of the prompts played
    )
    blind, seeing = world_of(data), world_of(data, sources)
    optima = {
        "LP without contexts": purse.lab.theory.contexts.lp_without_contexts,
        "best linear policy on sources": purse.lab.theory.contexts.best_linear_policy,
    }
    lines = {"quality bought with": [f"${budget:g}" for budget in BUDGETS]}
    for name, optimum in optima.items():
        lines[name] = [f"{optimum(seeing, budget):,.0f}" for budget in BUDGETS]
    for name, world in (("no features", blind), ("sources", seeing)):
        runs = [
            purse.simulate(SEEING, world, budget, n_paths=n_paths, stop="retry")
            for budget in BUDGETS
        ]
        lines[f"{SEEING}, {name}"] = [f"{run.gain.mean():,.0f}" for run in runs]
    for player, cells in lines.items():
        print(f"{player:<48}" + "".join(f"{cell:>12}" for cell in cells))


def playable(data: pl.DataFrame) -> list[str]:
    """Every policy that can play this; of the others, why they cannot. `fixed` is among the
    references.
    """
    world, chosen = world_of_table(read_table(data)), []
    for name in purse.policies.names():
        try:
            purse.simulate(name, world, BUDGETS[0], n_paths=1)
            chosen.append(name)
        except purse.PurseError as error:
            print(f"not played: {error}")
    return [*(name for name in chosen if name != "fixed"), LESS_CAUTION]


def show(rows: pl.DataFrame) -> None:
    """Print the sum of quality that each player bought with each budget."""
    lines = {"quality bought with": [f"${budget:g}" for budget in BUDGETS]}
    for row in rows.sort("budget", maintain_order=True).iter_rows(named=True):
        half = row["gain_high"] - row["gain"]
        lines.setdefault(row["player"], []).append(
            f"{row['gain']:,.0f}" + (f" ± {half:.0f}" if half >= 0.5 else "")
        )
    for player, cells in lines.items():
        print(f"{player:<48}" + "".join(f"{cell:>12}" for cell in cells))


def main() -> None:
    """Play, and print the table."""
    wanted = sys.argv[1:]
    if wanted == ["contexts"]:
        show_contexts()
        return
    data = answers()
    replay = purse.replay(
        data,
        policies=playable(data) if wanted == ["all"] else wanted or POLICIES,
        budgets=BUDGETS,
        n_paths=100,
    )
    show(replay.frame())


if __name__ == "__main__":
    main()
