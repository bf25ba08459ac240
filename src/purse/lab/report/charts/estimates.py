"""The figure of a log's replay: what each policy would have gained, by each method that answers, a
panel for each budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from purse.base.optional import extra
from purse.base.text import format_budget
from purse.lab.report.charts.base import (
    Figure,
    Panel,
    layered,
    policy_shape,
    tips,
    visible,
)
from purse.lab.report.charts.rows import intervals, policy_rows
from purse.lab.report.charts.style import NEUTRAL, colours, linear
from purse.lab.report.log_standings import budgets_of, methods_of, quoted

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
    panels = [
        panel(
            answered.filter(budget=budget), frame.filter(budget=budget), budget, policies_in(frame)
        )
        for budget in budgets_of(answered)
    ]
    return Figure("estimates", frame, panels, columns=1)


def policies_in(frame: pl.DataFrame) -> list[str]:
    """Return the policies, in the order in which they were given, without references."""
    return frame.filter(kind="policy")["policy"].unique(maintain_order=True).to_list()


def panel(here: pl.DataFrame, every: pl.DataFrame, budget: float, policies: Sequence[str]) -> Panel:
    """Return a lane for each method within a row for each player, in the order of the table;
    policies in their colours, references in grey.
    """
    import polars as pl

    alt = extra("altair")
    methods, ends = methods_of(every), [*here["low"], *here["high"]]
    players = [row["policy"] for row in quoted(every) if not row["refused"]]
    x = linear("estimated gain", zero=min(ends) <= 0 or max(ends) > 2 * min(ends))
    lane = alt.YOffset("method:N", scale=alt.Scale(domain=methods))
    domain = [*policies, *(player for player in players if player not in policies)]
    shades = [*colours(policies), *[NEUTRAL] * (len(domain) - len(policies))]
    colour = alt.Color("policy:N", scale=alt.Scale(domain=domain, range=shades), legend=None)
    rows = {"y": policy_rows(players), "yOffset": lane, "color": colour}
    chart, own, others = (
        alt.Chart(part).encode(**rows)
        for part in (here, here.filter(kind="policy"), here.filter(pl.col("kind") != "policy"))
    )
    at = {"x": alt.X("estimate:Q", **x), "opacity": visible(), "tooltip": tips(**TIPS)}
    layers = [intervals(chart, "low", "high:Q", x)]
    if here.filter(pl.col("kind") != "policy").height:  # a layer without data is a complaint
        marks = others.mark_point(filled=True, shape="diamond", size=40, opacity=1)
        layers.append(marks.encode(**at))
    if here.filter(kind="policy").height:
        marks = own.mark_point(filled=True, size=46, opacity=1)
        layers.append(marks.encode(shape=policy_shape(policies), **at))
    height = LANE * len(methods) + BETWEEN
    return layered(f"B = {format_budget(budget)}", layers, height * len(players))
