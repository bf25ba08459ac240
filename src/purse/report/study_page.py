"""A study as one HTML page that needs nothing else: figures that answer to pointing, the numbers
behind them, and how to run it again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from purse.base.files import write_text
from purse.report import standings
from purse.report.charts.base import Figure, names_of, policies_of, worlds_of
from purse.report.charts.export import figures_of
from purse.report.charts.palette import dashes
from purse.report.frames import bounds, references
from purse.report.panels import describe
from purse.report.prose import captions, table_replay, tables
from purse.report.prose import study as study_prose
from purse.report.shell import inline, render

if TYPE_CHECKING:
    from purse.report.data import StudyData

ORDER = ("regret", "gain", "left", "shares", "runs", "growth")
# who brings rounds asks what could be had
REPLAY_ORDER = ("gain", "shares", "runs", "left", "regret")


def write_page(study: StudyData, path: Path) -> Path:
    """Write the report of a study; returns where."""
    write_text(path, html(study))
    return path


def html(study: StudyData) -> str:
    """The page."""
    table, drawn, replay = study.table(), figures_of(study), "replay" in study.facts
    many = study.facts["n_paths"] > 1
    return render(
        "page.html",
        study.facts,
        short=table_replay.summary(study) if replay else study_prose.summary(study),
        findings=table_replay.findings(study)
        if replay
        else {world: study_prose.finding(study, world) for world in worlds_of(table)},
        by="policy",
        series=policies_of(table),
        order=REPLAY_ORDER if replay else ORDER,
        figures={
            figure.name: describe(
                figure,
                captions.LABELS[figure.name],
                captions.caption(figure, study),
                dash_keys(figure, study),
            )
            for figure in drawn
        },
        theorems=[]
        if replay and bounds(study).drawn.is_empty()
        else [inline(remark) for remark in study_prose.theorems(study)],
        ended=[inline(remark) for remark in study_prose.ended(study)],
        gains=standings.gains(study) if replay else [],
        gains_caption=standings.CAPTION if many else standings.SINGLE,
        regret_means=study_prose.REGRET if replay else None,
        regrets=tables.regrets(study),
        regrets_caption=tables.CAPTION if many else tables.SINGLE,
        growth=tables.growth(study),
        growth_caption=tables.GROWTH,
    )


def dash_keys(figure: Figure, study: StudyData) -> list[dict[str, str]]:
    """What the dashes of a figure mean."""
    # there references have rows of their own
    shown = figure.name == "gain" and "replay" not in study.facts
    known = bounds(study).drawn if figure.name == "regret" else references(study) if shown else None
    if known is None:
        return []
    names = names_of(known)
    # there the bound of a policy is a line in its own row
    if figure.name == "regret" and figure.data["budget"].n_unique() == 1:
        known = known.filter(policy=study_prose.EVERY)
    return [
        {"name": name, "dash": " ".join(map(str, dash))}
        for name, dash in zip(names, dashes(names), strict=True)
        if name in known["name"]
    ]
