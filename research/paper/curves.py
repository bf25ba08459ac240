"""Figures of curves over common axes: measured, with points and bands, or dashed theory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from purse.base.optional import alt, pl
from purse.lab.figure import Figure, Panel
from purse.lab.page.charts.base import HEIGHT as PANEL_HEIGHT
from purse.lab.page.charts.base import WIDTH as PANEL_WIDTH
from purse.lab.page.charts.base import logarithmic, names_of, policies_of, visible
from purse.lab.page.charts.lines import dash_lines, draw_curves
from purse.types import Floats

_WIDTH, _HEIGHT = 520, 300  # of a figure of its own
_LEGEND = {"orient": "bottom", "columns": 2, "clipHeight": 16}
_NAME_HEIGHT = 14  # of a name at the end of a line
_MARGIN = 3  # how far below the smallest value a band may reach


class Curve(NamedTuple):
    """A line of a figure: measured, with points and perhaps a band, or grey and dashed."""

    label: str
    x: Sequence[float] | Floats
    y: Sequence[float] | Floats
    low: Sequence[float] | Floats | None = None
    high: Sequence[float] | Floats | None = None
    theory: bool = False


def line_figure(name: str, title: str, axes: tuple[str, str], curves: Sequence[Curve]) -> Figure:
    """Draw curves over common axes, both logarithmic, under the titles of the two axes."""
    floor = min(y for curve in curves for y in curve.y if y > 0) / _MARGIN
    rows = [
        {
            "policy": curve.label,
            "theory": curve.theory,
            "x": float(x),
            "y": float(curve.y[index]),
            "low": None if curve.low is None else max(float(curve.low[index]), floor),
            "high": None if curve.high is None else float(curve.high[index]),
        }
        for curve in curves
        for index, x in enumerate(curve.x)
    ]
    types: dict[str, Any] = {"policy": pl.String, "theory": pl.Boolean}
    data = pl.DataFrame(rows, types | dict.fromkeys(("x", "y", "low", "high"), pl.Float64))
    measured = data.filter(~pl.col("theory"))
    theory = data.filter("theory").rename({"policy": "name"})
    x = ("x", logarithmic(data["x"], axes[0]))
    y = logarithmic([*data["y"], *data["low"], *data["high"]], axes[1])
    above = dash_lines(theory, "y", y, [], names_of(theory), [], x)
    layers = draw_curves(measured, ("y", "low", "high"), y, policies_of(measured), [], above, x)
    chart = alt.layer(*layers, title=title, width=_WIDTH, height=_HEIGHT)
    return Figure(name, data.rename({"policy": "curve"}), [Panel(title, chart)], legend=_LEGEND)


def panel_figure(
    name: str, axes: tuple[str, str], panels: Sequence[tuple[str, Sequence[Curve]]]
) -> Figure:
    """Draw one figure of several panels, each with a title and curves; all have the same policies.

    Panels are as large as those of a study, and share a legend; lines have their names at the end.
    """
    parts = [line_figure(name, title, axes, curves) for title, curves in panels]
    data = pl.concat(
        [
            part.data.with_columns(panel=pl.lit(title))
            for part, (title, _) in zip(parts, panels, strict=True)
        ]
    )
    charts = [
        Panel(
            panel.world,
            alt.layer(*panel.chart.layer, _end_names(part.data), title=panel.world).properties(
                width=PANEL_WIDTH, height=PANEL_HEIGHT
            ),
        )
        for part in parts
        for panel in part.panels
    ]
    return Figure(name, data, charts, columns=2, legend=_LEGEND | {"columns": 4})


def _end_names(data: pl.DataFrame) -> Any:
    """Write the name of each measured line at its end, in its colour, none over another."""
    ends = data.filter(~pl.col("theory")).filter(pl.col("x") == pl.col("x").max()).sort("y")
    values = [*data["y"], *data["low"], *data["high"]]
    drawn = [value for value in values if value is not None and value > 0]
    step = (max(drawn) / min(drawn)) ** (_NAME_HEIGHT / PANEL_HEIGHT)
    at: list[float] = []
    for value in ends["y"]:
        at.append(max(value, at[-1] * step) if at else value)
    room = "\u2003"  # a reader's font may be wider than the one that the picture is made with
    names = ends.with_columns(at=pl.Series(at), policy="curve", name=pl.col("curve") + room)
    return (
        alt.Chart(names)
        .mark_text(align="left", dx=8, fontSize=11)
        .encode(
            x=alt.X("x:Q"),
            y=alt.Y("at:Q"),
            text=alt.Text("name:N"),
            color=alt.Color("policy:N"),
            opacity=visible(),
        )
    )
