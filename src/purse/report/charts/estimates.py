"""The figure of a log's replay: what each policy would have gained, by each method that answers, a
panel for each budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from purse.base.optional import extra
from purse.base.text import format_budget
from purse.report.charts.base import Figure, Panel, layered, policies_of, policy_colour, tips
from purse.report.charts.rows import intervals, points, policy_rows
from purse.report.charts.style import linear

if TYPE_CHECKING:
    import polars as pl

LANE, BETWEEN = 12, 14  # the height of a method's lane, and what keeps policies apart
TIPS = {
    "policy": "policy:N",
    "method": "method:N",
    "B": "budget:Q",
    "estimate": "estimate:Q",
    "from": "low:Q",
    "to": "high:Q",
    "effective_sample_size": "ess:Q|,.0f",
}


def estimates(frame: pl.DataFrame) -> Figure | None:
    """Estimates with their intervals; None where the log tells nothing."""
    import polars as pl

    answered = frame.filter(pl.col("refused").is_null())
    if answered.is_empty():
        return None
    policies, methods = policies_of(frame), methods_of(frame)
    panels = [
        panel(answered.filter(budget=budget), budget, policies, methods)
        for budget in sorted(answered["budget"].unique())
    ]
    return Figure("estimates", frame, panels)


def methods_of(frame: pl.DataFrame) -> list[str]:
    """The methods, in the order in which they were given."""
    return frame["method"].unique(maintain_order=True).to_list()


def panel(
    here: pl.DataFrame, budget: float, policies: Sequence[str], methods: Sequence[str]
) -> Panel:
    """A lane for each method within a row for each policy."""
    alt = extra("altair")
    ends = [*here["low"], *here["high"]]
    x = linear("estimated gain", zero=min(ends) <= 0 or max(ends) > 2 * min(ends))
    lane = alt.YOffset("method:N", scale=alt.Scale(domain=list(methods)))
    chart = alt.Chart(here).encode(
        y=policy_rows(policies), yOffset=lane, color=policy_colour(methods, "method")
    )
    layers = [
        intervals(chart, "low", "high:Q", x, "method"),
        points(chart, "estimate", x, methods, tips(**TIPS), "method", size=46),
    ]
    height = LANE * len(methods) + BETWEEN
    return layered(f"B = {format_budget(budget)}", layers, height * len(policies))
