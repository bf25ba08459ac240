"""Gain on recorded rounds: a row for each player, policies in their colours and references in grey,
a panel for each budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from purse.base.optional import alt, pl
from purse.base.text import format_budget, plain
from purse.lab.figure import Figure, Panel
from purse.lab.page.charts.base import (
    DASHES,
    LIGHT,
    NEUTRAL,
    PERCENT,
    STEP,
    colours,
    layered,
    linear,
    policies_of,
    policy_colour,
    policy_shape,
    tips,
    visible,
)
from purse.lab.page.charts.lines import ROOM, intervals, points, policy_rows
from purse.lab.replay.log_result import budgets_of, quoted
from purse.lab.study.standings import LP_OF, NOTES

if TYPE_CHECKING:
    from purse.lab.replay.savings_result import SavingsResult
    from purse.lab.study.results import TableStudy

_MOST_ARMS = 8  # that are drawn alone
_TIPS = {
    "player": "player:N",
    "B": "budget:Q",
    "gain": "gain:Q|,.4~r",
    "from": "gain_low:Q|,.4~r",
    "to": "gain_high:Q|,.4~r",
    "of_the_LP_optimum": f"share:Q|{PERCENT}",
    "spent": "spent:Q|,.4~r",
    "pulls": "pulls:Q|,.0f",
}
_LOG_TIPS = {
    "policy": "policy:N",
    "B": "budget:Q",
    "estimate": "estimate:Q",
    "from": "low:Q",
    "to": "high:Q",
    "effective_sample_size": "ess:Q|,.0f",
}

_CURVE_TIPS = {"choice": "choice:N", "spent": "spent:Q|,.4~r", "gain": "gain:Q|,.4~r"}
_CHOICE_TIPS = _CURVE_TIPS | {"from": "gain_low:Q|,.4~r", "to": "gain_high:Q|,.4~r"}


def gain(study: TableStudy) -> Figure:
    """Mean gain with its interval of every policy and reference."""
    data = study.standings().with_columns(pl.col("gain_low", "gain_high").fill_nan(None))
    # what stands in brackets after a reference's name is in the table
    bare = pl.col("player").str.replace(NOTES, "")
    named = pl.when(pl.col("kind") == "arm").then(bare).otherwise("player").alias("player")
    players = data.with_columns(named)
    has_row = pl.col("player").is_in(_players_of(players))
    panels = [
        _panel(players.filter(has_row, budget=budget), budget, policies_of(study.table()))
        for budget in sorted(data["budget"].unique())
    ]
    return Figure("gain", data, panels)


def _players_of(data: pl.DataFrame) -> list[str]:
    """Return the players that have a row: of many arms only those that gain most."""
    arms = (
        data.filter(kind="arm")
        .group_by("player", maintain_order=True)
        .agg(pl.col("gain").max())
        .sort("gain", descending=True, maintain_order=True)
    )
    last = arms["player"].to_list()[_MOST_ARMS:]
    return [player for player in data["player"].unique(maintain_order=True) if player not in last]


def _panel(here: pl.DataFrame, budget: float, policies: Sequence[str]) -> Panel:
    """Return the players with one budget, the largest gain first, as in the table."""
    best = here.sort("gain", descending=True, maintain_order=True)
    order, x = best["player"].to_list(), linear("gain", zero=True)
    axis = alt.Axis(title=None, grid=False, labelLimit=ROOM)
    y = alt.Y("player:N", scale=alt.Scale(domain=order), axis=axis)
    own = here.filter(kind="policy").with_columns(policy="player")
    others = here.filter(pl.col("kind") != "policy")
    layers: list[Any] = [
        alt.Chart(here.filter(pl.col("player").is_in(LP_OF.values())))
        .mark_rule(color=NEUTRAL, strokeDash=DASHES[0], strokeWidth=1.2)
        .encode(x=alt.X("gain:Q", **x))
    ]
    for part, colour, opacity in (
        (others, alt.ColorValue(NEUTRAL), {}),
        (own, policy_colour(policies), {"opacity": visible(0.45)}),
    ):
        if part["gain_low"].is_null().all():
            continue
        rule = alt.Chart(part).mark_rule(strokeWidth=3, **({} if opacity else {"opacity": 0.45}))
        layers.append(
            rule.encode(
                y=y, color=colour, x=alt.X("gain_low:Q", **x), x2=alt.X2("gain_high:Q"), **opacity
            )
        )
    tooltip = tips(**_TIPS)
    played = alt.Chart(others.filter(pl.col("kind") != "bound")).mark_point(
        filled=True, shape="diamond", size=50, color=NEUTRAL, opacity=1
    )
    computed = alt.Chart(others.filter(kind="bound")).mark_tick(
        thickness=3, size=14, color=NEUTRAL, opacity=1
    )
    at = {"y": y, "x": alt.X("gain:Q", **x)}
    layers += [marks.encode(**at, tooltip=tooltip) for marks in (played, computed)]
    chart = alt.Chart(own).encode(y=y, color=policy_colour(policies))
    layers.append(points(chart, "gain", x, policies, tooltip))
    return layered(f"B = {format_budget(budget)}", layers, (STEP - 6) * len(order))


def estimates(frame: pl.DataFrame) -> Figure | None:
    """Estimates with their intervals; None if the log tells nothing."""
    answered = frame.filter(pl.col("refused").is_null())
    if answered.is_empty():
        return None
    panels = [
        _log_panel(frame.filter(budget=budget), budget, policies_in(frame))
        for budget in budgets_of(answered)
    ]
    return Figure("estimates", frame, panels, columns=1)


def savings_points(result: SavingsResult) -> pl.DataFrame:
    """Return a row for each point in the curve of savings: the log, what is named and the default
    policy, with their colours.
    """
    named = plain(result.choice()) if result.answer.kind == "less" else ""
    drawn = (pl.col("kind").is_in(["log", "policy"])) | (pl.col("choice") == named)
    points = result.frame().filter(drawn)
    return points.with_columns(colour=pl.Series([NEUTRAL, *LIGHT[1:]][: len(points)]))


def savings(result: SavingsResult) -> Figure:
    """Draw what money buys, with points on it."""
    curve, points = result.curve(), savings_points(result)
    mark = result.log.currency
    x = linear(f"spent{mark and f' ({mark})'}", zero=True)
    ends = [*curve["low"], *points["gain_high"]]
    y = linear("gain", zero=min(ends) <= 0 or max(ends) > 4 * min(ends))
    line = alt.Chart(curve).encode(x=alt.X("spent:Q", **x))
    band = line.mark_area(color=LIGHT[0], opacity=0.18)
    path = line.mark_line(color=LIGHT[0], strokeWidth=2)
    scale = alt.Scale(domain=points["choice"].to_list(), range=points["colour"].to_list())
    colour = alt.Color("choice:N", scale=scale, legend=alt.Legend(title=None, labelLimit=0))
    touch = line.mark_point(size=320, opacity=0).encode(
        y=alt.Y("gain:Q", **y), tooltip=tips(**_CURVE_TIPS)
    )
    layers = [
        band.encode(y=alt.Y("low:Q", **y), y2=alt.Y2("high:Q")),
        path.encode(y=alt.Y("gain:Q", **y)),
        touch,
        alt.Chart(points)
        .mark_point(filled=True, size=110, opacity=1)
        .encode(
            x=alt.X("spent:Q", **x),
            y=alt.Y("gain:Q", **y),
            color=colour,
            tooltip=tips(**_CHOICE_TIPS),
        ),
    ]
    return Figure("savings", curve, [layered("What money buys", layers)], columns=1)


def policies_in(frame: pl.DataFrame) -> list[str]:
    """Return the policies, in the order in which they were given, without references."""
    return frame.filter(kind="policy")["policy"].unique(maintain_order=True).to_list()


def _log_panel(every: pl.DataFrame, budget: float, policies: Sequence[str]) -> Panel:
    """Return a row for each player, in the order of the table."""
    shown = [row for row in quoted(every) if not row["refused"]]
    here = pl.DataFrame(shown, every.schema)
    players, ends = here["policy"].to_list(), [*here["low"], *here["high"]]
    x = linear("estimated gain", zero=min(ends) <= 0 or max(ends) > 2 * min(ends))
    domain = [*policies, *(player for player in players if player not in policies)]
    shades = [*colours(policies), *[NEUTRAL] * (len(domain) - len(policies))]
    colour = alt.Color("policy:N", scale=alt.Scale(domain=domain, range=shades), legend=None)
    rows = {"y": policy_rows(players), "color": colour}
    chart, own, others = (
        alt.Chart(part).encode(**rows)
        for part in (here, here.filter(kind="policy"), here.filter(pl.col("kind") != "policy"))
    )
    at = {"x": alt.X("estimate:Q", **x), "opacity": visible(), "tooltip": tips(**_LOG_TIPS)}
    layers = [intervals(chart, "low", "high:Q", x)]
    if here.filter(pl.col("kind") != "policy").height:  # a layer without data is a complaint
        marks = others.mark_point(filled=True, shape="diamond", size=40, opacity=1)
        layers.append(marks.encode(**at))
    if here.filter(kind="policy").height:
        marks = own.mark_point(filled=True, size=46, opacity=1)
        layers.append(marks.encode(shape=policy_shape(policies), **at))
    return layered(f"B = {format_budget(budget)}", layers, (STEP - 6) * len(players))
