"""A study as one HTML page that needs nothing else: figures that answer to pointing, the numbers
behind them, and how to run it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from purse.report.charts import areas, curves, rows, runs
from purse.report.charts.base import Figure, names_of, policies_of, worlds_of
from purse.report.charts.style import dashes
from purse.report.frames import bounds, references
from purse.report.prose import captions, optimum, tables
from purse.report.prose import study as study_prose
from purse.report.shell import describe, inline, render

if TYPE_CHECKING:
    import polars as pl

    from purse.report.data import StudyData

ORDER = ("regret", "gain", "left", "shares", "runs", "growth")


def figures_of(study: StudyData) -> list[Figure]:
    """Draw all figures that a study has, in the order of its page."""
    figures = [
        curves.regret(study),
        curves.gain(study),
        curves.left(study),
        areas.shares(study),
        runs.runs(study),
        rows.growth(study),
    ]
    return [figure for figure in figures if figure is not None]


def html(study: StudyData, drawn: Sequence[Figure]) -> str:
    """Write the page of a study with its figures."""
    table, facts = study.table(), study.facts
    keys = {"regret": bound_keys, "gain": reference_keys}
    figures = {}
    for figure in drawn:
        dashed = keys[figure.name](figure, study) if figure.name in keys else []
        text = captions.caption(figure, study)
        figures[figure.name] = describe(figure, captions.LABELS[figure.name], text, dashed)
    return render(
        "page.html",
        facts,
        short=study_prose.summary(study),
        findings={world: study_prose.finding(study, world) for world in worlds_of(table)},
        order=ORDER,
        figures=figures,
        theorems=[inline(remark) for remark in study_prose.theorems(study)],
        ended=[inline(remark) for remark in study_prose.ended(study)],
        details=tables.details(facts, "runs", "Worlds", list(facts.worlds.items())),
        toml=facts.study,
        growth=tables.growth(study),
        growth_caption=tables.GROWTH,
        optimum=list(optimum.optimum_tables(study)),
        optimum_caption=optimum.CAPTION,
        **common_content(study),
    )


def common_content(study: StudyData) -> dict[str, Any]:
    """Give what the page of a study and that of a table's replay share."""
    return {
        "by": "policy",
        "series": policies_of(study.table()),
        "regrets": tables.regrets(study),
        "regrets_caption": tables.CAPTION if study.facts.n_paths > 1 else tables.SINGLE,
    }


def bound_keys(figure: Figure, study: StudyData) -> list[dict[str, str]]:
    """Say what the dashes in the figure of regret mean."""
    known = bounds(study).drawn
    # with one budget the bound of a policy is a line in its own row
    one = figure.data["budget"].n_unique() == 1
    return dash_keys(known, known.filter(policy=study_prose.EVERY) if one else known)


def reference_keys(figure: Figure, study: StudyData) -> list[dict[str, str]]:
    """Say what the dashes in the figure of gain mean."""
    known = references(study)
    return dash_keys(known, known)


def dash_keys(known: pl.DataFrame, dashed: pl.DataFrame) -> list[dict[str, str]]:
    """Give the dash of each name that is drawn dashed; all known names share the dashes."""
    names = names_of(known)
    return [
        {"name": name, "dash": " ".join(map(str, dash))}
        for name, dash in zip(names, dashes(names), strict=True)
        if name in dashed["name"]
    ]
