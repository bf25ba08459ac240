"""Lines over a logarithmic axis: measured curves with points and bands, dashed theorems and
references; with one budget, a row for each policy instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

from purse.base.optional import alt, pl
from purse.base.text import join_words
from purse.lab.figure import Figure
from purse.lab.page.charts.base import (
    NEUTRAL,
    NUMBER,
    STEP,
    budgets,
    dash,
    either,
    layered,
    linear,
    names_of,
    policies_of,
    policy_colour,
    policy_shape,
    tips,
    visible,
    worlds_of,
)

ROOM = 190  # for the names of players
_NEAR = 0.02  # two lines coincide that differ by no more than this part at any budget


def draw_curves(
    data: pl.DataFrame,
    values: tuple[str, str | None, str | None],
    y: dict[str, Any],
    policies: Sequence[str],
    tooltip: list[Any],
    above: list[Any],
    x: tuple[str, dict[str, Any]] | None = None,
) -> list[Any]:
    """Draw a line with points for each policy, hollow if a value lies below the axis, a band
    if there is an interval, and what lies above them; `x` is a column and its axis, if not those
    of the budgets.
    """
    value, low, high = values
    field, axis = x or ("budget", budgets(data["budget"]))
    base = alt.Chart(data).encode(x=alt.X(f"{field}:Q", **axis), color=policy_colour(policies))
    line = base.encode(y=alt.Y(f"{value}:Q", **y))
    at = line.encode(shape=policy_shape(policies))
    layers = []
    if low is not None and data[low].is_not_null().any():
        band = base.mark_area().encode(y=alt.Y(f"{low}:Q", **y), y2=alt.Y2(f"{high}:Q"))
        layers.append(band.encode(opacity=visible(0.18)))
    layers.append(line.mark_line(strokeWidth=2).encode(opacity=visible()))
    below = "below" in data.columns and data["below"].any()
    points = at.transform_filter("!datum.below") if below else at
    layers.append(points.mark_point(filled=True, size=46, opacity=1).encode(opacity=visible()))
    if below:
        hollow = at.transform_filter("datum.below").mark_point(
            fill="#FFFFFF", size=46, strokeWidth=1.6
        )
        layers.append(hollow.encode(opacity=visible()))
    # a finger needs more than a point
    touch = [at.mark_point(filled=True, size=320, opacity=0).encode(tooltip=tooltip)]
    return [*layers, *above, *(touch if tooltip else [])]


def dash_lines(
    data: pl.DataFrame,
    value: str,
    y: dict[str, Any],
    policies: Sequence[str],
    names: Sequence[str],
    tooltip: list[Any],
    x: tuple[str, dict[str, Any]] | None = None,
) -> list[Any]:
    """Draw dashed lines, in the colour of their policy or grey, with their letters at the end."""
    about = pl.col("policy").is_in(list(policies)) if "policy" in data.columns else pl.lit(False)
    layers = []
    colours = policy_colour(policies), alt.ColorValue(NEUTRAL)
    for part, colour in zip((data.filter(about), data.filter(~about)), colours, strict=True):
        if part.height:
            field, axis = x or ("budget", budgets(part["budget"]))
            base = alt.Chart(part).encode(x=alt.X(f"{field}:Q", **axis), y=alt.Y(f"{value}:Q", **y))
            opacity = {"opacity": visible()} if "policy" in part.columns else {}
            how = {
                "color": colour,
                "strokeDash": dash(names),
                "detail": alt.Detail("name:N"),
                **opacity,
            }
            layers.append(base.mark_line(strokeWidth=1.4).encode(**how))
            touch = base.mark_point(filled=True, size=200, opacity=0).encode(tooltip=tooltip)
            layers += [touch] if tooltip else []
            if "letter" in part.columns:
                last = part.filter(pl.col(field) == pl.col(field).max())
                ends = alt.Chart(last).encode(
                    x=alt.X(f"{field}:Q", **axis),
                    y=alt.Y(f"{value}:Q", **y),
                    text=alt.Text("letter:N"),
                )
                letters = ends.mark_text(align="left", dx=5, fontSize=11, fontWeight=600)
                layers.append(letters.encode(color=colour, **opacity))
    return layers


def merge_lines(drawn: pl.DataFrame, value: str) -> pl.DataFrame:
    """Return one line for all of a world that are about the same policy and coincide; the new
    column `letter` tells lines apart that have different names or policies, and `name` becomes the
    letter and all their names.
    """
    about = [name for name in ("policy", "side") if name in drawn.columns]
    parts: list[pl.DataFrame] = []
    for _, part in drawn.group_by(["world", *about], maintain_order=True):
        lines: list[list[pl.DataFrame]] = []
        for _, line in part.group_by(["name"], maintain_order=True):
            same = next((group for group in lines if _coincide(group[0], line, value)), None)
            if same is None:
                lines.append([line])
            else:
                same.append(line)
        for group in lines:
            names = [line["name"][0] for line in group]
            parts.append(group[0].with_columns(name=pl.lit(join_words(names))))
    if not parts:
        return drawn.with_columns(letter=pl.lit("", pl.String))
    merged = pl.concat(parts)
    keys = ["name", *about[:1]]
    order = merged.select(keys).unique(maintain_order=True)
    letters = [ascii_lowercase[index % len(ascii_lowercase)] for index in range(order.height)]
    lettered = merged.join(
        order.with_columns(letter=pl.Series(letters)), keys, maintain_order="left"
    )
    return lettered.with_columns(name=pl.col("letter") + " " + pl.col("name"))


def _coincide(one: pl.DataFrame, two: pl.DataFrame, value: str) -> bool:
    """Return whether two lines have the same budgets, and nearly the same value at each."""
    if one["budget"].to_list() != two["budget"].to_list():
        return False
    pairs = zip(one[value], two[value], strict=True)
    return all(abs(a - b) <= _NEAR * max(abs(a), abs(b)) for a, b in pairs)


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
            layers += _limit_marks(limits_here, x, policies, names_of(limits))
        layers.append(points(chart, value, x, policies, tooltip))
        panels.append(layered(world, layers, STEP * len(policies)))
    return Figure(name, data, panels)


def _limit_marks(
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
    axis = alt.Axis(title=None, grid=False, labelLimit=ROOM)
    return alt.Y("policy:N", scale=scale, axis=axis)


def intervals(chart: Any, low: str, high: str, x: dict[str, Any], **mark: Any) -> Any:
    """Return a thick line from the column `low` to the field `high` in each row."""
    rules = chart.mark_rule(strokeWidth=3, **mark)
    return rules.encode(x=alt.X(f"{low}:Q", **x), x2=alt.X2(high), opacity=visible(0.45))


def points(
    chart: Any, value: str, x: dict[str, Any], series: Sequence[str], tooltip: list[Any]
) -> Any:
    """Return a point in each row, with the shape of its policy."""
    return chart.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X(f"{value}:Q", **x), shape=policy_shape(series), opacity=visible(), tooltip=tooltip
    )
