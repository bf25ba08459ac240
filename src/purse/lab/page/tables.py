"""The tables of a page, as text in rows: shares, players, arms, regrets, growth, bounds, gains and
estimates, and what was run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from purse import worlds
from purse.base.optional import pl
from purse.base.text import (
    MISSING,
    code,
    count_in_words,
    format_budget,
    format_digits,
    format_known,
    join_words,
    plain,
    set_minus,
)
from purse.lab.page import frames
from purse.lab.page.captions import UNMET
from purse.lab.page.charts.base import policies_of, worlds_of
from purse.lab.page.shell import inline
from purse.lab.replay.log_result import GAME, LogResult, budgets_of, estimate_text, game_texts
from purse.lab.replay.savings_result import SavingsResult
from purse.lab.study.manifest import Facts, Recording
from purse.lab.study.results import OPTIMA, Study, TableStudy, format_regret, largest
from purse.lab.theory.contexts import WITH

Table = dict[str, Any]  # as the templates need it

_EVERY = "every player"
_MOST_ARMS = 10  # in a table
_CLOSE = 0.05  # a shape that misses by more fits badly


def _row(cells: Iterable[Any], best: Iterable[int] = (), **more: Any) -> Table:
    """Return a row; the cells numbered in `best` are bold."""
    return {"cells": [*cells], "best": [*best], **more}


def overview(study: Study, beside: pl.DataFrame) -> Table:
    """Return a row per policy and a column per world: gain with the largest budget as a share of
    the optimum; bold are those that no other is better than beyond the interval of the difference.
    `beside` are the `differences` of the study.
    """
    every = largest(frames.gain(study)).join(beside, on=frames.KEYS, maintain_order="left")
    labels = worlds_of(study.table())
    hopeless = [bool(worlds.hopeless(study.facts.worlds.get(world, ""))) for world in labels]
    rows = []
    for policy in policies_of(study.table()):
        parts = [every.filter(world=world, policy=policy).row(0, named=True) for world in labels]
        heat = [
            None if part["part"] is None else round(100 * min(1, max(0, part["part"])))
            for part in parts
        ]
        best = [
            column
            for column, (part, lost) in enumerate(zip(parts, hopeless, strict=True), 1)
            if part["tied"] and not lost
        ]
        cells = [policy, *(format_known(part["part"], ".1%") for part in parts)]
        rows.append(_row(cells, best, policy=policy, heat=[None, *heat]))
    notes = [None, *("nobody can learn" if lost else None for lost in hopeless)]
    label = "Share of the optimum, by policy and world"
    return {"label": label, "head": ["policy", *labels], "notes": notes, "rows": rows}


def players(study: Study) -> Table:
    """Return the policies: how each is written, and what it is."""
    rows = []
    for label, about in study.facts.about.items():
        written = "" if about["spec"] == label else f"{code(about['spec'])}. "
        rows.append(_row([label, inline(f"{written}{about['says']}")], policy=label))
    return {"label": "The policies", "head": ["policy", "what it is"], "rows": rows, "prose": True}


def arm_tables(study: Study) -> Iterator[Table]:
    """For each world its arms with the largest budget; of many those that gain most alone."""
    every = largest(study.arms())
    for world in worlds_of(every):
        here = every.filter(world=world)
        top = here.sort("gain", descending=True, maintain_order=True).head(_MOST_ARMS)
        shown = here.filter(here["arm"].is_in(top["arm"].to_list()))
        title = world
        if shown.height < here.height:
            title = f"{world}: the {shown.height} of {here.height:,} arms that gain most alone"
        written = study.facts.worlds.get(world, world)
        rows = []
        for row in shown.iter_rows(named=True):
            numbers = [_digits(row[name]) for name in ("reward", "cost", "efficiency", "gain")]
            name = f"{row['arm']} (best)" if row["best"] else row["arm"]
            rows.append(_row([name, *numbers], range(5) if row["best"] else ()))
        yield {
            "title": title,
            "written": "" if written == world else written,
            "label": f"The arms of {world}",
            "head": ["arm", "reward", "cost", "reward/cost", "gain alone"],
            "rows": rows,
        }


def regrets(study: Study, beside: pl.DataFrame) -> Iterator[Table]:
    """For each world its regrets: a row per policy, a column per budget."""
    for (world,), part in study.table().group_by(["world"], maintain_order=True):
        budgets = sorted(part["budget"].unique())
        near = beside.filter("tied", world=world).select("budget", "policy").rows()
        if worlds.hopeless(study.facts.worlds.get(str(world), "")):
            near = []
        rows = []
        for (policy,), own in part.group_by(["policy"], maintain_order=True):
            cells = {row["budget"]: format_regret(row) for row in own.iter_rows(named=True)}
            best = [n for n, budget in enumerate(budgets, 1) if (budget, policy) in near]
            texts = [cells.get(budget, MISSING) for budget in budgets]
            rows.append(_row([policy, *texts], best, policy=policy))
        head = ["policy", *(f"B = {format_budget(budget)}" for budget in budgets)]
        yield {"title": world, "label": f"Regret in {world}", "head": head, "rows": rows}


def growth(study: Study) -> Table | None:
    """Return the fitted slopes and shapes; None with a single budget."""
    fitted = frames.growth(study)
    if fitted.is_empty():
        return None
    several = len(worlds_of(fitted)) > 1
    rows = []
    for row in fitted.iter_rows(named=True):
        ends = shape = MISSING
        if row["slope"] is not None and row["low"] is not None:
            ends = f"{row['low']:.2f} to {row['high']:.2f}"
        if row["shape"] is not None:
            shape = f"none within {_CLOSE:.0%}"
            if row["misfit"] <= _CLOSE:
                shape = f"{row['shape']}, {row['misfit']:.1%} off"
        cells = [row["policy"], format_known(row["slope"], ".2f"), ends, shape]
        rows.append(_row([*([row["world"]] if several else []), *cells], policy=row["policy"]))
    head = [*(["world"] if several else []), "policy", "slope", "95% interval", "shape"]
    return {"caption": None, "head": head, "rows": rows, "worded": several}


def bound_table(study: Study) -> Table | None:
    """Return the bounds on the regret of these policies, those first that are drawn, or None."""
    drawn, far = frames.bounds(study)
    every = worlds_of(study.table())
    first, others = list[Table](), list[Table]()
    for key, part in study.bounds().group_by(["name", "policy"], maintain_order=True):
        name, policy = map(str, key)
        present, beyond = (
            worlds_of(lines.filter(name=name, policy=policy)) for lines in (drawn, far)
        )
        row = part.row(0, named=True)
        fails = [
            world for world in worlds_of(part) if not part.filter(world=world)["applies"].any()
        ]
        without = [world for world in worlds_of(part) if world not in (*present, *beyond, *fails)]
        order = row["side"] == "order"
        reasons = {"fails": fails, "far": beyond, "order" if order else "no curve": without}
        why = [
            UNMET[reason] if len(members) == len(every) else f"{_name(members)}: {UNMET[reason]}"
            for reason, members in reasons.items()
            if members
        ]
        texts = [
            f"**{name}** ({'growth order' if order else row['side']})",
            policy if policy == _EVERY else code(policy),
            _name(present) if present else "nowhere",
            "; ".join(why) or MISSING,
            row["holds"],
            row["source"],
        ]
        (first if present else others).append(_row(map(inline, texts)))
    if not first and not others:
        return None
    label = f"Bounds from theorems: {len(first)} drawn, {len(others)} not"
    head = ["bound", "for", "drawn in", "why not elsewhere", "when it holds", "source"]
    return {"label": label, "head": head, "rows": first + others, "prose": True}


def optima(study: Study) -> Iterator[Table]:
    """For each world with contexts a table: a row per policy and reference, a column per budget."""
    for grid in study.optimum_grids():
        rows = [
            _row(cells, **_player("bound" if cells[0] in OPTIMA else "policy", cells[0]))
            for cells in grid.rows
        ]
        label, head = f"Regret against the {WITH} in {grid.title}", ["policy", *grid.head[1:]]
        yield {"title": grid.title, "label": label, "head": head, "rows": rows}


def ended(study: Study) -> list[str]:
    """Return a line for each world that ended before the budget did."""
    lines = []
    left = frames.left(study).filter(pl.col("ended") > 0)
    for (world,), part in left.group_by(["world"], maintain_order=True):
        who = join_words(
            f"{code(str(policy))} ({int(rows['ended'].sum()):,} of {int(rows['n_paths'].sum()):,})"
            for (policy,), rows in part.group_by(["policy"], maintain_order=True)
        )
        lead = (
            "The rounds" if isinstance(study, TableStudy) else f"In {_name([str(world)])} the world"
        )
        lines.append(f"{lead} ended before the budget did, in runs of {who}.")
    return lines


def gains(study: TableStudy) -> Iterator[Table]:
    """For each budget a table of gains, the largest first."""
    for (budget, ranked, _), grid in zip(study.ranked(), study.grids(), strict=True):
        best = next(row["player"] for row in ranked if row["kind"] == "policy")
        rows = [
            _row(cells, [1], policy=row["player"])
            if row["player"] == best
            else _row(cells, **_player(row["kind"], row["player"]))
            for row, cells in zip(ranked, grid.rows, strict=True)
        ]
        size = format_budget(budget)
        head = ["player", grid.head[1], f"of the {study.lp_name}", *grid.head[3:]]
        names = {"title": f"B = {size}", "label": f"Gain with a budget of {size}"}
        yield {**names, "head": head, "rows": rows}


def estimates(result: LogResult) -> Iterator[Table]:
    """For each budget a row per player, the largest estimate first, with its effective rows."""
    frame = result.frame()
    for budget in budgets_of(frame):
        rows: list[Table] = []
        for player in result.ranked(frame.filter(budget=budget)):
            known = "" if player["refused"] else f"{player['ess']:,.0f}"
            cells = [player["policy"], estimate_text(player), known, *game_texts(player)]
            best = [] if rows or player["refused"] else [1]
            shown = [text or MISSING for text in cells]
            rows.append(_row(shown, best, **_player(player["kind"], player["policy"])))
        size = format_budget(budget)
        names = {"title": f"B = {size}", "label": f"Estimated gain with a budget of {size}"}
        yield {**names, "head": ["player", "estimate", "effective rows", *GAME], "rows": rows}


def savings(result: SavingsResult) -> Table:
    """Return a row for each choice; what is named is bold."""
    named = result.answer.kind == "less"
    name = plain(result.choice()) if named else ""
    (grid,) = result.grids()
    rows = [_row(cells, range(4) if cells[0] == name else ()) for cells in grid.rows]
    return {"label": "Choices", "head": grid.head, "rows": rows}


def _player(kind: str, name: str) -> dict[str, Any]:
    """Return whether a row is about a policy or a reference, as templates have it."""
    return {"policy": name} if kind == "policy" else {"kind": "reference"}


def log_arms(arms: pl.DataFrame) -> Table:
    """Return the table of the arms of a log."""
    costs = [name for name in arms.columns if name.startswith("cost")]
    rows = []
    for row in arms.iter_rows(named=True):
        means = [_digits(row[name]) for name in ("reward", *costs)]
        cells = [row["arm"], f"{row['rows']:,}", f"{row['ess']:,.0f}", *means]
        rows.append(_row([*cells, f"{row['weight']:.3f}", set_minus(f"{row['doubt']:.1f}")]))
    head = ["arm", "rows", "effective sample size", "mean reward"]
    head += [f"mean {name.replace('_', ' ', 1)}" for name in costs]
    head += ["Σ 1/probability / rounds", "standard errors from 1"]
    return {"title": None, "label": "Arms of the log", "head": head, "rows": rows}


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


def recording(replay: Recording) -> list[tuple[str, str]]:
    """List the recorded rounds, by name."""
    horizon = "none" if replay.horizon is None else count_in_words(replay.horizon, "round")
    return [
        (replay.kind, replay.data),
        ("rounds", f"{replay.rounds:,}"),
        ("arms", ", ".join(replay.arms)),
        ("horizon", horizon),
        *([("contexts", replay.features)] if replay.features else []),
    ]


def _digits(number: float | None) -> str:
    """Write a number, or a mark if there is none."""
    return MISSING if number is None else format_digits(number)


def _name(labels: Sequence[str]) -> str:
    return join_words(
        f"*{label}*" if label.replace(" ", "").isalnum() else code(label) for label in labels
    )
