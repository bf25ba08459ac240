"""The replay of a log as one HTML page: estimates with intervals, why some are refused, and what
the log knows of each arm.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from purse.base.files import make_folder, write_atomically, write_text
from purse.base.text import MISSING, format_budget, format_digits, format_gain, set_minus
from purse.report.charts.estimates import estimates, methods_of
from purse.report.charts.export import write_figure
from purse.report.prose import log_replay
from purse.report.prose.tables import describe_recording, details
from purse.report.shell import describe, inline, render

if TYPE_CHECKING:
    import polars as pl

    from purse.report.data import LogData

CAPTION = (
    "Estimated gain ± half its 95% interval, in brackets the effective sample size; the "
    "largest of each column is bold."
)
REFUSED = " Numbers in square brackets are the reasons below why there is no estimate."
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
    """The page."""
    frame = result.frame()
    figure, (tables, reasons) = estimates(frame), estimate_tables(frame)
    methods, data = methods_of(frame), describe_recording(result.facts.replay)
    shown = figure and describe(figure, "Estimated gain", log_replay.caption(frame))
    return render(
        "log.html",
        result.facts,
        short=log_replay.summary(result.facts),
        findings=log_replay.findings(frame),
        by="method",
        series=methods,
        warnings=result.warnings,
        details=details(result.facts, "simulated games", "Data", data),
        assumptions=[
            inline(each) for each in (*log_replay.assumptions(result.facts), *result.notes)
        ],
        figure=shown,
        estimates=tables,
        estimates_caption=CAPTION + (REFUSED if reasons else ""),
        reasons=reasons,
        methods={method: log_replay.METHODS[method] for method in methods},
        arms=arm_table(result.arms()),
        arms_caption=ARMS,
    )


def estimate_tables(frame: pl.DataFrame) -> tuple[list[dict[str, Any]], list[str]]:
    """For each budget a row per policy and a column per method; and the reasons of refusals, in the
    order of their numbers.
    """
    methods = methods_of(frame)
    reasons = frame["refused"].drop_nulls().unique(maintain_order=True).to_list()
    tables = []
    for budget in sorted(frame["budget"].unique()):
        here = frame.filter(budget=budget)
        most = {method: here.filter(method=method)["estimate"].max() for method in methods}
        rows = []
        for (policy,), part in here.group_by(["policy"], maintain_order=True):
            cells = {row["method"]: row for row in part.iter_rows(named=True)}
            texts = [
                f"[{reasons.index(row['refused']) + 1}]"
                if row["refused"]
                else f"{format_gain(row['estimate'], row['high'])} ({row['ess']:,.0f})"
                for row in cells.values()
            ]
            best = [
                place
                for place, (method, row) in enumerate(cells.items(), 1)
                if not row["refused"] and row["estimate"] == most[method]
            ]
            rows.append({"cells": [policy, *texts], "best": best})
        size = format_budget(budget)
        names = {"title": f"B = {size}", "label": f"Estimated gain with a budget of {size}"}
        tables.append({**names, "head": ["policy", *methods], "rows": rows})
    return tables, reasons


def arm_table(arms: pl.DataFrame) -> dict[str, Any]:
    """What the log knows of each arm, as text."""
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
