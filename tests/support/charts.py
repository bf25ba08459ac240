"""Charts held against the schema of Vega-Lite, which the library does not take the time for."""

from __future__ import annotations

from typing import Any

import altair as alt

from purse.lab.figure import Figure


def checked_spec(figure: Figure) -> dict[str, Any]:
    """Return the figure's chart; Altair raises where the schema forbids it."""
    with alt.data_transformers.enable("default", max_rows=None):
        chart = figure.chart().to_dict(validate=True)
        if "data" in chart:  # Altair writes what all panels share once
            shared = chart.pop("data")
            for panel in chart["concat"]:
                panel["data"] = shared
        assert figure.spec == chart
    return figure.spec
