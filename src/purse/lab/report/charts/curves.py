"""Regret, gain and what was left, against the budget; with one budget, as a row for each policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse import worlds
from purse.base.text import format_mean, set_minus
from purse.lab.report import frames
from purse.lab.report.charts.base import Figure, layered, names_of, policies_of, tips, worlds_of
from purse.lab.report.charts.coincide import merge_lines
from purse.lab.report.charts.lines import dash_lines, draw_curves
from purse.lab.report.charts.rows import rows
from purse.lab.report.charts.style import PERCENT, digits, linear, logarithmic

if TYPE_CHECKING:
    import polars as pl

    from purse.lab.report.data import StudyData

LEAST_PART = 1e-4  # of the budget: an axis does not look closer
FOUR = ",.4~r"  # digits
WHAT = {"policy": "policy:N", "B": "budget:Q"}
REGRET_TIPS = {**WHAT, "regret": "said:N", "runs": "n_paths:Q"}
GAIN_TIPS = {
    **WHAT,
    "gain": "said:N",
    "per_unit_of_budget": f"unit_gain:Q|{FOUR}",
    "of_the_best_reference": f"part:Q|{PERCENT}",
    "runs": "n_paths:Q",
}
LEFT_TIPS = {
    **WHAT,
    "left": f"left:Q|{FOUR}",
    "of_the_budget": f"part:Q|{PERCENT}",
    "runs_that_reached_the_end_of_the_world": "ended:Q",
}


def regret(study: StudyData) -> Figure:
    """Return regret on logarithmic axes, with bands of confidence, and dashed the bounds that
    apply. Where nobody can learn it is divided by the budget, for there a logarithmic axis shows
    one line.
    """
    data, bounds = frames.regret(study), frames.bounds(study).drawn
    policies, tooltip = policies_of(data), tips(**REGRET_TIPS)
    if data["budget"].n_unique() == 1:
        ends = ("regret", "low", "high")
        return rows("regret", say(data, *ends[::2]), ends, "regret", tooltip, bounds)
    limits = merge_lines(bounds, "value")
    limits = limits.with_columns((limits["value"] / limits["budget"]).alias("unit_value"))
    panels = []
    for world in worlds_of(data):
        here, known = say(data.filter(world=world), "regret", "high"), limits.filter(world=world)
        value, columns = "value", ("shown", "shown_low", "shown_high")
        if worlds.hopeless(study.facts.worlds.get(world, "")):
            value, columns = "unit_value", ("unit_regret", "unit_low", "unit_high")
            y = linear("regret per unit of budget", zero=True)
        else:
            every = (number for column in columns for number in here[column])
            y = logarithmic([*every, *known["value"]], "regret")
        form = f"value:Q|{digits(known['value'])}"
        says = tips(theorem="name:N", says="side:N", policy="policy:N", B="budget:Q", value=form)
        above = dash_lines(known, value, y, policies, names_of(limits), says)
        panels.append(layered(world, draw_curves(here, columns, y, policies, tooltip, above)))
    return Figure("regret", data, panels)


def gain(study: StudyData) -> Figure:
    """Gain per unit of the budget, so that budgets can be compared, with the references dashed."""
    data, references = frames.gain(study), frames.references(study)
    policies, tooltip = policies_of(data), tips(**GAIN_TIPS)
    if data["budget"].n_unique() == 1:
        known = references.rename({"gain": "value"})
        ends = ("gain", "gain_low", "gain_high")
        return rows("gain", say(data, *ends[::2]), ends, "gain", tooltip, known)
    references = merge_lines(references, "gain")
    form = {"gain": f"gain:Q|{digits(references['gain'])}"}
    form["per_unit_of_budget"] = f"unit_gain:Q|{FOUR}"
    says = tips(reference="name:N", which="which:N", B="budget:Q", **form)
    columns = ("unit_gain", "unit_gain_low", "unit_gain_high")
    y = linear("gain per unit of budget", zero=True)
    panels = []
    for world in worlds_of(data):
        here = say(data.filter(world=world), "gain", "gain_high")
        known = references.filter(world=world)
        above = dash_lines(known, "unit_gain", y, policies, names_of(references), says)
        panels.append(layered(world, draw_curves(here, columns, y, policies, tooltip, above)))
    return Figure("gain", data, panels)


def left(study: StudyData) -> Figure | None:
    """Return what part of the budget was left; None where that is so little that a sentence says
    it.
    """
    data, title = frames.left(study), "part of the budget left"
    if not (data["part"] > frames.MUCH_LEFT).any():
        return None
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


def say(data: pl.DataFrame, mean: str, high: str) -> pl.DataFrame:
    """Add what pointing says: the mean with half its interval, as the tables write them."""
    import polars as pl

    ends = data[high].fill_null(float("nan"))
    texts = (set_minus(format_mean(*pair)) for pair in zip(data[mean], ends, strict=True))
    return data.with_columns(pl.Series("said", list(texts), pl.String))
