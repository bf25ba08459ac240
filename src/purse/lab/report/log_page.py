"""The replay of a log as one HTML page: estimates with intervals, why some are refused, and what
the log knows of each arm.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from purse.base.files import make_folder, write_atomically, write_text
from purse.base.text import MISSING, format_budget, format_digits, set_minus
from purse.lab.report.charts.estimates import estimates, policies_in
from purse.lab.report.charts.export import write_figure
from purse.lab.report.log_standings import budgets_of, estimate_text, methods_of, quoted, reasons
from purse.lab.report.prose import log_replay
from purse.lab.report.prose.tables import describe_recording, details
from purse.lab.report.shell import describe, inline, render

if TYPE_CHECKING:
    import polars as pl

    from purse.lab.report.data import LogData

CAPTION = (
    "Estimated gain ± half its 95% interval, in brackets the effective sample size; then the "
    "rounds of a game and what it spends. The largest estimate is bold. References are grey: "
    "each arm alone in every round, and what the log itself gained, its rows in their order until "
    "the budget was spent."
)
REFUSED = " Where there is no number, the list says why."
ARMS = (
    "Effective sample size: as many rows of equal weight tell as much. Mean reward and "
    "cost are weighted by 1/probability. The sum of 1/probability "
    "over all rounds is 1 on average where the probabilities are the true ones; the last "
    "column says how many standard errors it is from there."
)


def publish(result: LogData, folder: Path) -> list[Path]:
    """Write the page, its figure as PNG, SVG and CSV, and the table of the arms as CSV; the page
    comes first.
    """
    text, figure = html(result), estimates(result.frame())
    page, figures = make_folder(folder) / "report.html", make_folder(folder / "figures")
    write_text(page, text)
    frames = {"arms.csv": result.arms()}
    if figure is None:
        frames["estimates.csv"] = result.frame()
    for name, frame in frames.items():
        write_atomically(figures / name, frame.write_csv)
    drawn = [] if figure is None else write_figure(figure, figures)
    return [page, *drawn, *(figures / name for name in frames)]


def html(result: LogData) -> str:
    """Return the page."""
    frame = result.frame()
    figure, tables, missing = estimates(frame), estimate_tables(frame), reasons(frame.to_dicts())
    methods, data = methods_of(frame), describe_recording(result.facts.replay)
    shown = figure and describe(figure, "Estimated gain", log_replay.caption(frame))
    return render(
        "log.html",
        result.facts,
        short=log_replay.summary(result.facts, methods),
        findings=log_replay.findings(frame),
        answer_first=True,
        by="policy",
        series=policies_in(frame),
        warnings=result.warnings,
        details=details(result.facts, "simulated games", "Data", data),
        assumptions=[inline(each) for each in log_replay.assumptions(result.facts)],
        notes=result.notes,
        figure=shown and shown | {"wide": True},
        estimates=tables,
        estimates_caption=CAPTION + (REFUSED if missing else ""),
        reasons=missing,
        methods={method: log_replay.METHODS[method] for method in methods},
        arms=arm_table(result.arms()),
        arms_caption=ARMS,
    )


def estimate_tables(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """For each budget a row per player, the largest estimate first, and a column per method."""
    methods = methods_of(frame)
    tables = []
    for budget in budgets_of(frame):
        here = frame.filter(budget=budget)
        rows: list[dict[str, Any]] = []
        for player in quoted(here):
            cells = {row["method"]: row for row in here.filter(policy=player["policy"]).to_dicts()}
            texts = [
                estimate_text(row) + ("" if row["refused"] else f" ({row['ess']:,.0f})")
                for row in cells.values()
            ]
            first = not rows and not player["refused"]
            spent = MISSING if player["spent"] is None else format_digits(player["spent"])
            policy = player["policy"] if player["kind"] == "policy" else None
            rows.append(
                {
                    "policy": policy,
                    "kind": None if policy else "reference",
                    "cells": [player["policy"], *texts, format_digits(player["rounds"]), spent],
                    "best": [1 + methods.index(player["method"])] if first else [],
                }
            )
        size = format_budget(budget)
        names = {"title": f"B = {size}", "label": f"Estimated gain with a budget of {size}"}
        head = ["player", *methods, "rounds", "spent"]
        tables.append({**names, "head": head, "rows": rows})
    return tables


def arm_table(arms: pl.DataFrame) -> dict[str, Any]:
    """Return what the log knows of each arm, as text."""
    rows, costs = [], [name for name in arms.columns if name.startswith("cost")]
    for row in arms.iter_rows(named=True):
        means = [
            MISSING if row[name] is None else format_digits(row[name])
            for name in ("reward", *costs)
        ]
        cells = [row["arm"], f"{row['rows']:,}", f"{row['ess']:,.0f}", *means]
        cells += [f"{row['weight']:.3f}", set_minus(f"{row['doubt']:.1f}")]
        rows.append({"cells": cells, "best": []})
    head = ["arm", "rows", "effective sample size", "mean reward"]
    head += [f"mean {name.replace('_', ' ', 1)}" for name in costs]
    head += ["Σ 1/probability / rounds", "standard errors from 1"]
    return {"title": None, "label": "Arms of the log", "head": head, "rows": rows}
