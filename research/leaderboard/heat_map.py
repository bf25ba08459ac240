"""A heat map: a number for each row and column, by colour and as text, both in percent."""

from __future__ import annotations

from purse.base.optional import alt, pl
from purse.lab.figure import Figure, Panel

_WIDTH = 640  # of all cells together, at most
_WIDEST, _HEIGHT = 46, 20  # of a cell
_LEAST, _MOST = 0.001, 1.0  # what is beyond has the colour of the end
_DARK = 0.036  # text on cells with a larger score is white: either has a contrast of 4.5
_ON_LIGHT, _ON_DARK = "#101010", "#FFFFFF"  # text on a cell, whatever the page is like
_TEXT_SIZE = 11
_ROOM = 230  # for the names of rows and columns
# what the ends of the scale mean
_ENDS = (
    "datum.value < 0.002 ? '0.1%, good' : datum.value == 1 ? '100%, bad' : "
    "format(datum.value, '~%')"
)


def heat_map(name: str, title: str, data: pl.DataFrame) -> Figure:
    """Draw a `score` from 0 to 1 for each `row` and `column`, in percent, on a logarithmic scale of
    colours; rows and columns keep their order, and a cell without a score stays blank.
    """
    rows, columns = (data[axis].unique(maintain_order=True).to_list() for axis in ("row", "column"))
    percent = 100 * pl.col("score")
    cells = data.drop_nulls("score").with_columns(
        pl.when(pl.col("score") >= 0.095)
        .then(percent.map_elements("{:.0f}".format, pl.String))
        .otherwise(percent.map_elements("{:z.1f}".format, pl.String))
        .alias("label"),
        # a logarithmic scale has no colour for what is not positive
        pl.col("score").clip(_LEAST, _MOST).alias("shade"),
    )
    names = {"title": None, "labelLimit": _ROOM, "grid": False}
    x_axis = alt.Axis(labelAngle=-50, labelAlign="left", orient="top", **names)
    base = alt.Chart(cells).encode(
        x=alt.X("column:N", scale=alt.Scale(domain=columns), axis=x_axis),
        y=alt.Y("row:N", scale=alt.Scale(domain=rows), axis=alt.Axis(**names)),
    )
    scale = alt.Scale(
        type="log", domain=[_LEAST, _MOST], scheme="cividis", reverse=True, clamp=True
    )
    legend = alt.Legend(
        orient="bottom",
        direction="horizontal",
        values=[0.001, 0.01, 0.1, 1],
        labelExpr=_ENDS,
        gradientLength=300,
    )
    ink = alt.condition(f"datum.score > {_DARK}", alt.value(_ON_DARK), alt.value(_ON_LIGHT))
    layers = [
        base.mark_rect().encode(
            color=alt.Color("shade:Q", title="regret", scale=scale, legend=legend)
        ),
        base.mark_text(fontSize=_TEXT_SIZE).encode(text="label:N", color=ink),
    ]
    width = min(_WIDEST, _WIDTH // max(len(columns), 1)) * len(columns)
    size = {"width": width, "height": _HEIGHT * len(rows)}
    chart = alt.layer(*layers, title=alt.Title(title, limit=width + _ROOM), **size)
    return Figure(name, data, [Panel(title, chart)])
