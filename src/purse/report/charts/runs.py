"""How the outcomes of single runs spread: a row for each policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purse.base.optional import extra
from purse.report import frames
from purse.report.charts.base import Figure, policies_of, policy_colour, tips, visible, worlds_of
from purse.report.charts.rows import panel, policy_rows
from purse.report.charts.style import WIDE, either

if TYPE_CHECKING:
    import polars as pl

    from purse.report.data import StudyData


def runs(study: StudyData) -> Figure:
    """Outcomes of single runs at the largest budget: ticks, the middle half as a bar, 5% to 95% as
    a line, the median white.
    """
    import polars as pl

    alt = extra("altair")
    data, single, outcome = frames.runs(study), frames.single_runs(study), study.outcome
    policies = policies_of(study.table())
    tooltip = tips(
        policy="policy:N",
        B="budget:Q",
        median="median:Q",
        middle_half_from="quarter:Q",
        to="three_quarters:Q",
        least="least:Q",
        most="most:Q",
        runs="n_paths:Q",
    )
    panels = []
    for world in worlds_of(data):
        here, sample = (
            data.filter(pl.col("world") == world),
            single.filter(pl.col("world") == world),
        )
        floor = floor_of(here)
        here, sample = (
            part.with_columns(
                pl.selectors.by_name(*frames.QUANTILES, outcome, require_all=False)
                .clip(floor)
                .name.prefix("x_")
            )
            for part in (here, sample)
        )
        x = either([*here["x_least"], *here["x_most"]], f"{outcome} of a run")
        base = alt.Chart(here).encode(y=policy_rows(policies), color=policy_colour(policies))
        ticks = (
            alt.Chart(sample)
            .mark_tick(thickness=1.2, size=18)
            .encode(
                x=alt.X(f"x_{outcome}:Q", **x),
                y=policy_rows(policies),
                color=policy_colour(policies),
            )
        )
        layers = [
            ticks.encode(
                opacity=visible(0.35),
                tooltip=tips(policy="policy:N", run="path:Q", **{outcome: f"{outcome}:Q"}),
            )
        ]
        if here["n_paths"].max() != 1:
            layers += [
                base.mark_rule(strokeWidth=1.6).encode(
                    x=alt.X("x_low:Q", **x), x2="x_high:Q", opacity=visible(), tooltip=tooltip
                ),
                base.mark_bar(size=9).encode(
                    x=alt.X("x_quarter:Q", **x),
                    x2="x_three_quarters:Q",
                    opacity=visible(),
                    tooltip=tooltip,
                ),
                base.mark_tick(thickness=2, size=9).encode(
                    x=alt.X("x_median:Q", **x), color=alt.value("#FFFFFF"), tooltip=tooltip
                ),
            ]
        panels.append(panel(world, layers, len(policies)))
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
