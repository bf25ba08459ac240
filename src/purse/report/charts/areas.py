"""Which arms the budget went through: stacked shares of the pulls, a panel for each world and
policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purse.base.optional import extra
from purse.report import frames
from purse.report.charts.base import Figure, Panel, policies_of, tips, worlds_of
from purse.report.charts.style import arm_colours

if TYPE_CHECKING:
    import polars as pl

    from purse.report.data import StudyData

WIDTH, HEIGHT = 170, 130


def shares(study: StudyData) -> Figure | None:
    """The shares of the arms over the largest budget; None where they were not recorded."""
    alt = extra("altair")
    data = frames.shares(study)
    if data.is_empty():
        return None
    panels = []
    whole = alt.Scale(domain=[0, 1])
    x = alt.X("start:Q", scale=whole, axis=part_axis("budget spent"))
    y = alt.Y("bottom:Q", scale=whole, axis=part_axis("share of pulls"))
    tooltip = tips(
        arm="arm:N", share="share:Q|.2%", budget_from="start:Q|.3~%", to="fraction:Q|.3~%"
    )
    policies = [policy for policy in policies_of(study.table()) if policy in data["policy"]]
    for world in [world for world in worlds_of(study.table()) if world in data["world"]]:
        arms = arms_of(data, world)
        scale = alt.Scale(domain=arms, range=arm_colours(arms, frames.OTHERS))
        stroke = alt.Stroke("arm:N", scale=scale, legend=None)
        for policy in policies:
            title = alt.Title(policy, subtitle=world, limit=WIDTH)
            here = data.filter(world=world, policy=policy)
            boxes = alt.Chart(here, title=title, width=WIDTH, height=HEIGHT)
            legend = None  # one for a world's row
            if policy == policies[-1]:
                legend = alt.Legend(title="arm", orient="right", columns=1)
            colour = alt.Color("arm:N", scale=scale, legend=legend)
            chart = boxes.mark_rect(strokeWidth=0.5).encode(
                x=x, x2="fraction:Q", y=y, y2="top:Q", color=colour, stroke=stroke, tooltip=tooltip
            )
            panels.append(Panel(world, chart, policy))
    return Figure("shares", data, panels, columns=len(policies), one_legend=False)


def arms_of(data: pl.DataFrame, world: str) -> list[str]:
    """The arms of a world from the bottom of the stack to its top."""
    return data.filter(world=world)["arm"].unique(maintain_order=True).to_list()


def part_axis(title: str) -> Any:
    """An axis from nothing to all."""
    return extra("altair").Axis(title=title, values=[0, 0.5, 1], format="%", grid=False)
