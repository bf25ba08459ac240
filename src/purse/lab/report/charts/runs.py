"""How the outcomes of single runs spread: a row for each policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse.base.optional import extra
from purse.lab.report import frames
from purse.lab.report.charts.base import (
    STEP,
    Figure,
    layered,
    policies_of,
    policy_colour,
    tips,
    visible,
    worlds_of,
)
from purse.lab.report.charts.rows import policy_rows
from purse.lab.report.charts.style import WIDE, digits, either

if TYPE_CHECKING:
    import polars as pl

    from purse.lab.report.data import StudyData


def runs(study: StudyData) -> Figure:
    """Outcomes of single runs at the largest budget: ticks, the middle half as a bar, 5% to 95% as
    a line, the median white.
    """
    import polars as pl

    alt = extra("altair")
    data, single, outcome = frames.runs(study), frames.single_runs(study), study.outcome
    policies = policies_of(study.table())
    panels = []
    for world in worlds_of(data):
        here, sample = data.filter(world=world), single.filter(world=world)
        form = digits([*here["least"], *here["most"]])
        tooltip = tips(
            policy="policy:N",
            B="budget:Q",
            median=f"median:Q|{form}",
            middle_half_from=f"quarter:Q|{form}",
            to=f"three_quarters:Q|{form}",
            least=f"least:Q|{form}",
            most=f"most:Q|{form}",
            runs="n_paths:Q",
        )
        one = tips(policy="policy:N", run="path:Q", **{outcome: f"{outcome}:Q|{form}"})
        shown = pl.selectors.by_name(*frames.QUANTILES, outcome, require_all=False)
        cut = shown.clip(floor_of(here)).name.prefix("x_")
        here, sample = here.with_columns(cut), sample.with_columns(cut)
        x = either([*here["x_least"], *here["x_most"]], f"{outcome} of a run")
        base, ticks = (
            alt.Chart(part).encode(y=policy_rows(policies), color=policy_colour(policies))
            for part in (here, sample)
        )
        ticks = ticks.mark_tick(thickness=1.2, size=18).encode(x=alt.X(f"x_{outcome}:Q", **x))
        layers = [ticks.encode(opacity=visible(0.35), tooltip=one)]
        if here["n_paths"].max() != 1:
            rules = base.mark_rule(strokeWidth=1.6).encode(
                x=alt.X("x_low:Q", **x), x2=alt.X2("x_high:Q")
            )
            bars = base.mark_bar(size=9).encode(
                x=alt.X("x_quarter:Q", **x), x2=alt.X2("x_three_quarters:Q")
            )
            medians = base.mark_tick(thickness=2, size=9).encode(
                x=alt.X("x_median:Q", **x), color=alt.ColorValue("#FFFFFF"), tooltip=tooltip
            )
            spread = [each.encode(opacity=visible(), tooltip=tooltip) for each in (rules, bars)]
            layers += [*spread, medians]
        panels.append(layered(world, layers, STEP * len(policies)))
    return Figure("runs", data, panels)


def floor_of(spread: pl.DataFrame) -> float:
    """Below which the runs of a world are drawn on the edge, where they differ by orders: a third
    of the least median that is above zero beyond doubt.
    """
    import polars as pl

    medians = spread.filter(pl.col("low") > 0)["median"].to_list()
    wide = len(medians) > 1 and max(medians) > WIDE * min(medians)
    least: float = spread["least"].min()  # type: ignore[assignment]
    return min(medians) / 3 if wide and least <= 0 else least
