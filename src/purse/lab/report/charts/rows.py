"""A row for each policy: one value with its interval, or the slope of growth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from purse.base.optional import alt, pl
from purse.lab.report.charts.base import (
    STEP,
    Figure,
    dash,
    layered,
    names_of,
    policies_of,
    policy_colour,
    policy_shape,
    tips,
    visible,
    worlds_of,
)
from purse.lab.report.charts.style import NEUTRAL, NUMBER, either, linear


def rows(
    name: str,
    data: pl.DataFrame,
    values: tuple[str, str | None, str | None],
    title: str,
    tooltip: list[Any],
    limits: pl.DataFrame | None = None,
    format: str = NUMBER,
) -> Figure:
    """Return a point with its interval for each policy; `limits` have a `value` each."""
    policies = policies_of(data)
    value, low, high = values
    panels = []
    for world in worlds_of(data):
        here = data.filter(world=world)
        limits_here = None if limits is None else limits.filter(world=world)
        ends = [number for column in values if column is not None for number in here[column]]
        ends += [] if limits_here is None else limits_here["value"].to_list()
        x = either(ends, title) if name == "regret" else linear(title, format, zero=True)
        chart = alt.Chart(here).encode(y=policy_rows(policies), color=policy_colour(policies))
        layers = []
        if low is not None and here[low].is_not_null().any():
            layers.append(intervals(chart, low, f"{high}:Q", x))
        if limits is not None and limits_here is not None:
            layers += limit_marks(limits_here, x, policies, names_of(limits))
        layers.append(points(chart, value, x, policies, tooltip))
        panels.append(layered(world, layers, STEP * len(policies)))
    return Figure(name, data, panels)


def limit_marks(
    limits: pl.DataFrame, axis: dict[str, Any], policies: Sequence[str], names: Sequence[str]
) -> list[Any]:
    """Dashed lines: across the row of the policy that they are about, or across all rows."""
    about = pl.col("policy").is_in(list(policies)) if "policy" in limits.columns else pl.lit(False)
    own, common = limits.filter(about), limits.filter(~about)
    x = alt.X("value:Q", **axis)
    tooltip = tips(line="which:N" if "which" in limits.columns else "name:N", value="value:Q")
    layers = []
    if common.height:
        lines = alt.Chart(common).mark_rule(color=NEUTRAL, strokeWidth=1.4)
        layers.append(lines.encode(x=x, strokeDash=dash(names), tooltip=tooltip))
    if own.height:
        lines = alt.Chart(own).mark_tick(thickness=1.6, size=STEP - 6)
        y, colour = policy_rows(policies), policy_colour(policies)
        layers.append(lines.encode(x=x, y=y, color=colour, opacity=visible(), tooltip=tooltip))
    return layers


def policy_rows(policies: Sequence[str]) -> Any:
    """Return the axis with a row for each policy, in the order in which they were given."""
    scale = alt.Scale(domain=list(policies))
    return alt.Y("policy:N", scale=scale, axis=alt.Axis(title=None, grid=False))


def intervals(chart: Any, low: str, high: str, x: dict[str, Any], **mark: Any) -> Any:
    """Return a thick line from the column `low` to the field `high` in each row."""
    rules = chart.mark_rule(strokeWidth=3, **mark)
    return rules.encode(x=alt.X(f"{low}:Q", **x), x2=alt.X2(high), opacity=visible(0.45))


def points(
    chart: Any,
    value: str,
    x: dict[str, Any],
    series: Sequence[str],
    tooltip: list[Any],
) -> Any:
    """Return a point in each row, with the shape of its policy."""
    return chart.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X(f"{value}:Q", **x),
        shape=policy_shape(series),
        opacity=visible(),
        tooltip=tooltip,
    )
