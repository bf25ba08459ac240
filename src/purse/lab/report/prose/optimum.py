"""Gains against the LP with contexts, for worlds that have features: the regret against it, and the
share of it, beside what other optima come to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from purse.base.text import format_budget, format_mean
from purse.lab.theory.contexts import LINEAR, WITH, WITHOUT

if TYPE_CHECKING:
    from purse.lab.report.data import StudyData

CAPTION = (
    "Regret against the LP with contexts ± half its 95% interval, and in brackets the share of it "
    "that was gained. The LP with contexts is what nobody exceeds on average by more than one "
    "reward; the LP without contexts is the same for those who do not see contexts; the best "
    "linear policy was fitted to the true means. References are grey."
)


def optimum_tables(study: StudyData) -> Iterator[dict[str, Any]]:
    """For each world with contexts a table: a row per policy and reference, a column per budget."""
    known = study.references()
    for (world,), part in study.table().group_by(["world"], maintain_order=True):
        here = known.filter(world=world)
        if WITH not in here["name"]:
            continue
        gains = {(row["name"], row["budget"]): row["gain"] for row in here.iter_rows(named=True)}
        budgets = sorted(part["budget"].unique())
        rows = []
        for (policy,), each in part.group_by(["policy"], maintain_order=True):
            cells = {
                cell["budget"]: against(
                    gains[WITH, cell["budget"]], cell["gain"], cell["gain_high"]
                )
                for cell in each.iter_rows(named=True)
            }
            texts = [cells.get(budget, "—") for budget in budgets]
            rows.append({"policy": policy, "cells": [policy, *texts], "best": []})
        for name in (WITHOUT, LINEAR):
            if name in here["name"]:
                texts = [against(gains[WITH, b], gains[name, b], gains[name, b]) for b in budgets]
                rows.append({"kind": "reference", "cells": [name, *texts], "best": []})
        head = ["policy", *(f"B = {format_budget(budget)}" for budget in budgets)]
        label = f"Regret against the {WITH} in {world}"
        yield {"title": world, "label": label, "head": head, "rows": rows}


def against(optimum: float, gain: float, high: float) -> str:
    """Write the regret of a gain with its interval, and its share of the optimum.

    >>> against(1000, 950, 960), against(1000, 729, 729), against(1, 1 + 1e-15, 1)
    ('50 ± 10 (95.0%)', '271 (72.9%)', '0 (100.0%)')
    """
    regret = round(optimum - gain, 9) + 0.0  # no rounding error is a regret, and no zero negative
    text = format_mean(regret, regret + (high - gain) if high > gain else float("nan"))
    return f"{text} ({gain / optimum:.1%})" if optimum > 0 else text
