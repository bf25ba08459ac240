"""The pictures of the concepts page, drawn from real games, and those of the page on contexts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from context_pictures import draw_digits, draw_prompts

import purse
from purse.base.files import write_text
from purse.engine.draws import draws
from purse.lab.figure import Figure, Panel, render_svg
from purse.lab.page.charts.base import LIGHT, NEUTRAL, linear, themed

WORLD = "bernoulli:rewards=[.42,.5,.4],costs=[.3,.5,.6]"
RANDOM_COSTS = "two_point:rewards=[.6,.5,.3],costs=[.7,.4,.3],cost_min=.2"
FIVE = "bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]"
BUDGET = 20.0


def draw(folder: Path) -> None:
    """Draw all pictures into the folder."""
    folder.mkdir(exist_ok=True)
    figures = (the_game(), stop_rules(), efficiency(), regret(), draw_digits(), draw_prompts())
    for figure in figures:
        write_text(folder / f"{figure.name}.svg", themed(render_svg(figure.spec)))


def play(policy: str, budget: float, seed: int = 0) -> list[tuple[int, float, float, float]]:
    """Return a live game on the world: for each round the arm, its cost, what is left after it, and
    what was held for it.
    """
    world = purse.worlds.make(RANDOM_COSTS, budget)
    player = purse.Policy(policy, n_arms=3, budget=budget, cost_min=0.2, cost_max=1, seed=seed)
    rewards, costs = draws(world, 200, seed=seed)
    pulls: list[tuple[int, float, float, float]] = []
    while True:
        try:
            ticket = player.ask()
        except purse.AskRefused:
            return pulls
        cost = costs[ticket.t - 1, ticket.arm, 0] / 1e9
        if not player.tell(ticket, float(rewards[ticket.t - 1, ticket.arm]), cost):
            return pulls
        pulls.append((ticket.arm, cost, player.left, ticket.held))


def the_game() -> Figure:
    """Draw the rest of a budget, pull by pull."""
    pulls = [
        {"arm": f"arm {arm}", "start": t - 0.4, "end": t + 0.4, "left": left, "before": left + cost}
        for t, (arm, cost, left, _) in enumerate(play("exp3++.price", BUDGET), 1)
    ]
    data = pl.DataFrame(pulls)
    steps = pl.DataFrame(
        {
            "round": [0.5, *(t + 0.5 for t in range(1, len(pulls) + 1))],
            "left": [BUDGET, *data["left"]],
        }
    )
    rounds, left = linear("round t", nice=False), linear("budget left", domain=[0, BUDGET])
    bars = (
        alt.Chart(data)
        .mark_rect()
        .encode(
            x=alt.X("start:Q", **rounds),
            x2="end:Q",
            y=alt.Y("left:Q", **left),
            y2="before:Q",
            color=colour("arm", sorted(set(data["arm"]))),
        )
    )
    line = (
        alt.Chart(steps)
        .mark_line(interpolate="step-after", color=NEUTRAL, strokeWidth=1)
        .encode(x=alt.X("round:Q", **rounds), y=alt.Y("left:Q", **left))
    )
    return one_panel("the-game", data, [bars, line], "A pull costs 0.2 or 1", (620, 240))


def stop_rules() -> Figure:
    """Return the end of the same game under the three rules."""
    games, panels = [], []
    for rule in ("exit", "hold", "retry"):
        run = purse.simulate("uniform", RANDOM_COSTS, 20.1, n_paths=2000, stop=rule, seed=1)
        left = 20.1 - run.spent[:, 0]
        values, counts = np.unique(left.round(3), return_counts=True)
        data = pl.DataFrame({"rule": rule, "left": values, "part": counts / run.n_paths})
        bars = (
            alt.Chart(data)
            .mark_bar(size=16, color=LIGHT[0])
            .encode(
                x=alt.X("left:Q", **linear("budget left at the end", domain=[-0.05, 1.05])),
                y=alt.Y("part:Q", **linear("part of 2,000 games", "%", domain=[0, 1])),
            )
            .properties(
                width=220,
                height=190,
                title=alt.Title(f"stop={rule!r}", subtitle=f"{left.mean():.2f} left on average"),
            )
        )
        games.append(data)
        panels.append(Panel(rule, bars))
    return Figure("stop-rules", pl.concat(games), panels, columns=3)


def efficiency() -> Figure:
    """Arms by mean cost and mean reward, with lines of equal efficiency; and a pair that
    misleads.
    """
    world = purse.worlds.make(FIVE, 1)
    assert world.reward_means is not None
    assert world.cost_means is not None
    assert world.efficiencies is not None
    arms = pl.DataFrame(
        {
            "arm": [f"arm {arm}" for arm in range(world.n_arms)],
            "reward": world.reward_means,
            "cost": world.cost_means[:, 0],
            "label": [f"e = {ratio:.2f}" for ratio in world.efficiencies],
            "efficiency": world.efficiencies,
        }
    )
    reach = arms.with_columns(end=pl.min_horizontal(1.0, 0.8 / pl.col("efficiency")))
    cost = linear("mean cost ρ", domain=[0, 1])
    reward = linear("mean reward μ", domain=[0, 0.8])
    # the reader finds the arm by its place, the label is beside it
    tone = colour("arm", arms["arm"].to_list()).legend(None)
    rays = (
        alt.Chart(reach.with_columns(top=pl.col("efficiency") * pl.col("end"), zero=pl.lit(0.0)))
        .mark_rule(strokeDash=[2, 3], strokeWidth=1)
        .encode(
            x=alt.X("zero:Q", **cost),
            y=alt.Y("zero:Q", **reward),
            x2="end:Q",
            y2="top:Q",
            color=tone,
        )
    )
    base = alt.Chart(arms).encode(x=alt.X("cost:Q", **cost), y=alt.Y("reward:Q", **reward))
    points = base.mark_point(filled=True, size=90, opacity=1).encode(color=tone)
    labels = base.mark_text(align="left", dx=9, dy=12, fontSize=12).encode(text="label:N")
    plane = alt.layer(
        rays, points, labels, title="The steepest line is the best arm", width=330, height=250
    )
    pairs = pl.DataFrame(
        {
            "arm": ["arm 0: costs 0.1 or 1", "arm 1: costs 0.5"] * 2,
            "ratio": ["μ/ρ: what a budget buys"] * 2 + ["E[r/c]: what averages show"] * 2,
            "value": [0.5 / 0.55, 1.2, 2.75, 1.2],
        }
    )
    ratios = pairs["ratio"].unique(maintain_order=True).to_list()
    bars = (
        alt.Chart(pairs, title="misleading_ratio: the two disagree", width=300, height=250)
        .mark_bar()
        .encode(
            x=alt.X("arm:N", axis=alt.Axis(title=None, labelAngle=0, grid=False, labelLimit=170)),
            xOffset=alt.XOffset("ratio:N", scale=alt.Scale(domain=ratios)),
            y=alt.Y("value:Q", **linear("reward per cost")),
            color=colour("ratio", ratios).legend(orient="bottom", columns=1),
        )
    )
    panels = [Panel("plane", plane), Panel("bars", bars)]
    return Figure("efficiency", arms, panels, one_legend=False)


def regret() -> Figure:
    """Gain against what was spent: the policy, the best arm alone, and the gap at the end."""
    budget, games = 3_000, []
    players = {
        "the best arm alone": "fixed:arm=0",
        "exp3++.price": "exp3++.price",
        "uniform": "uniform",
    }
    for label, policy in players.items():
        run = purse.simulate(policy, WORLD, budget, n_paths=50, seed=0, checkpoints=60)
        assert run.by_budget is not None
        spent, gain = run.by_budget.spent[:, :, 0].mean(axis=0), run.by_budget.gain.mean(axis=0)
        games.append(pl.DataFrame({"player": label, "spent": [0.0, *spent], "gain": [0.0, *gain]}))
    best, *others = (float(game["gain"][-1]) for game in games)
    gaps = pl.DataFrame(
        {
            "player": list(players)[1:],
            "spent": [budget * 1.03, budget * 1.17],
            "gain": others,
            "best": [best] * len(others),
            "middle": [(best + gain) / 2 for gain in others],
            "label": [f"regret {best - gain:,.0f}" for gain in others],
        }
    )
    x = linear("budget spent", domain=[0, budget * 1.32])
    y = linear("gain (mean of 50 games)", domain=[0, 1.05 * best])
    tone = colour("player", list(players))
    lines = (
        alt.Chart(pl.concat(games))
        .mark_line(strokeWidth=2)
        .encode(x=alt.X("spent:Q", **x), y=alt.Y("gain:Q", **y), color=tone)
    )
    base = alt.Chart(gaps).encode(x=alt.X("spent:Q", **x), color=tone)
    spans = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("gain:Q", **y), y2="best:Q")
    ends = [
        base.mark_tick(orient="horizontal", size=9, thickness=1.5).encode(y=alt.Y(f"{end}:Q", **y))
        for end in ("gain", "best")
    ]
    labels = base.mark_text(align="left", dx=6, fontSize=12).encode(
        y=alt.Y("middle:Q", **y), text="label:N"
    )
    layers = [lines, spans, *ends, labels]
    return one_panel(
        "regret", pl.concat(games), layers, "Regret: what the best arm alone gains more", (620, 290)
    )


def one_panel(
    name: str, data: pl.DataFrame, layers: list[Any], title: str, size: tuple[int, int]
) -> Figure:
    """Return a figure of one panel."""
    chart = alt.layer(*layers, title=title, width=size[0], height=size[1])
    return Figure(name, data, [Panel(title, chart)], legend={"orient": "bottom"})


def colour(field: str, names: list[str]) -> Any:
    """Return the colour of each name, in their order."""
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=names, range=list(LIGHT[: len(names)])))
