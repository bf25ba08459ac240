"""Figures: panels side by side, one for each world or budget, and the frame that they show; as
Vega-Lite, as pictures and as files (PNG, SVG and CSV). Equal data give equal files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from purse.base import html
from purse.base.files import make_folder, write_bytes
from purse.base.optional import alt, extra, pl
from purse.base.text import count
from purse.base.validation import choice, number
from purse.errors import invalid

_CONFIG: dict[str, Any] = {
    "background": "#FFFFFF",
    "aria": False,  # the page describes a panel as a whole
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "view": {"stroke": None},
    "concat": {"spacing": 28},
    "text": {"fontSize": 11},
    "title": {"anchor": "start", "fontSize": 14, "subtitleFontSize": 11, "fontWeight": 600,
              "offset": 14, "limit": 360},
    "axis": {"labelFontSize": 11.5, "labelPadding": 6, "titleFontSize": 12,
             "titleFontWeight": "normal", "gridColor": "#E4E8EC", "domain": False},
    "axisX": {"ticks": False, "titlePadding": 8, "labelFlush": True},
    "axisY": {"ticks": False, "labelLimit": 140,
              "titleAngle": 0, "titleAlign": "left", "titleAnchor": "end",
              "titleBaseline": "bottom", "titleX": 0, "titleY": -9},
    "legend": {"orient": "top", "title": None, "titleFontSize": 11, "labelFontSize": 12,
               "labelLimit": 260, "columns": 4, "symbolSize": 70, "symbolOpacity": 1,
               "padding": 6, "offset": 12},
}  # fmt: skip
_OUTER = ("$schema", "config", "datasets", "usermeta")  # what stands once in a figure
_SCALE = 2  # pixels of a PNG per unit of its figure
_DENSE = 300 / 72  # pixels of a PNG per point
_WIDTHS = {"column": 84.0, "page": 174.0}  # mm, of a journal
_KINDS = ("png", "svg", "csv")
_ROOM = 1.2  # times as wide as the renderer's may be the font that a reader has
_SIZE = re.compile(r'(?<=font-size=")[\d.]+')


@dataclass(frozen=True)
class Panel:
    """A part of a figure: a world or a budget, and a policy if it is about one."""

    world: str
    chart: Any  # an Altair chart
    policy: str | None = None


@dataclass(frozen=True)
class Figure:
    """A figure: its panels, and the frame that holds what they show."""

    name: str
    data: pl.DataFrame
    panels: list[Panel]
    columns: int = 2
    one_legend: bool = True
    legend: Mapping[str, Any] = field(default_factory=dict)  # what is not as in other figures

    def chart(self) -> Any:
        """Return all panels as one Altair chart.

        Altair shows it with scripts from the network; the figure itself and `save` need none.
        """
        return self._joined([panel.chart for panel in self.panels])

    def _joined(self, charts: Sequence[Any]) -> Any:
        """Return an Altair chart of this figure with these charts as its panels."""
        own = {}
        if not self.one_legend:
            scale = alt.ScaleResolveMap(color="independent", stroke="independent")
            own["resolve"] = alt.Resolve(scale=scale)
        return alt.concat(
            *charts,
            columns=min(self.columns, len(self.panels)),
            params=[alt.VariableParameter(name="chosen", value=[])],
            config=alt.Config(**_CONFIG | {"legend": _CONFIG["legend"] | self.legend}),
            **own,
        )

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The chart as Vega-Lite, with the data inside. To check it against its schema takes
        longer than to draw it, so the tests do.

        Panels are put together here: Altair copies all that is in them, several times.
        """
        with alt.data_transformers.enable("default", max_rows=None):
            around = self._joined([]).to_dict(validate=False)
            panels = [panel.chart.to_dict(validate=False) for panel in self.panels]
        data = {name: rows for panel in panels for name, rows in panel["datasets"].items()}
        inner = [
            {key: value for key, value in panel.items() if key not in _OUTER} for panel in panels
        ]
        return {**around, "concat": inner, "datasets": data}

    def save(self, path: str | PathLike[str], width: float | str | None = None) -> Path:
        """Write the figure as PDF, PNG or SVG, as the path ends, and return the path.

        width   in millimetres, "column" (84, with one panel beside none) or "page" (174); None: as
                large as on a page of the report

        Raise `InvalidInput` when the ending or the width is none of these, and `MissingExtra` when
        the extra `lab` is not installed.
        """
        target, figure = Path(path), self
        kind = target.suffix.lower()
        if kind not in (".pdf", ".png", ".svg"):
            raise invalid("path", str(path), "must end in .pdf, .png or .svg")
        if isinstance(width, str):
            choice("width", width, tuple(_WIDTHS))
            figure = replace(self, columns=1) if width == "column" else self
            width = _WIDTHS[width]
        svg = render_svg(figure.spec)
        if width is not None:
            svg = _sized(svg, number("width", width, low=10, high=1000), kind)
        draw = extra("vl_convert")
        if kind == ".svg":
            write_bytes(target, svg.encode())
        elif kind == ".pdf":
            write_bytes(target, draw.svg_to_pdf(svg))
        else:
            write_bytes(target, draw.svg_to_png(svg, scale=_SCALE if width is None else _DENSE))
        return target

    def __repr__(self) -> str:
        panels = count(len(self.panels), "panel")
        return f"<Figure {self.name!r}: {panels}; .chart() is an Altair chart, .data its frame>"

    def _repr_html_(self) -> str:
        return html.picture(render_svg(self.spec), self.name)

    @property
    def axes(self) -> dict[str, str]:
        """The titles of the axes, which a page writes once for all panels; empty for one panel."""
        if len(self.panels) == 1:
            return {}
        first = self.spec["concat"][0]
        titles: dict[str, str] = {}
        for layer in first.get("layer", [first]):
            for name in ("x", "y"):
                title = (layer["encoding"].get(name, {}).get("axis") or {}).get("title")
                if title:
                    titles.setdefault(name, title)
        return titles


def write_figures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """Write every figure into a folder, which is made if it is missing; return their paths."""
    make_folder(folder)
    return [path for figure in figures for path in write_figure(figure, folder)]


def write_figure(figure: Figure, folder: Path, kinds: Sequence[str] = _KINDS) -> list[Path]:
    """Write a figure as `name.png`, `name.svg` and `name.csv`, or as some of these."""
    svg = render_svg(figure.spec)
    contents: dict[str, Callable[[], bytes]] = {
        "png": lambda: extra("vl_convert").svg_to_png(svg, scale=_SCALE),
        "svg": svg.encode,
        "csv": lambda: figure.data.write_csv().encode(),
    }
    paths = [folder / f"{figure.name}.{kind}" for kind in kinds]
    for kind, path in zip(kinds, paths, strict=True):
        write_bytes(path, contents[kind]())
    return paths


def render_svg(spec: dict[str, Any]) -> str:
    """Draw a Vega-Lite chart as an SVG document, with room for readers' fonts.

    The renderer measures text in its own font. It gets larger text, and the drawing smaller one.
    """
    svg = str(extra("vl_convert").vegalite_to_svg(_enlarge(spec), vl_version=vega_lite_version()))
    svg = _SIZE.sub(lambda match: f"{float(match[0]) / _ROOM:g}", svg)
    # the renderer counts on from drawing to drawing, and equal charts are to be equal files
    names = dict.fromkeys(re.findall(r'id="((?:gradient_|clip)\d+)"', svg))
    places = {name: f"{name.rstrip('0123456789')}{place}" for place, name in enumerate(names)}
    return re.sub(r'(?<=id="|rl\(#)\w+', lambda match: places.get(match[0], match[0]), svg)


def _sized(svg: str, width: float, kind: str) -> str:
    """Return a drawing that is so wide, mm, in points or, on its own, in millimetres."""
    wide, high = map(float, re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0])
    unit, size = ("mm", width) if kind == ".svg" else ("", width / 25.4 * 72)
    sides = f'width="{size:.6g}{unit}" height="{size * high / wide:.6g}{unit}"'
    return re.sub(r'width="[\d.]+" height="[\d.]+"', sides, svg, count=1)


def _enlarge(part: Any, name: str = "") -> Any:
    """Return a part of a chart with larger text, and larger limits on its width."""
    if isinstance(part, dict):
        return {
            key: value if key == "datasets" else _enlarge(value, key) for key, value in part.items()
        }
    if isinstance(part, list):
        return [_enlarge(item) for item in part]
    return _ROOM * part if name.endswith(("ontSize", "imit")) else part


def vega_lite_version() -> str:
    """Name the version of Vega-Lite that charts are written for, as the renderer does."""
    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
