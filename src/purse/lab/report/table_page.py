"""The replay of a full table as one HTML page: who would have spent each budget best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from purse.lab.report import standings
from purse.lab.report.charts import areas, curves, players, runs
from purse.lab.report.charts.base import Figure
from purse.lab.report.frames import bounds
from purse.lab.report.prose import captions, table_replay, tables
from purse.lab.report.prose import study as study_prose
from purse.lab.report.prose.bound_table import bound_table
from purse.lab.report.shell import describe, inline, render
from purse.lab.report.study_page import bound_keys, common_content

if TYPE_CHECKING:
    from purse.lab.report.data import TableData

# who brings rounds asks what could be had
ORDER = ("gain", "shares", "runs", "left", "regret")


def figures_of(study: TableData) -> list[Figure]:
    """Draw all figures that the replay of a table has, in the order of its page."""
    figures = [
        players.gain(study),
        areas.shares(study),
        runs.runs(study),
        curves.left(study),
        curves.regret(study),
    ]
    return [figure for figure in figures if figure is not None]


def html(study: TableData, drawn: Sequence[Figure]) -> str:
    """Write the page of a table's replay with its figures."""
    facts, figures = study.facts, {}
    for figure in drawn:
        dashed = bound_keys(figure, study) if figure.name == "regret" else []
        text = captions.table_caption(figure, study)
        shown = describe(figure, captions.LABELS[figure.name], text, dashed)
        wide = figure.name == "gain" and len(figure.panels) == 1
        figures[figure.name] = shown | {"wide": wide}
    data = tables.describe_recording(facts.replay)
    theorems = None if bounds(study).drawn.is_empty() else bound_table(study)
    return render(
        "page.html",
        facts,
        short=table_replay.summary(study),
        findings=table_replay.findings(study),
        answer_first=True,
        order=ORDER,
        figures=figures,
        theorems=theorems,
        ended=[inline(remark) for remark in table_replay.ended(study)],
        gains=standings.gains(study),
        gains_caption=standings.CAPTION if facts.n_paths > 1 else standings.SINGLE,
        regret_means=study_prose.REGRET,
        details=tables.details(facts, "orders of the rounds", "Data", data),
        toml=facts.study,
        **common_content(study),
    )
