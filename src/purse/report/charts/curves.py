"""Regret, gain and what was left, against the budget; with one budget, as a row for each policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse.report import frames
from purse.report.charts.base import Figure, layered, names_of, policies_of, tips, worlds_of
from purse.report.charts.lines import dash_lines, draw_curves
from purse.report.charts.rows import rows
from purse.report.charts.style import PERCENT, linear, logarithmic

if TYPE_CHECKING:
    from purse.report.data import StudyData

LEAST_PART = 1e-4  # of the budget: an axis does not look closer
WHAT = {"policy": "policy:N", "B": "budget:Q"}
REGRET_TIPS = {**WHAT, "regret": "regret:Q", "from": "low:Q", "to": "high:Q", "runs": "n_paths:Q"}
GAIN_TIPS = {
    **WHAT,
    "gain": "gain:Q",
    "from": "gain_low:Q",
    "to": "gain_high:Q",
    "per_unit_of_budget": "unit_gain:Q",
    "of_the_best_reference": f"part:Q|{PERCENT}",
    "runs": "n_paths:Q",
}
LEFT_TIPS = {
    **WHAT,
    "left": "left:Q",
    "of_the_budget": f"part:Q|{PERCENT}",
    "runs_that_reached_the_end_of_the_world": "ended:Q",
}


def regret(study: StudyData) -> Figure:
    """Regret on logarithmic axes, with bands of confidence, and dashed the bounds that apply."""
    data, bounds = frames.regret(study), frames.bounds(study).drawn
    policies, tooltip = policies_of(data), tips(**REGRET_TIPS)
    if data["budget"].n_unique() == 1:
        return rows("regret", data, ("regret", "low", "high"), "regret", tooltip, bounds)
    says = tips(theorem="name:N", says="side:N", policy="policy:N", B="budget:Q", value="value:Q")
    columns = ("shown", "shown_low", "shown_high")
    panels = []
    for world in worlds_of(data):
        here, limits = data.filter(world=world), bounds.filter(world=world)
        y = logarithmic([*(x for each in columns for x in here[each]), *limits["value"]], "regret")
        above = dash_lines(limits, "value", y, policies, names_of(bounds), says)
        panels.append(layered(world, draw_curves(here, columns, y, policies, tooltip, above)))
    return Figure("regret", data, panels)


def gain(study: StudyData) -> Figure:
    """Gain per unit of the budget, so that budgets can be compared, with the references dashed."""
    data, references = frames.gain(study), frames.references(study)
    policies, tooltip = policies_of(data), tips(**GAIN_TIPS)
    if data["budget"].n_unique() == 1:
        known = references.rename({"gain": "value"})
        return rows("gain", data, ("gain", "gain_low", "gain_high"), "gain", tooltip, known)
    says = tips(reference="which:N", B="budget:Q", gain="gain:Q", per_unit_of_budget="unit_gain:Q")
    columns = ("unit_gain", "unit_gain_low", "unit_gain_high")
    y = linear("gain per unit of budget", zero=True)
    panels = []
    for world in worlds_of(data):
        here, known = data.filter(world=world), references.filter(world=world)
        above = dash_lines(known, "unit_gain", y, policies, names_of(references), says)
        panels.append(layered(world, draw_curves(here, columns, y, policies, tooltip, above)))
    return Figure("gain", data, panels)


def left(study: StudyData) -> Figure:
    """What part of the budget was left."""
    data, title = frames.left(study), "part of the budget left"
    policies, tooltip, columns = policies_of(data), tips(**LEFT_TIPS), ("part", None, None)
    if data["budget"].n_unique() == 1:
        return rows("left", data, columns, title, tooltip, format=PERCENT)
    panels = []
    for world in worlds_of(data):
        here = data.filter(world=world)
        top = float(here["part"].max() or 0.0)  # type: ignore[arg-type]
        y = linear(title, PERCENT, domain=[0, max(LEAST_PART, 1.05 * top)])
        panels.append(layered(world, draw_curves(here, columns, y, policies, tooltip, [])))
    return Figure("left", data, panels)
