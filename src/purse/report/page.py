"""A study as one HTML page that needs nothing else: figures that answer to pointing, the numbers
behind them, and how to run it again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from purse.files import write_text
from purse.report import captions, gainwords, standings, tables, words
from purse.report.charts import Figure, names_of, policies_of, worlds_of
from purse.report.export import figures_of
from purse.report.frames import bounds, references
from purse.report.palette import dashes
from purse.report.panels import described
from purse.report.shell import inline, render

if TYPE_CHECKING:
    from purse.study import Study

ORDER = ("regret", "gain", "left", "shares", "runs", "growth")
# who brings rounds asks what could be had
REPLAY_ORDER = ("gain", "shares", "runs", "left", "regret")


def write_page(study: Study, path: Path) -> Path:
    """Write the report of a study; returns where."""
    write_text(path, html(study))
    return path


def html(study: Study) -> str:
    """The page."""
    table, drawn, replay = study.table(), figures_of(study), "replay" in study.facts
    many = study.facts["n_paths"] > 1
    return render(
        "page.html",
        study.facts,
        short=gainwords.in_short(study) if replay else words.in_short(study),
        findings=gainwords.findings(study)
        if replay
        else {world: words.finding(study, world) for world in worlds_of(table)},
        by="policy",
        series=policies_of(table),
        order=REPLAY_ORDER if replay else ORDER,
        figures={
            figure.name: described(
                figure,
                captions.LABELS[figure.name],
                captions.caption(figure, study),
                dash_keys(figure, study),
            )
            for figure in drawn
        },
        theorems=[]
        if replay and bounds(study).drawn.is_empty()
        else [inline(remark) for remark in words.theorems(study)],
        ended=[inline(remark) for remark in words.ended(study)],
        gains=standings.gains(study) if replay else [],
        gains_caption=standings.CAPTION if many else standings.SINGLE,
        regret_means=words.REGRET if replay else None,
        regrets=tables.regrets(study),
        regrets_caption=tables.CAPTION if many else tables.SINGLE,
        growth=tables.growth(study),
        growth_caption=tables.GROWTH,
    )


def dash_keys(figure: Figure, study: Study) -> list[dict[str, str]]:
    """What the dashes of a figure mean."""
    # there references have rows of their own
    shown = figure.name == "gain" and "replay" not in study.facts
    known = bounds(study).drawn if figure.name == "regret" else references(study) if shown else None
    if known is None:
        return []
    names = names_of(known)
    # there the bound of a policy is a line in its own row
    if figure.name == "regret" and figure.data["budget"].n_unique() == 1:
        known = known.filter(policy=words.EVERY)
    return [
        {"name": name, "dash": " ".join(map(str, dash))}
        for name, dash in zip(names, dashes(names), strict=True)
        if name in known["name"]
    ]
