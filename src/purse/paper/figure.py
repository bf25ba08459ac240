"""Pictures of the paper's page as SVG text."""

from __future__ import annotations

import io

import numpy as np

from purse.paper.finding import Picture
from purse.report.figure import COLOURS, MARKERS, STYLE


def svg(picture: Picture) -> str:
    """The picture as an SVG document."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(6.4 * len(picture.panels), 4.8), layout="constrained")
        for axes, panel in zip(
            figure.subplots(1, len(picture.panels), squeeze=False)[0], picture.panels, strict=True
        ):
            measured = theory = 0
            for curve in panel.curves:
                if curve.theory:
                    axes.plot(
                        curve.x,
                        curve.y,
                        color="#555555",
                        linestyle=("--", ":", "-.")[theory % 3],
                        linewidth=1.3,
                        label=curve.label,
                    )
                    theory += 1
                    continue
                colour, marker = COLOURS[measured % len(COLOURS)], MARKERS[measured % len(MARKERS)]
                axes.plot(
                    curve.x,
                    curve.y,
                    color=colour,
                    marker=marker,
                    markersize=4.5,
                    linewidth=1.6,
                    label=curve.label,
                )
                if curve.low is not None and curve.high is not None:
                    axes.fill_between(
                        curve.x,
                        np.maximum(curve.low, 1e-12),
                        curve.high,
                        color=colour,
                        alpha=0.18,
                        linewidth=0,
                    )
                measured += 1
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_title(panel.title)
            axes.set_xlabel(panel.x_label)
            axes.set_ylabel(panel.y_label)
            axes.grid(alpha=0.25, linewidth=0.5)
            axes.legend(
                frameon=False,
                fontsize=8.5,
                loc="upper center",
                bbox_to_anchor=(0.5, -0.16),
                ncols=2,
            )
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
