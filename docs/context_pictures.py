"""The pictures of the page on contexts, drawn from what `research.evidence.contexts` measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from purse.lab.figure import Figure, Panel
from purse.lab.page.charts.base import LIGHT, NEUTRAL, linear

MEASURED = Path(__file__).parent / "contexts" / "shares.json"
BEST, SEEING, BLIND = "best linear policy", "lin-ucb.price", "replan"


def draw_digits() -> Figure:
    """Specialists on digits: contexts are worth a factor."""
    facts = json.loads(MEASURED.read_text())["digits"]
    lines = {name: facts["rows"][name] for name in (BEST, SEEING, BLIND)}
    title = "Specialists on digits: what each player gains"
    return draw_shares("context-digits", title, facts["budgets"], lines, (0.8, 3.4))


def draw_prompts() -> Figure:
    """LLM routing: contexts are worth a few percent, with some budgets."""
    blind, sources, *_ = json.loads(MEASURED.read_text())["prompts"]
    lines = {
        f"{BEST} on sources": sources["rows"][BEST],
        f"{SEEING}, sources": sources["rows"][SEEING],
        f"{SEEING}, no features": blind["rows"][SEEING],
        BLIND: sources["rows"][BLIND],
    }
    parts = [i for i, budget in enumerate(sources["budgets"]) if budget.endswith("%")]
    shown = {name: [row[i] for i in parts] for name, row in lines.items()}
    budgets = [sources["budgets"][i] for i in parts]
    title = "LLM routing: what each player gains"
    return draw_shares("context-prompts", title, budgets, shown, (0.985, 1.05))


def draw_shares(
    name: str,
    title: str,
    budgets: list[str],
    lines: dict[str, list[float]],
    domain: tuple[float, float],
) -> Figure:
    """Shares of the LP without contexts by budget, a line for each player."""
    data = pl.DataFrame(
        [
            {"player": player, "budget": budget, "share": share}
            for player, shares in lines.items()
            for budget, share in zip(budgets, shares, strict=True)
        ]
    )
    y = linear("share of the LP without contexts", domain=list(domain), nice=False)
    x: Any = alt.X(
        "budget:N",
        sort=budgets,
        axis=alt.Axis(title="budget, part of always the dearest arm", labelAngle=0, grid=False),
    )
    tone = alt.Color(
        "player:N", scale=alt.Scale(domain=list(lines), range=list(LIGHT[: len(lines)]))
    )
    curves = (
        alt.Chart(data)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=55, filled=True))
        .encode(x=x, y=alt.Y("share:Q", **y), color=tone)
    )
    one = (
        alt.Chart(pl.DataFrame({"share": [1.0]}))
        .mark_rule(color=NEUTRAL, strokeDash=[4, 3])
        .encode(y=alt.Y("share:Q", **y))
    )
    chart = alt.layer(one, curves, title=title, width=620, height=270)
    return Figure(name, data, [Panel(title, chart)], legend={"orient": "bottom"})
