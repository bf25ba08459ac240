"""The figures of a study: regret, gain and what was left against the budget, which arms the budget
went through, how single runs spread, and how regret grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purse import worlds
from purse.base.optional import alt, pl
from purse.base.text import format_mean, set_minus
from purse.lab.figure import Figure, Panel
from purse.lab.page import frames
from purse.lab.page.charts.base import (
    NEUTRAL,
    PERCENT,
    STEP,
    WIDE,
    arm_colours,
    digits,
    either,
    layered,
    linear,
    logarithmic,
    names_of,
    policies_of,
    policy_colour,
    tips,
    visible,
    worlds_of,
)
from purse.lab.page.charts.lines import (
    dash_lines,
    draw_curves,
    intervals,
    merge_lines,
    points,
    policy_rows,
    rows,
)

if TYPE_CHECKING:
    from purse.lab.study.results import Study

_LEAST_PART = 1e-4  # of the budget: an axis does not look closer
_FOUR = ",.4~r"  # digits
_WHAT = {"policy": "policy:N", "B": "budget:Q"}
_REGRET_TIPS = {**_WHAT, "regret": "said:N", "runs": "n_paths:Q"}
_GAIN_TIPS = {
    **_WHAT,
    "gain": "said:N",
    "per_unit_of_budget": f"unit_gain:Q|{_FOUR}",
    "of_the_best_reference": f"part:Q|{PERCENT}",
    "runs": "n_paths:Q",
}
_LEFT_TIPS = {
    **_WHAT,
    "left": f"left:Q|{_FOUR}",
    "of_the_budget": f"part:Q|{PERCENT}",
    "runs_that_reached_the_end_of_the_world": "ended:Q",
}
_WIDTH, _HEIGHT = 170, 130
_NAMED = 0.14  # the least part of the last slice that has room for the name of its arm
_SHAPES = {0.5: "√B", 1.0: "B"}  # what slopes in a log-log plot mean
_LEAST_SLOPE, _MOST_SLOPE = -0.5, 1.6  # intervals that go further are cut


def regret(study: Study) -> Figure:
    """Return regret on logarithmic axes, with bands of confidence, and the bounds that apply as
    dashed lines. In a world in which no policy can learn, regret is divided by the budget: on a
    logarithmic axis all policies would share one line.
    """
    data, bounds = frames.regret(study), frames.bounds(study).drawn
    policies, tooltip = policies_of(data), tips(**_REGRET_TIPS)
    if data["budget"].n_unique() == 1:
        ends = ("regret", "low", "high")
        return rows("regret", _say(data, *ends[::2]), ends, "regret", tooltip, bounds)
    limits = merge_lines(bounds, "value")
    limits = limits.with_columns((limits["value"] / limits["budget"]).alias("unit_value"))
    panels = []
    for world in worlds_of(data):
        here, lines = _say(data.filter(world=world), "regret", "high"), limits.filter(world=world)
        value, columns = "value", ("shown", "shown_low", "shown_high")
        if worlds.hopeless(study.facts.worlds.get(world, "")):
            value, columns = "unit_value", ("unit_regret", "unit_low", "unit_high")
            y = linear("regret per unit of budget", zero=True)
        else:
            every = (number for column in columns for number in here[column])
            y = logarithmic([*every, *lines["value"]], "regret")
        form = f"value:Q|{digits(lines['value'])}"
        says = tips(theorem="name:N", says="side:N", policy="policy:N", B="budget:Q", value=form)
        above = dash_lines(lines, value, y, policies, names_of(limits), says)
        panels.append(layered(world, draw_curves(here, columns, y, policies, tooltip, above)))
    return Figure("regret", data, panels)


def gain(study: Study) -> Figure:
    """Gain per unit of the budget, so that budgets can be compared, with the references dashed."""
    data, references = frames.gain(study), frames.references(study)
    policies, tooltip = policies_of(data), tips(**_GAIN_TIPS)
    if data["budget"].n_unique() == 1:
        reference = references.rename({"gain": "value"})
        ends = ("gain", "gain_low", "gain_high")
        return rows("gain", _say(data, *ends[::2]), ends, "gain", tooltip, reference)
    references = merge_lines(references, "gain")
    form = {"gain": f"gain:Q|{digits(references['gain'])}"}
    form["per_unit_of_budget"] = f"unit_gain:Q|{_FOUR}"
    says = tips(reference="name:N", which="which:N", B="budget:Q", **form)
    columns = ("unit_gain", "unit_gain_low", "unit_gain_high")
    y = linear("gain per unit of budget", zero=True)
    panels = []
    for world in worlds_of(data):
        here = _say(data.filter(world=world), "gain", "gain_high")
        reference = references.filter(world=world)
        above = dash_lines(reference, "unit_gain", y, policies, names_of(references), says)
        panels.append(layered(world, draw_curves(here, columns, y, policies, tooltip, above)))
    return Figure("gain", data, panels)


def left(study: Study) -> Figure | None:
    """Draw the part of the budget that was left; None if it is little: a sentence says it."""
    data, title = frames.left(study), "part of the budget left"
    if not (data["part"] > frames.MUCH_LEFT).any():
        return None
    policies, tooltip, columns = policies_of(data), tips(**_LEFT_TIPS), ("part", None, None)
    if data["budget"].n_unique() == 1:
        return rows("left", data, columns, title, tooltip, format=PERCENT)
    panels = []
    for world in worlds_of(data):
        here = data.filter(world=world)
        top = float(here["part"].max() or 0.0)  # type: ignore[arg-type]
        y = linear(title, PERCENT, domain=[0, max(_LEAST_PART, 1.05 * top)])
        panels.append(layered(world, draw_curves(here, columns, y, policies, tooltip, [])))
    return Figure("left", data, panels)


def growth(study: Study) -> Figure | None:
    """Return the slopes of log regret against log budget; None if none could be fitted."""
    data = frames.growth(study)
    if data.is_empty() or data["slope"].is_null().all():
        return None
    policies = policies_of(study.table())
    data = data.drop_nulls("slope")
    lowest = min(-0.05, max(data["low"].min() or 0.0, _LEAST_SLOPE), *data["slope"])
    highest = max(1.1, min(data["high"].max() or 1.0, _MOST_SLOPE), *data["slope"])
    x = linear("slope of log regret against log B", domain=[lowest, highest])
    marks = pl.DataFrame({"slope": list(_SHAPES), "shape": list(_SHAPES.values())})
    ends = {"from_": "low:Q|,.3f", "to": "high:Q|,.3f"}
    fit = {"best_fit": "shape:N", "misfit": "misfit:Q|.1%"}
    tooltip = tips(policy="policy:N", slope="slope:Q|,.3f", **ends, **fit)
    guides = alt.Chart(marks).encode(x=alt.X("slope:Q", **x))
    names = guides.mark_text(color=NEUTRAL, baseline="bottom", y=-4, fontSize=12)
    panels = []
    for world in worlds_of(data):
        chart = alt.Chart(data.filter(world=world)).encode(
            y=policy_rows(policies), color=policy_colour(policies)
        )
        layers = [
            guides.mark_rule(color=NEUTRAL, strokeDash=[5, 3]),
            names.encode(text=alt.Text("shape:N")),
            intervals(chart, "low", "high:Q", x, clip=True),
            points(chart, "slope", x, policies, tooltip),
        ]
        panels.append(layered(world, layers, STEP * len(policies)))
    return Figure("growth", data, panels)


def _say(data: pl.DataFrame, mean: str, high: str) -> pl.DataFrame:
    """Add what pointing says: the mean with half its interval, as the tables write them."""
    ends = data[high].fill_null(float("nan"))
    texts = (set_minus(format_mean(*pair)) for pair in zip(data[mean], ends, strict=True))
    return data.with_columns(pl.Series("said", list(texts), pl.String))


def runs(study: Study) -> Figure:
    """Single runs at the largest budget: ticks, the middle half, 5% to 95%, the median."""
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
        cut = shown.clip(_floor_of(here)).name.prefix("x_")
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
            spread = [marks.encode(opacity=visible(), tooltip=tooltip) for marks in (rules, bars)]
            layers += [*spread, medians]
        panels.append(layered(world, layers, STEP * len(policies)))
    return Figure("runs", data, panels)


def _floor_of(spread: pl.DataFrame) -> float:
    """Return the value below which the runs of a world are drawn on the edge. If runs differ by
    orders, it is a third of the least median that is above zero beyond doubt.
    """
    medians = spread.filter(pl.col("low") > 0)["median"].to_list()
    wide = len(medians) > 1 and max(medians) > WIDE * min(medians)
    lowest: float = spread["least"].min()  # type: ignore[assignment]
    return min(medians) / 3 if wide and lowest <= 0 else lowest


def shares(study: Study) -> Figure | None:
    """Return the shares of the arms over the largest budget; None if they were not recorded."""
    data = frames.shares(study)
    if data.is_empty():
        return None
    panels = []
    spent = _part_axis("budget spent", [0.01, 0.1, 0.5, 1])
    x = alt.X("start:Q", scale=alt.Scale(type="sqrt", domain=[0, 1]), axis=spent)
    shared = _part_axis("share of pulls", [0, 0.5, 1])
    y = alt.Y("bottom:Q", scale=alt.Scale(domain=[0, 1]), axis=shared)
    tooltip = tips(
        arm="arm:N", share="share:Q|.1%", budget_from="start:Q|.3~%", to="fraction:Q|.3~%"
    )
    policies = [policy for policy in policies_of(study.table()) if policy in data["policy"]]
    for world in [world for world in worlds_of(study.table()) if world in data["world"]]:
        arms = _arms_of(data, world)
        colours = arm_colours(arms, frames.OTHERS, _best_of(data, world))
        scale = alt.Scale(domain=arms, range=colours)
        stroke = alt.Stroke("arm:N", scale=scale, legend=None)
        for policy in policies:
            title = alt.Title(policy, subtitle=world, limit=_WIDTH)
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
            layers = [chart, *_arm_names(here, x, y)]
            size = {"width": _WIDTH, "height": _HEIGHT}
            panels.append(Panel(world, alt.layer(*layers, title=title, **size), policy))
    return Figure("shares", data, panels, columns=len(policies), one_legend=False)


def _arm_names(here: pl.DataFrame, x: Any, y: Any) -> list[Any]:
    """Return the names of the arms that have room for them in the last slice, on a halo."""
    last = (pl.col("fraction") == pl.col("fraction").max()) & (pl.col("share") >= _NAMED)
    middle = ((pl.col("bottom") + pl.col("top")) / 2).alias("bottom")
    named = here.filter(last).with_columns(pl.col("fraction").alias("start"), middle)
    base = alt.Chart(named).encode(x=x, y=y, text=alt.Text("arm:N"))
    how = {"align": "right", "dx": -5, "fontSize": 11, "limit": _WIDTH - 20}
    halo = base.mark_text(fill="#FFFFFF", stroke="#FFFFFF", strokeWidth=3, **how)
    return [halo, base.mark_text(**how)]


def swatches(data: pl.DataFrame, world: str) -> list[dict[str, str]]:
    """Return the arms of a world with their colours, for the key of a page."""
    arms, best = _arms_of(data, world), _best_of(data, world)
    return [
        {"name": f"{arm} (best alone)" if arm == best else arm, "colour": colour}
        for arm, colour in zip(arms, arm_colours(arms, frames.OTHERS, best), strict=True)
    ]


def _best_of(data: pl.DataFrame, world: str) -> str | None:
    """Return the best arm of a world; None if it is not known."""
    best = data.filter("best", world=world)["arm"]
    return None if best.is_empty() else str(best[0])


def _arms_of(data: pl.DataFrame, world: str) -> list[str]:
    """Return the arms of a world from the bottom of the stack to its top."""
    return data.filter(world=world)["arm"].unique(maintain_order=True).to_list()


def _part_axis(title: str, values: list[float]) -> Any:
    """Return an axis from nothing to all."""
    return alt.Axis(title=title, values=values, format="%", grid=False)
