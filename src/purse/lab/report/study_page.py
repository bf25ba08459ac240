"""A study as one HTML page that needs nothing else: figures that answer to pointing, the numbers
behind them, and how to run it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from purse.lab.report.charts import areas, curves, rows, runs
from purse.lab.report.charts.base import Figure, names_of, policies_of, worlds_of
from purse.lab.report.charts.coincide import merge_lines
from purse.lab.report.charts.style import NEUTRAL, colours, dashes
from purse.lab.report.differences import differences
from purse.lab.report.frames import bounds, references
from purse.lab.report.prose import bound_table, captions, optimum, overview, tables
from purse.lab.report.prose import study as study_prose
from purse.lab.report.shell import describe, inline, render

if TYPE_CHECKING:
    import polars as pl

    from purse.lab.report.data import StudyData

ORDER = ("players", "regret", "gain", "left", "shares", "runs", "growth")


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
    table, facts, beside = study.table(), study.facts, differences(study)
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
        findings={world: study_prose.finding(study, world, beside) for world in worlds_of(table)},
        overview=overview.overview(study, beside),
        overview_caption=inline(overview.caption(study)),
        players=[overview.players(study)] if facts.about else [],
        players_caption=inline(overview.PLAYERS),
        arms=list(overview.arm_tables(study)),
        arms_caption=overview.ARMS,
        order=ORDER,
        figures=figures,
        theorems=bound_table.bound_table(study),
        ended=[inline(remark) for remark in study_prose.ended(study)],
        details=tables.details(facts, "runs", "Worlds", list(facts.worlds.items())),
        toml=facts.study,
        growth=tables.growth(study),
        growth_caption=tables.GROWTH,
        optimum=list(optimum.optimum_tables(study)),
        optimum_caption=optimum.CAPTION,
        **common_content(study, beside),
    )


def common_content(study: StudyData, beside: pl.DataFrame | None = None) -> dict[str, Any]:
    """Give what the page of a study and that of a table's replay share; `beside` are the
    `differences` of the study, where they are known already.
    """
    return {
        "by": "policy",
        "series": policies_of(study.table()),
        "regrets": tables.regrets(study, differences(study) if beside is None else beside),
        "regrets_caption": tables.CAPTION if study.facts.n_paths > 1 else tables.SINGLE,
        "left_says": study_prose.left_over(study),
    }


def bound_keys(figure: Figure, study: StudyData) -> list[dict[str, str]]:
    """Say what the dashes in the figure of regret mean."""
    known = bounds(study).drawn
    # with one budget the bound of a policy is a line in its own row
    if figure.data["budget"].n_unique() == 1:
        return dash_keys(known, known.filter(policy=study_prose.EVERY))
    return line_keys(merge_lines(known, "value"), policies_of(figure.data))


def reference_keys(figure: Figure, study: StudyData) -> list[dict[str, str]]:
    """Say what the dashes in the figure of gain mean."""
    known = references(study)
    if figure.data["budget"].n_unique() == 1:
        return dash_keys(known, known)
    return line_keys(merge_lines(known, "gain"), [])


def dash_keys(known: pl.DataFrame, dashed: pl.DataFrame) -> list[dict[str, str]]:
    """Give the dash of each name that is drawn dashed; all known names share the dashes."""
    names = names_of(known)
    return [
        {"name": name, "dash": " ".join(map(str, dash)), "colour": NEUTRAL}
        for name, dash in zip(names, dashes(names), strict=True)
        if name in dashed["name"]
    ]


def line_keys(lines: pl.DataFrame, policies: Sequence[str]) -> list[dict[str, str]]:
    """Give the letter, dash, colour and names of each dashed line, and the policy it is about."""
    names = names_of(lines)
    dash_of = dict(zip(names, dashes(names), strict=True))
    colour_of = dict(zip(policies, colours(policies), strict=True))
    kept = [name for name in ("letter", "name", "policy") if name in lines.columns]
    return [
        {
            **row,
            "name": row["name"].removeprefix(f"{row['letter']} "),
            "dash": " ".join(map(str, dash_of[row["name"]])),
            "colour": colour_of.get(row.get("policy", ""), NEUTRAL),
        }
        for row in lines.select(kept).unique(maintain_order=True).iter_rows(named=True)
    ]
