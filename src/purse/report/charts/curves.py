"""Regret, gain and what was left, against the budget; with one budget, as a row for each policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from purse.base.optional import extra
from purse.report import frames
from purse.report.charts.base import (
    HEIGHT,
    WIDTH,
    Figure,
    Panel,
    names_of,
    policies_of,
    tips,
    worlds_of,
)
from purse.report.charts.lines import dash_lines, draw_curves
from purse.report.charts.rows import rows
from purse.report.charts.style import PERCENT, linear, logarithmic

if TYPE_CHECKING:
    import polars as pl

    from purse.report.data import StudyData

LEAST_PART = 1e-4  # of the budget: an axis does not look closer
REGRET_TIPS = {
    "policy": "policy:N",
    "B": "budget:Q",
    "regret": "regret:Q",
    "from": "low:Q",
    "to": "high:Q",
    "runs": "n_paths:Q",
}
GAIN_TIPS = {
    "policy": "policy:N",
    "B": "budget:Q",
    "gain": "gain:Q",
    "from": "gain_low:Q",
    "to": "gain_high:Q",
    "per_unit_of_budget": "unit_gain:Q",
    "of_the_best_reference": f"part:Q|{PERCENT}",
    "runs": "n_paths:Q",
}
LEFT_TIPS = {
    "policy": "policy:N",
    "B": "budget:Q",
    "left": "left:Q",
    "of_the_budget": f"part:Q|{PERCENT}",
    "runs_that_reached_the_end_of_the_world": "ended:Q",
}


def regret(study: StudyData) -> Figure:
    """Regret on logarithmic axes, with bands of confidence, and dashed the bounds that apply."""
    data, bounds = frames.regret(study), frames.bounds(study).drawn
    policies = policies_of(data)
    if data["budget"].n_unique() == 1:
        return rows(
            "regret", data, ("regret", "low", "high"), "regret", tips(**REGRET_TIPS), bounds
        )
    panels = []
    for world in worlds_of(data):
        here, limits = of_world(data, world), of_world(bounds, world)
        y = logarithmic(
            [*here["shown"], *here["shown_low"], *here["shown_high"], *limits["value"]], "regret"
        )
        above = dash_lines(
            limits,
            "value",
            y,
            policies,
            names_of(bounds),
            tips(theorem="name:N", says="side:N", policy="policy:N", B="budget:Q", value="value:Q"),
        )
        panels.append(
            panel(
                world,
                draw_curves(
                    here,
                    ("shown", "shown_low", "shown_high"),
                    y,
                    policies,
                    tips(**REGRET_TIPS),
                    above,
                ),
            )
        )
    return Figure("regret", data, panels)


def gain(study: StudyData) -> Figure:
    """Gain per unit of the budget, so that budgets can be compared, with the references dashed."""
    data, references = frames.gain(study), frames.references(study)
    policies = policies_of(data)
    if data["budget"].n_unique() == 1:
        return rows(
            "gain",
            data,
            ("gain", "gain_low", "gain_high"),
            "gain",
            tips(**GAIN_TIPS),
            references.rename({"gain": "value"}),
        )
    panels = []
    for world in worlds_of(data):
        here, known = of_world(data, world), of_world(references, world)
        y = linear("gain per unit of budget", zero=True)
        tooltip = tips(
            reference="which:N", B="budget:Q", gain="gain:Q", per_unit_of_budget="unit_gain:Q"
        )
        above = dash_lines(known, "unit_gain", y, policies, names_of(references), tooltip)
        panels.append(
            panel(
                world,
                draw_curves(
                    here,
                    ("unit_gain", "unit_gain_low", "unit_gain_high"),
                    y,
                    policies,
                    tips(**GAIN_TIPS),
                    above,
                ),
            )
        )
    return Figure("gain", data, panels)


def left(study: StudyData) -> Figure:
    """What part of the budget was left."""
    data = frames.left(study)
    policies = policies_of(data)
    if data["budget"].n_unique() == 1:
        return rows(
            "left",
            data,
            ("part", None, None),
            "part of the budget left",
            tips(**LEFT_TIPS),
            format=PERCENT,
        )
    panels = []
    for world in worlds_of(data):
        here = of_world(data, world)
        top = float(here["part"].max() or 0.0)  # type: ignore[arg-type]
        y = linear("part of the budget left", PERCENT, domain=[0, max(LEAST_PART, 1.05 * top)])
        panels.append(
            panel(
                world, draw_curves(here, ("part", None, None), y, policies, tips(**LEFT_TIPS), [])
            )
        )
    return Figure("left", data, panels)


def of_world(frame: pl.DataFrame, world: str) -> pl.DataFrame:
    """A world's part of a frame."""
    import polars as pl

    return frame.filter(pl.col("world") == world)


def panel(world: str, layers: Sequence[Any]) -> Panel:
    """The layers as one panel."""
    return Panel(world, extra("altair").layer(*layers, title=world, width=WIDTH, height=HEIGHT))
