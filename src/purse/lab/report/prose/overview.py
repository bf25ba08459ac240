"""The overview of a page: who gains which share of the optimum in which world, who the policies
are, and what the arms are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from purse import worlds
from purse.base.optional import pl
from purse.base.text import MISSING, code, format_budget, format_digits, format_known
from purse.lab.report import frames
from purse.lab.report.charts.base import policies_of, worlds_of
from purse.lab.report.shell import inline

if TYPE_CHECKING:
    from purse.lab.study.results import Study

_MOST_ARMS = 10  # in a table
_NOBODY = "nobody can learn"
PLAYERS = "`purse policies NAME` explains a policy, `purse lab worlds NAME` a world."
ARMS = (
    "Mean reward and mean cost of a pull, reward per cost, and what the arm gains when it is "
    "pulled alone until the budget is spent. The best arm alone is bold. Where a world changes, "
    "the means are those of the arm's own game with the largest budget."
)


def overview(study: Study, beside: pl.DataFrame) -> dict[str, Any]:
    """Return a row per policy and a column per world: gain with the largest budget as a share of
    the optimum; bold are those that no other is better than beyond the interval of the difference.
    `beside` are the `differences` of the study.
    """
    every = frames.largest(frames.gain(study)).join(beside, on=frames.KEYS, maintain_order="left")
    places = worlds_of(study.table())
    hopeless = [bool(worlds.hopeless(study.facts.worlds.get(world, ""))) for world in places]
    rows = []
    for policy in policies_of(study.table()):
        cells, best, heat = [], [], [None]
        for place, world in enumerate(places):
            row = every.filter(world=world, policy=policy).row(0, named=True)
            cells.append(format_known(row["part"], ".1%"))
            heat.append(None if row["part"] is None else round(100 * min(1, max(0, row["part"]))))
            if row["tied"] and not hopeless[place]:
                best.append(place + 1)
        rows.append({"policy": policy, "cells": [policy, *cells], "best": best, "heat": heat})
    head = ["policy", *places]
    notes = [None, *(_NOBODY if lost else None for lost in hopeless)]
    label = "Share of the optimum, by policy and world"
    return {"label": label, "head": head, "notes": notes, "rows": rows}


def caption(study: Study) -> str:
    """Return how to read it."""
    last = frames.largest(frames.gain(study))
    sizes = {format_budget(budget) for budget in last["budget"]}
    budget = f"B = {sizes.pop()}" if len(sizes) == 1 else "the largest budget"
    parts = [
        f"Mean gain at {budget} as a share of the optimum: what the best arm gains alone or, where "
        "it is known and larger, the optimum of the linear program."
    ]
    if (last["part"] > 1.005).any():
        parts.append(
            "More than 100% is possible where the world changes: the policy changes arms, the best "
            "arm alone does not."
        )
    if study.facts.n_paths > 1:
        parts.append(
            "Bold: no other policy is better beyond the 95% interval of the difference on the same "
            "draws."
        )
    return " ".join(parts)


def players(study: Study) -> dict[str, Any]:
    """Who the policies are: how each is written, and what it is."""
    rows = []
    for label, about in study.facts.about.items():
        written = "" if about["spec"] == label else f"{code(about['spec'])}. "
        says = inline(f"{written}{about['says']}")
        rows.append({"policy": label, "cells": [label, says], "best": []})
    return {"label": "The policies", "head": ["policy", "what it is"], "rows": rows, "prose": True}


def arm_tables(study: Study) -> Iterator[dict[str, Any]]:
    """For each world its arms with the largest budget; of many those that gain most alone."""
    every = frames.largest(study.arms())
    for world in worlds_of(every):
        here = every.filter(world=world)
        top = here.sort("gain", descending=True, maintain_order=True).head(_MOST_ARMS)
        shown = here.filter(here["arm"].is_in(top["arm"].to_list()))
        title = world
        if shown.height < here.height:
            title = f"{world}: the {shown.height} of {here.height:,} arms that gain most alone"
        written = study.facts.worlds.get(world, world)
        yield {
            "title": title,
            "written": "" if written == world else written,
            "label": f"The arms of {world}",
            "head": ["arm", "reward", "cost", "reward/cost", "gain alone"],
            "rows": list(_arm_rows(shown)),
        }


def _arm_rows(shown: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of the arms of one world."""
    for row in shown.iter_rows(named=True):
        numbers = (row[name] for name in ("reward", "cost", "efficiency", "gain"))
        texts = [MISSING if number is None else format_digits(number) for number in numbers]
        name = f"{row['arm']} (best)" if row["best"] else row["arm"]
        yield {"cells": [name, *texts], "best": range(5) if row["best"] else []}
