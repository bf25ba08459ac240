"""The table of bounds: for each where it is drawn, and why not elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purse.base.text import MISSING
from purse.lab.report import frames
from purse.lab.report.charts.base import worlds_of
from purse.lab.report.prose.study import EVERY, code, named, worlds_with
from purse.lab.report.shell import inline

if TYPE_CHECKING:
    from purse.lab.report.data import StudyData

HEAD = ["bound", "for", "drawn in", "why not elsewhere", "when it holds", "source"]


def bound_table(study: StudyData) -> dict[str, Any] | None:
    """Return the bounds on the regret of these policies; those that are drawn come first. None
    where there are none.
    """
    known = study.bounds()
    drawn, far = frames.bounds(study)
    worlds = worlds_of(study.table())
    first: list[dict[str, Any]] = []
    rest: list[dict[str, Any]] = []
    for (name, policy), part in known.group_by(["name", "policy"], maintain_order=True):
        present, beyond = worlds_with(drawn, name, policy), worlds_with(far, name, policy)
        row = part.row(0, named=True)
        fails = [
            world for world in worlds_of(part) if not part.filter(world=world)["applies"].any()
        ]
        without = [world for world in worlds_of(part) if world not in (*present, *beyond, *fails)]
        order = row["side"] == "order"
        no_curve = "gives the order of growth and no constant" if order else "has no curve"
        reasons = {
            "its condition does not hold": fails,
            f"more than {frames.FAR} times above all that was measured": beyond,
            no_curve: without,
        }
        why = [
            reason if len(where) == len(worlds) else f"{named(where)}: {reason}"
            for reason, where in reasons.items()
            if where
        ]
        about = EVERY if policy == EVERY else code(str(policy))
        side = "growth order" if order else row["side"]
        texts = [
            f"**{name}** ({side})",
            about,
            named(present) if present else "nowhere",
            "; ".join(why) or MISSING,
            row["holds"],
            row["source"],
        ]
        (first if present else rest).append({"cells": [*map(inline, texts)], "best": []})
    if not first and not rest:
        return None
    label = f"Bounds from theorems: {len(first)} drawn, {len(rest)} not"
    return {"label": label, "head": HEAD, "rows": first + rest, "prose": True}
