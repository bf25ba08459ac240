"""The captions of figures: what is drawn, and what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse.base.text import format_budget
from purse.lab.replay.table_words import LP_OF
from purse.lab.report import frames
from purse.lab.report.charts.base import Figure
from purse.lab.report.charts.replays import MOST_ARMS

if TYPE_CHECKING:
    from purse.lab.study.results import Study, TableStudy

LABELS = {
    "regret": "Regret against the budget",
    "gain": "Gain against the budget",
    "left": "Part of the budget left",
    "shares": "Share of each arm's pulls over the budget",
    "runs": "Single runs",
    "growth": "Slope of log regret against log budget",
}
SAID = {
    "left": "What the runs had not spent when they ended, on average, as a part of the budget. "
    "What is left earns nothing.",
    "growth": "The slope of a straight line through log regret against log budget, with its 95% "
    "interval (a bootstrap over runs): 0.5 is growth like √B, 1 like B.",
}
UPRIGHT = (
    "Upright lines are bounds from theorems: in the row of the policy that they are about, or "
    "across all rows."
)
DASHED = "Dashed lines are bounds from theorems, in the colour of the policy that they are about."
HOLLOW = (
    "Hollow points at the lower edge are too small for a logarithmic axis, or not above zero; the "
    "table has their values."
)


def caption(figure: Figure, study: Study) -> str:
    """Write the caption of a figure of a study."""
    if figure.name in SAID:
        return SAID[figure.name]
    return " ".join(part for part in PARTS[figure.name](figure, study) if part)


def table_caption(figure: Figure, study: TableStudy) -> str:
    """Write the caption of a figure of a table's replay, where gain is drawn otherwise."""
    if figure.name != "gain":
        return caption(figure, study)
    parts = [
        "Mean gain, a panel for each budget.",
        interval(study, "Lines are"),
        "Grey are the references: diamonds were played, upright marks are computed; "
        f"the dashed line is the {LP_OF[bool(study.facts.replay.features)]}.",
    ]
    if len(study.facts.replay.arms) > MOST_ARMS:
        parts.append(f"Of the arms alone, the {MOST_ARMS} that gain most are drawn.")
    return " ".join(part for part in parts if part)


def regret(figure: Figure, study: Study) -> list[str]:
    """Return what bands, hollow points and dashes are."""
    bounds = frames.bounds(study).drawn
    if figure.data["budget"].n_unique() == 1:
        parts = [f"Mean regret at B = {budget(figure)}.", interval(study, "Lines are")]
        return [*parts, UPRIGHT] if bounds.height else parts
    parts = ["Mean regret against the budget, both axes logarithmic.", interval(study, "Bands are")]
    parts += [DASHED] if bounds.height else []
    return [*parts, HOLLOW] if figure.data["below"].any() else parts


def gain(figure: Figure, study: Study) -> list[str]:
    """Return why gain is divided by the budget."""
    references = "Dashed lines are references." if frames.references(study).height else ""
    if figure.data["budget"].n_unique() == 1:
        return [f"Mean gain at B = {budget(figure)}.", interval(study, "Lines are"), references]
    return [
        "Mean gain for each unit of the budget, so that budgets can be compared.",
        interval(study, "Bands are"),
        references,
    ]


def shares(figure: Figure, study: Study) -> list[str]:
    """Return how to read the areas."""
    parts = [
        f"At {budgets(figure)}: how the pulls were divided among the arms while the "
        "budget was spent, its first unit on the left, its last on the right.",
    ]
    if frames.OTHERS in figure.data["arm"]:
        parts.append(f"The {frames.MOST_ARMS} most pulled arms of a world have their own colour.")
    return parts


def runs(figure: Figure, study: Study) -> list[str]:
    """Return what ticks, bars and lines are."""
    what = study.outcome.capitalize()
    if study.facts.n_paths == 1:
        return [f"{what} of the single run at {budgets(figure)}."]
    crowded = study.facts.n_paths > frames.MOST_RUNS
    many = f"{frames.MOST_RUNS} of them, evenly by rank," if crowded else "each"
    parts = [
        f"{what} of single runs at {budgets(figure)}: {many} as a tick; the bar holds the "
        "middle half, the line 90% of them, the gap in the bar is the median.",
    ]
    if (figure.data["least"] <= 0).any():
        no_gain = f"Where the axis is logarithmic, runs without a positive {study.outcome}"
        parts.append(f"{no_gain} lie on its left edge.")
    return parts


def interval(study: Study, what: str) -> str:
    """Return what the intervals are, if there are any."""
    return f"{what} 95% confidence intervals of the mean." if study.facts.n_paths > 1 else ""


def budget(figure: Figure) -> str:
    """Return the largest budget, in words."""
    return format_budget(figure.data["budget"].max())  # type: ignore[arg-type]


def budgets(figure: Figure) -> str:
    """Return the budget that a figure is about."""
    return (
        f"B = {budget(figure)}" if figure.data["budget"].n_unique() == 1 else "the largest budget"
    )


PARTS = {writer.__name__: writer for writer in (regret, gain, shares, runs)}
