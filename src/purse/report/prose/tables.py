"""The tables of a report, as text in rows: regrets by policy and budget, fitted growth, and what
was run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from purse.report import frames
from purse.report.charts.base import worlds_of
from purse.report.prose.study import counted, measured
from purse.report.standings import money

if TYPE_CHECKING:
    from purse.report.data import StudyData

CAPTION = "Mean regret over the runs ± half its 95% interval; the least of each column is bold."
SINGLE = "Regret of the single run; the least of each column is bold."
GROWTH = ("Slope: of log regret against log budget, none where a mean regret is not positive. Best "
"fit: of a + b f(B) with f one of log B, log² B, √B and B; "
          "misfit is the relative error that remains, root mean square.")  # fmt: skip
# on the page, or not for people
ELSEWHERE = (
    "title",
    "command",
    "study",
    "replay",
    "worlds",
    "policies",
    "budgets",
    "versions",
    "machine",
    "made",
    "shards",
)
PATHS = {"table": "orders of the rounds", "log": "simulated games"}  # what a path is


def regrets(study: StudyData) -> list[dict[str, Any]]:
    """For each world its regrets: a row per policy, a column per budget."""
    tables = []
    for (world,), part in study.table().group_by(["world"], maintain_order=True):
        budgets = sorted(part["budget"].unique())
        least = {budget: part.filter(budget=budget)["regret"].min() for budget in budgets}
        rows = []
        for (policy,), row in part.group_by(["policy"], maintain_order=True):
            cells = {cell["budget"]: cell for cell in row.iter_rows(named=True)}
            best = [
                place
                for place, budget in enumerate(budgets, 1)
                if budget in cells and cells[budget]["regret"] == least[budget]
            ]
            texts = [measured(cells[budget]) if budget in cells else "—" for budget in budgets]
            rows.append({"policy": policy, "cells": [policy, *texts], "best": best})
        tables.append(
            {
                "title": world,
                "label": f"Regret in {world}",
                "head": ["policy", *(f"B = {money(budget)}" for budget in budgets)],
                "rows": rows,
            }
        )
    return tables


def growth(study: StudyData) -> dict[str, Any] | None:
    """The fitted slopes and shapes; None where there is one budget."""
    fitted = frames.growth(study)
    if fitted.is_empty():
        return None
    several = len(worlds_of(fitted)) > 1
    rows = []
    for row in fitted.iter_rows(named=True):
        slope = "—" if row["slope"] is None else f"{row['slope']:.2f}"
        ends = (
            "—"
            if row["slope"] is None or row["low"] is None
            else f"{row['low']:.2f} to {row['high']:.2f}"
        )
        misfit = "—" if row["misfit"] is None else f"{100 * row['misfit']:,.1f}%"
        rows.append(
            {
                "policy": row["policy"],
                "cells": [
                    *([row["world"]] if several else []),
                    row["policy"],
                    slope,
                    ends,
                    row["shape"] or "—",
                    misfit,
                ],
                "best": [],
            }
        )
    return {
        "caption": None,
        "head": [
            *(["world"] if several else []),
            "policy",
            "slope",
            "95% interval",
            "best fit",
            "misfit",
        ],
        "rows": rows,
        "worded": several,
    }


def details(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was run, by name: worlds in full or the recorded data, options, versions and the
    machine.
    """
    replay = facts.get("replay")
    options = {
        name: value for name, value in facts.items() if name not in ELSEWHERE and value is not None
    }
    names = {"n_paths": "runs" if replay is None else PATHS[replay["kind"]], "stop": "stop rule"}
    run = [
        ("policies", ", ".join(facts["policies"])),
        ("budgets", "; ".join(map(money, facts["budgets"]))),
    ]
    run += [
        (names.get(name, name), f"{value:,}" if isinstance(value, int) else str(value))
        for name, value in options.items()
    ]
    lists = [
        ("Worlds", list(facts["worlds"].items())) if replay is None else ("Data", data(replay)),
        ("Policies and options", run),
        (
            "Versions and machine",
            [
                (name, str(value))
                for name, value in (*facts["versions"].items(), *facts["machine"].items())
            ],
        ),
    ]
    return [{"title": title, "entries": entries} for title, entries in lists if entries]


def data(replay: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The recorded rounds, by name."""
    horizon = "none" if replay["horizon"] is None else counted(replay["horizon"], "round")
    return [
        (replay["kind"], replay["data"]),
        ("rounds", f"{replay['rounds']:,}"),
        ("arms", ", ".join(replay["arms"])),
        ("horizon", horizon),
    ]
