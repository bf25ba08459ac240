"""The common part of all figures: a figure is panels side by side, one for each world or budget;
every policy has one colour and one shape.

Channels are objects everywhere: of a text or a mapping Altair takes milliseconds to make one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from purse.base import html
from purse.base.optional import alt, pl
from purse.base.text import count
from purse.lab.report.charts.style import CONFIG, NUMBER, colours, dashes, shapes

WIDTH, HEIGHT = 400, 260  # of a panel
STEP = 30  # of a row
# `chosen` are the policies that a reader has picked out; at first the list is empty
CHOSEN = "!length(chosen) || indexof(chosen, datum.policy) >= 0"
FAINT = 0.15
OUTER = ("$schema", "config", "datasets", "usermeta")  # what stands once in a figure


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
        """Return all panels as one Altair chart."""
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
            config=alt.Config(**CONFIG | {"legend": CONFIG["legend"] | self.legend}),
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
            {key: value for key, value in panel.items() if key not in OUTER} for panel in panels
        ]
        return {**around, "concat": inner, "datasets": data}

    def __repr__(self) -> str:
        """Return the figure in a line."""
        panels = count(len(self.panels), "panel")
        return f"<Figure {self.name!r}: {panels}; .chart() is an Altair chart, .data its frame>"

    def _repr_html_(self) -> str:
        """Return the figure as a picture, for notebooks."""
        from purse.lab.report.charts.export import render_svg

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


def layered(title: str, layers: Sequence[Any], height: int = HEIGHT) -> Panel:
    """Return the layers as one panel."""
    return Panel(title, alt.layer(*layers, title=title, width=WIDTH, height=height))


def policy_colour(policies: Sequence[str]) -> Any:
    """Return the colour of a policy."""
    scale = alt.Scale(domain=list(policies), range=colours(policies))
    return alt.Color("policy:N", scale=scale, legend=alt.Legend(title=None))


def policy_shape(policies: Sequence[str]) -> Any:
    """Return the shape of a policy's points."""
    scale = alt.Scale(domain=list(policies), range=shapes(policies))
    return alt.Shape("policy:N", scale=scale, legend=alt.Legend(title=None))


def dash(names: Sequence[str]) -> Any:
    """Return the dash of a theorem or a reference."""
    scale = alt.Scale(domain=list(names), range=dashes(names))
    legend = alt.Legend(title=None, symbolSize=300, symbolStrokeWidth=1.5)
    return alt.StrokeDash("name:N", scale=scale, legend=legend)


def visible(full: float = 1.0) -> Any:
    """Return the opacity of a policy's marks: faint if a reader has picked out others."""
    return alt.OpacityValue(FAINT * full, condition={"test": CHOSEN, "value": full})


def tips(**fields: str) -> list[Any]:
    """Return the tooltip of a point: fields by their titles, numbers in full."""
    shown: list[Any] = []
    for title, what in fields.items():
        column, _, digits = what.partition("|")
        how = {"format": digits or NUMBER} if ":Q" in what else {}
        shown.append(alt.Tooltip(column, title=title.replace("_", " "), **how))
    return shown


def policies_of(table: pl.DataFrame) -> list[str]:
    """Return the policies, in the order in which they were given."""
    return table["policy"].unique(maintain_order=True).to_list()


def worlds_of(table: pl.DataFrame) -> list[str]:
    """Return the worlds, in the order in which they were given."""
    return table["world"].unique(maintain_order=True).to_list()


def names_of(frame: pl.DataFrame) -> list[str]:
    """Return the theorems or references, in the order in which they were given."""
    return frame["name"].unique(maintain_order=True).to_list()
