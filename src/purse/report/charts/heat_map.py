"""A heat map: a number for each row and column, by colour and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse.base.optional import extra
from purse.report.charts.base import Figure, Panel

if TYPE_CHECKING:
    import polars as pl

CELL = (34, 18)  # the width and height of a cell
LEAST, MOST = 0.001, 1.0  # what is beyond has the colour of the end
DARK = 0.03  # text on cells with a larger score is white
TEXT_SIZE = 10
ROOM = 220  # for the names of rows and columns


def heat_map(name: str, title: str, data: pl.DataFrame) -> Figure:
    """Draw a `score` from 0 to 1 for each `row` and `column`, in percent, on a logarithmic scale of
    colours; rows and columns keep their order, and a cell without a score stays blank.
    """
    alt = extra("altair")
    import polars as pl

    rows, columns = (data[axis].unique(maintain_order=True).to_list() for axis in ("row", "column"))
    percent = 100 * pl.col("score")
    cells = data.drop_nulls("score").with_columns(
        pl.when(pl.col("score") >= 0.095)
        .then(percent.map_elements("{:.0f}".format, pl.String))
        .otherwise(percent.map_elements("{:z.1f}".format, pl.String))
        .alias("label"),
        # a logarithmic scale has no colour for what is not positive
        pl.col("score").clip(LEAST, MOST).alias("shade"),
    )
    names = {"title": None, "labelLimit": ROOM, "grid": False}
    x_axis, y_axis = alt.Axis(labelAngle=-40, **names), alt.Axis(**names)
    base = alt.Chart(cells).encode(
        x=alt.X("column:N", scale=alt.Scale(domain=columns), axis=x_axis),
        y=alt.Y("row:N", scale=alt.Scale(domain=rows), axis=y_axis),
    )
    scale = alt.Scale(type="log", domain=[LEAST, MOST], scheme="cividis", reverse=True, clamp=True)
    length = CELL[1] * min(len(rows), 12)
    legend = alt.Legend(
        orient="right", format="~%", values=[0.001, 0.01, 0.1, 1], gradientLength=length
    )
    ink = alt.condition(f"datum.score > {DARK}", alt.value("white"), alt.value("black"))
    layers = [
        base.mark_rect().encode(
            color=alt.Color("shade:Q", title="score", scale=scale, legend=legend)
        ),
        base.mark_text(fontSize=TEXT_SIZE).encode(text="label:N", color=ink),
    ]
    size = {"width": CELL[0] * len(columns), "height": CELL[1] * len(rows)}
    chart = alt.layer(*layers, title=alt.Title(title, limit=size["width"] + ROOM), **size)
    return Figure(name, data, [Panel(title, chart)])
