"""The content of the page of a log's replay: estimates with intervals, why some are refused, and
what the log knows of each arm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from purse.base.optional import pl
from purse.base.text import MISSING, format_budget, format_digits, set_minus
from purse.lab.replay.log_words import budgets_of, estimate_text, methods_of, quoted, reasons
from purse.lab.report.charts.base import Figure
from purse.lab.report.charts.replays import estimates, policies_in
from purse.lab.report.prose import replays as prose
from purse.lab.report.prose.tables import describe_recording, details
from purse.lab.report.shell import Content, Part, Section, describe, inline

if TYPE_CHECKING:
    from purse.lab.replay.log_result import LogResult

_CAPTION = (
    "Estimated gain ± half its 95% interval, in brackets the effective sample size; then the "
    "rounds of a game and what it spends. The largest estimate is bold. References are grey: "
    "each arm alone in every round, and what the log itself gained, its rows in their order until "
    "the budget was spent."
)
_REFUSED = " Where there is no number, the list says why."
_ARMS = (
    "Effective sample size: as many rows of equal weight tell as much. Mean reward and "
    "cost are weighted by 1/probability. The sum of 1/probability "
    "over all rounds is 1 on average where the probabilities are the true ones; the last "
    "column says how many standard errors it is from there."
)


def figures_of(result: LogResult) -> list[Figure]:
    """Draw the estimates; the list is empty if the log tells nothing."""
    figure = estimates(result.frame())
    return [] if figure is None else [figure]


def content(result: LogResult, drawn: Sequence[Figure]) -> Content:
    """Return what the page holds."""
    frame, facts = result.frame(), result.facts
    missing, methods = reasons(frame.to_dicts()), methods_of(frame)
    gains: list[Part] = []
    for figure in drawn:
        shown = describe(figure, "Estimated gain", prose.log_caption(frame))
        gains.append(("figure", shown | {"wide": True}))
    gains.append(("h3", "The numbers"))
    gains += [("table", table) for table in _estimate_tables(frame)]
    gains.append(("caption", _CAPTION + (_REFUSED if missing else "")))
    if missing:
        gains += [("h4", "Why some are missing"), ("lines", missing)]
    explained = {method: prose.METHODS[method] for method in methods}
    gains += [("h3", "The methods"), ("terms", explained)]
    arms: list[Part] = [("table", _arm_table(result.arms())), ("caption", _ARMS)]
    assumptions = [inline(line) for line in prose.assumptions(facts)]
    remarks: list[Part] = [("h3", "What this rests on"), ("lines", assumptions)]
    remarks += about_data(result.notes)
    return Content(
        prose.log_summary(facts, methods),
        result.findings(),
        policies_in(frame),
        [
            Section("gain", "Estimated gain", gains),
            Section("arms", "What the log knows of each arm", arms),
        ],
        details(facts, "simulated games", "Data", describe_recording(facts.replay)),
        remarks=remarks,
        warnings=result.warnings,
        contents=False,
    )


def about_data(notes: Sequence[str]) -> list[Part]:
    """Return what was taken for what when the data were read."""
    return [("h3", "About the data"), ("lines", notes)] if notes else []


def _estimate_tables(frame: pl.DataFrame) -> list[dict[str, Any]]:
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


def _arm_table(arms: pl.DataFrame) -> dict[str, Any]:
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
