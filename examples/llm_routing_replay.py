"""So many prompts to serve with so many dollars: which policy buys most quality? Replayed on
recorded answers of three language models.

The data are public, in the package paretobandit (Apache-2.0): 1,824 prompts, each with the quality
and the price in US dollars of every model's answer. Run it: python examples/llm_routing_replay.py;
with names of policies it plays those, with "all" every policy that can play it.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import polars as pl

import purse
from purse.offline.full_table import read_table, world_of_table
from purse.offline.table_replay import TableReplay, replay_table

LESS_CAUTION = "primal-dual-bwk:c_rad=0.03"
POLICIES = [
    "replan",
    "primal-dual-bwk",
    LESS_CAUTION,
    "exp3++.prices",
    "omega-ucb",
    "uniform",
]
# dollars; to send every prompt to the cheapest model costs 0.05, to the best one 27.6
BUDGETS = [0.05, 0.1, 0.3, 1, 3, 10, 30]


def answers(part: str = "test_holdout") -> pl.DataFrame:
    """A row for each prompt and model, from one of the two files: test_holdout or val."""
    package = find_spec("pareto_bandit")
    if package is None or not package.submodule_search_locations:
        print(
            "the data are in a package that is not installed: pip install paretobandit",
            file=sys.stderr,
        )
        raise SystemExit(2)
    file = Path(package.submodule_search_locations[0]) / "data" / "examples" / f"{part}.jsonl"
    with file.open(encoding="utf-8") as lines:
        return pl.DataFrame(
            [
                {
                    "round": number,
                    "arm": model.rpartition("/")[2],
                    "reward": answer["reward"],
                    "cost": answer["cost"],
                }
                for number, line in enumerate(lines)
                for model, answer in json.loads(line)["arms"].items()
            ]
        )


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


def show(found: TableReplay) -> None:
    """The sum of quality that each player bought with each budget."""
    lines = {"quality bought with": [f"${budget:g}" for budget in BUDGETS]}
    for row in found.frame().sort("budget", maintain_order=True).iter_rows(named=True):
        half = row["gain_high"] - row["gain"]
        lines.setdefault(row["player"], []).append(
            f"{row['gain']:,.0f}" + (f" ± {half:.0f}" if half >= 0.5 else "")
        )
    for player, cells in lines.items():
        print(f"{player:<40}" + "".join(f"{cell:>12}" for cell in cells))


def main() -> None:
    """Play, and print the table."""
    data, wanted = answers(), sys.argv[1:]
    show(
        replay_table(
            data,
            policies=playable(data) if wanted == ["all"] else wanted or POLICIES,
            budgets=BUDGETS,
            n_paths=100,
        )
    )


if __name__ == "__main__":
    main()
