"""The figure of a comparison: regret against the budget, one panel per world, with confidence bands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from purse.files import write_atomically

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind readers can tell apart, in an order that also differs in lightness
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = "osD^vPX*"
COLUMNS = 2
BANDS = "bands: 95% confidence; hollow: too small to draw, or below zero"
STYLE: dict[Any, Any] = {"svg.hashsalt": "purse", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}


def regret_figure(table: pl.DataFrame, folder: Path, name: str = "regret") -> list[Path]:
    """Draw a study's table; writes `name.png` and `name.svg` and returns their paths."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    worlds = table["world"].unique(maintain_order=True).to_list()
    rows = -(-len(worlds) // COLUMNS)
    with rc_context(STYLE):
        figure = Figure(figsize=(5.2 * min(COLUMNS, len(worlds)), 3.9 * rows), layout="constrained")
        panels = figure.subplots(rows, min(COLUMNS, len(worlds)), squeeze=False).ravel()
        for panel, world in zip(panels, worlds, strict=False):
            draw_panel(panel, world, table)
        for panel in panels[len(worlds) :]:
            panel.set_axis_off()
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=min(5, len(labels)), frameon=False, title=BANDS)
        paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
        for path in paths:
            save(figure, path)
    return paths


def draw_panel(panel: Axes, world: str, table: pl.DataFrame) -> None:
    """The curves of one world, and the lines that growth like B and like sqrt B would be parallel to."""
    import polars as pl

    policies = table["policy"].unique(maintain_order=True).to_list()
    here = table.filter(pl.col("world") == world)
    floor = max(1e-3, float(here.filter(pl.col("regret") > 0)["regret"].min() or 1.0) / 3)  # type: ignore[arg-type]
    for number, policy in enumerate(policies):
        part = here.filter(pl.col("policy") == policy).sort("budget")
        style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
        panel.plot(part["budget"], part["regret"].clip(floor), label=policy, linewidth=1.6, markersize=4.5, **style)
        below = part.filter(pl.col("regret") <= floor)
        panel.plot(below["budget"], below["regret"].clip(floor), linestyle="none", markersize=4.5, markerfacecolor="white", zorder=3, **style)
        panel.fill_between(part["budget"], part["low"].clip(floor), part["high"].clip(floor), color=style["color"], alpha=0.18, linewidth=0)
    panel.set_xscale("log")
    panel.set_yscale("log")
    budgets = here["budget"].unique().sort().to_numpy()
    top = float(here["regret"].max() or 1.0)  # type: ignore[arg-type]
    for power, words in ((1.0, "∝ B"), (0.5, "∝ √B")):
        guide = top * 1.6 * (budgets / budgets[-1]) ** power
        panel.plot(budgets, guide, color="#999999", linewidth=0.8, linestyle=":" if power < 1 else "--", zorder=0)
        panel.annotate(words, (budgets[0], guide[0]), textcoords="offset points", xytext=(-2, 5), color="#777777", fontsize=8, bbox=WHITE, zorder=0)
    panel.set_title(world)
    panel.set_xlabel("budget B")
    panel.set_ylabel("regret against the best fixed arm")
    panel.grid(alpha=0.25, linewidth=0.5)


def save(figure: Any, path: Path) -> None:
    """Write the figure in the format of the file's ending, without the date, so that equal results give equal files."""
    metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    write_atomically(path, lambda file: figure.savefig(file, format=path.suffix[1:], dpi=160, metadata=metadata))
