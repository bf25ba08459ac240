"""The tables of a report, as text in rows: regrets by policy and budget, fitted growth, and what
was run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from purse import worlds
from purse.base.optional import pl
from purse.base.text import MISSING, code, count_in_words, format_budget, format_known
from purse.lab.report import frames
from purse.lab.report.charts.base import worlds_of
from purse.lab.report.prose.study import EVERY, measured, named, worlds_with
from purse.lab.report.shell import inline
from purse.lab.study.results import OPTIMA
from purse.lab.theory.contexts import WITH

if TYPE_CHECKING:
    from purse.lab.study.manifest import Facts, Recording
    from purse.lab.study.results import Study

CAPTION = (
    "Mean regret over the runs ± half its 95% interval. Bold: the least of its column, and all "
    "that are not worse beyond the 95% interval of the difference on the same draws. Nothing is "
    "bold where nobody can learn."
)
SINGLE = "Regret of the single run; the least of each column is bold."
_COLUMNS = ("slope", "95% interval", "shape")
_CLOSE = 0.05  # a shape that misses by more fits badly
GROWTH = (
    "Slope: of log regret against log budget; none where a mean regret is not positive. Shape: of "
    "a + b f(B) with f one of log B, log² B, √B and B, the one that misses least, and by how much "
    "(relative error, root mean square). Few budgets suggest a shape and prove none."
)
_BOUNDS = ["bound", "for", "drawn in", "why not elsewhere", "when it holds", "source"]
OPTIMUM = (
    "Regret against the LP with contexts ± half its 95% interval, and in brackets the share of it "
    "that was gained. The LP with contexts is what nobody exceeds on average by more than one "
    "reward; the LP without contexts is the same for those who do not see contexts; the best "
    "linear policy was fitted to the true means. References are grey."
)


def regrets(study: Study, beside: pl.DataFrame) -> list[dict[str, Any]]:
    """For each world its regrets: a row per policy, a column per budget."""
    tables, near = [], beside.filter("tied")
    for (world,), part in study.table().group_by(["world"], maintain_order=True):
        budgets = sorted(part["budget"].unique())
        hopeless = worlds.hopeless(study.facts.worlds.get(str(world), ""))
        tied = (
            set() if hopeless else set(near.filter(world=world).select("budget", "policy").rows())
        )
        rows = []
        for (policy,), row in part.group_by(["policy"], maintain_order=True):
            cells = {cell["budget"]: cell for cell in row.iter_rows(named=True)}
            best = [place for place, budget in enumerate(budgets, 1) if (budget, policy) in tied]
            texts = [measured(cells[budget]) if budget in cells else "—" for budget in budgets]
            rows.append({"policy": policy, "cells": [policy, *texts], "best": best})
        head = ["policy", *(f"B = {format_budget(budget)}" for budget in budgets)]
        names = {"title": world, "label": f"Regret in {world}"}
        tables.append({**names, "head": head, "rows": rows})
    return tables


def growth(study: Study) -> dict[str, Any] | None:
    """Return the fitted slopes and shapes; None with a single budget."""
    fitted = frames.growth(study)
    if fitted.is_empty():
        return None
    several = len(worlds_of(fitted)) > 1
    rows = []
    for row in fitted.iter_rows(named=True):
        ends = MISSING
        if row["slope"] is not None and row["low"] is not None:
            ends = f"{row['low']:.2f} to {row['high']:.2f}"
        shape = MISSING
        if row["shape"] is not None:
            near = row["misfit"] <= _CLOSE
            shape = (
                f"{row['shape']}, {row['misfit']:.1%} off" if near else f"none within {_CLOSE:.0%}"
            )
        cells = [row["policy"], format_known(row["slope"], ".2f"), ends, shape]
        where = [row["world"]] if several else []
        rows.append({"policy": row["policy"], "cells": [*where, *cells], "best": []})
    head = [*(["world"] if several else []), "policy", *_COLUMNS]
    return {"caption": None, "head": head, "rows": rows, "worded": several}


def details(
    facts: Facts, path: str, subject: str, entries: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """List what was run, by name: the subject (worlds in full, or the recorded data), options,
    versions and the machine. `path` says what a path is.
    """
    options = [
        ("policies", ", ".join(facts.policies)),
        ("budgets", "; ".join(map(format_budget, facts.budgets))),
        (path, f"{facts.n_paths:,}"),
        ("seed", f"{facts.seed:,}"),
        ("stop rule", facts.stop),
        *([("delay", str(facts.delay))] if facts.delay else []),
    ]
    origin = {**facts.versions, **facts.machine}
    lists = {
        subject: entries,
        "Policies and options": options,
        "Versions and machine": [(name, str(value)) for name, value in origin.items()],
    }
    return [{"title": title, "entries": rows} for title, rows in lists.items() if rows]


def describe_recording(recording: Recording) -> list[tuple[str, str]]:
    """List the recorded rounds, by name."""
    horizon = recording.horizon
    return [
        (recording.kind, recording.data),
        ("rounds", f"{recording.rounds:,}"),
        ("arms", ", ".join(recording.arms)),
        ("horizon", "none" if horizon is None else count_in_words(horizon, "round")),
        *([("contexts", recording.features)] if recording.features else []),
    ]


def bound_table(study: Study) -> dict[str, Any] | None:
    """Return the bounds on the regret of these policies, those first that are drawn, or None."""
    bounds = study.bounds()
    drawn, far = frames.bounds(study)
    worlds = worlds_of(study.table())
    first: list[dict[str, Any]] = []
    rest: list[dict[str, Any]] = []
    for (name, policy), part in bounds.group_by(["name", "policy"], maintain_order=True):
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
    return {"label": label, "head": _BOUNDS, "rows": first + rest, "prose": True}


def optimum_tables(study: Study) -> Iterator[dict[str, Any]]:
    """For each world with contexts a table: a row per policy and reference, a column per budget."""
    for world, (head, *grid) in study.optimum_grids():
        rows = []
        for cells in grid:
            what = {"kind": "reference"} if cells[0] in OPTIMA else {"policy": cells[0]}
            rows.append({**what, "cells": cells, "best": []})
        label = f"Regret against the {WITH} in {world}"
        yield {"title": world, "label": label, "head": ["policy", *head[1:]], "rows": rows}
