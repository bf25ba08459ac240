"""Which arms the budget went through: stacked shares of the pulls, a panel for each world and
policy. The budget has a root scale, because learning shows in its first part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purse.base.optional import extra
from purse.lab.report import frames
from purse.lab.report.charts.base import Figure, Panel, policies_of, tips, worlds_of
from purse.lab.report.charts.style import arm_colours

if TYPE_CHECKING:
    import polars as pl

    from purse.lab.report.data import StudyData

WIDTH, HEIGHT = 170, 130
NAMED = 0.14  # the least part of the last slice that has room for the name of its arm


def shares(study: StudyData) -> Figure | None:
    """Return the shares of the arms over the largest budget; None where they were not recorded."""
    alt = extra("altair")
    data = frames.shares(study)
    if data.is_empty():
        return None
    panels = []
    spent = part_axis("budget spent", [0.01, 0.1, 0.5, 1])
    x = alt.X("start:Q", scale=alt.Scale(type="sqrt", domain=[0, 1]), axis=spent)
    shared = part_axis("share of pulls", [0, 0.5, 1])
    y = alt.Y("bottom:Q", scale=alt.Scale(domain=[0, 1]), axis=shared)
    tooltip = tips(
        arm="arm:N", share="share:Q|.1%", budget_from="start:Q|.3~%", to="fraction:Q|.3~%"
    )
    policies = [policy for policy in policies_of(study.table()) if policy in data["policy"]]
    for world in [world for world in worlds_of(study.table()) if world in data["world"]]:
        arms = arms_of(data, world)
        colours = arm_colours(arms, frames.OTHERS, best_of(data, world))
        scale = alt.Scale(domain=arms, range=colours)
        stroke = alt.Stroke("arm:N", scale=scale, legend=None)
        for policy in policies:
            title = alt.Title(policy, subtitle=world, limit=WIDTH)
            here = data.filter(world=world, policy=policy)
            boxes = alt.Chart(here)
            legend = None  # one for a world's row
            if policy == policies[-1]:
                legend = alt.Legend(title="arm", orient="right", columns=1)
            colour = alt.Color("arm:N", scale=scale, legend=legend)
            chart = boxes.mark_rect(strokeWidth=0.5).encode(
                x=x,
                x2=alt.X2("fraction:Q"),
                y=y,
                y2=alt.Y2("top:Q"),
                color=colour,
                stroke=stroke,
                tooltip=tooltip,
            )
            layers = [chart, *arm_names(here, x, y)]
            size = {"width": WIDTH, "height": HEIGHT}
            panels.append(Panel(world, alt.layer(*layers, title=title, **size), policy))
    return Figure("shares", data, panels, columns=len(policies), one_legend=False)


def arm_names(here: pl.DataFrame, x: Any, y: Any) -> list[Any]:
    """Return the names of the arms that have room for them, in the last slice: on a halo, so that
    they can be read on every colour.
    """
    import polars as pl

    alt = extra("altair")
    last = (pl.col("fraction") == pl.col("fraction").max()) & (pl.col("share") >= NAMED)
    middle = ((pl.col("bottom") + pl.col("top")) / 2).alias("bottom")
    named = here.filter(last).with_columns(pl.col("fraction").alias("start"), middle)
    base = alt.Chart(named).encode(x=x, y=y, text=alt.Text("arm:N"))
    how = {"align": "right", "dx": -5, "fontSize": 11, "limit": WIDTH - 20}
    halo = base.mark_text(fill="#FFFFFF", stroke="#FFFFFF", strokeWidth=3, **how)
    return [halo, base.mark_text(**how)]


def best_of(data: pl.DataFrame, world: str) -> str | None:
    """Return the best arm of a world, where it is known."""
    best = data.filter("best", world=world)["arm"]
    return None if best.is_empty() else str(best[0])


def arms_of(data: pl.DataFrame, world: str) -> list[str]:
    """Return the arms of a world from the bottom of the stack to its top."""
    return data.filter(world=world)["arm"].unique(maintain_order=True).to_list()


def part_axis(title: str, values: list[float]) -> Any:
    """Return an axis from nothing to all."""
    return extra("altair").Axis(title=title, values=values, format="%", grid=False)
