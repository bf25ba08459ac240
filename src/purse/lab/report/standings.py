"""Who came to what on a recorded table, policies and references alike: the frame, and the
tables of the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from purse.base.text import format_budget, format_digits, format_gain, format_known
from purse.lab.theory.contexts import BLIND, WITHOUT

if TYPE_CHECKING:
    import polars as pl

    from purse.lab.report.data import TableData

LP_OF = {False: BLIND, True: WITHOUT}  # its name, by whether the rounds have features
# on an arm alone: the least mean cost, the largest mean reward
CHEAPEST, MOST_A_PULL = "cheapest", "largest reward a pull"
NOTES = rf" \(({CHEAPEST}|{MOST_A_PULL}|{CHEAPEST}, {MOST_A_PULL})\)$"
COLUMNS = (
    "what it is of the LP optimum, without contexts where there are any; "
    "what was spent, and how many rounds had a pull. "
    "References are grey; the largest gain of a policy is bold. "
    "Of the arms, the cheapest has the least mean cost; the largest reward a pull is the largest "
    "mean reward, whatever it costs."
)
CAPTION = (
    "Mean gain over the orders ± half its 95% interval, where the order makes a difference; "
    f"{COLUMNS}"
)
SINGLE = f"Gain in the single order; {COLUMNS}"


def standings(study: TableData) -> pl.DataFrame:
    """Return a row for each budget and player, policies and references alike: gain with its 95%
    interval, spent, pulls, the gain's share of the LP optimum if any.
    """
    import polars as pl

    each = study.lazy().group_by("budget", "policy")
    pulls = each.agg(pl.col("pulls").list.sum().mean()).collect()
    numbers = ["gain", "gain_low", "gain_high", "spent", "pulls"]
    policies = (
        study.table()
        .join(pulls, on=["budget", "policy"], maintain_order="left")
        .with_columns(spent=pl.col("budget") - pl.col("left"))
    )
    known = study.references()
    named = policies.select(
        "budget",
        pl.lit("policy").alias("kind"),
        *numbers,
        player="policy",
        detail=pl.lit(None, pl.String),
    )
    if "detail" not in known.columns:  # of results before 0.3
        known = known.with_columns(detail=pl.lit(None, pl.String))
    columns = ["budget", "player", "kind", *numbers, "detail"]
    every = pl.concat([named.select(columns), known.rename({"name": "player"}).select(columns)])
    optimum = known.filter(pl.col("name").is_in(LP_OF.values())).select(
        "budget", pl.col("gain").alias("optimum")
    )
    share = pl.when(pl.col("optimum") > 0).then(pl.col("gain") / pl.col("optimum")).alias("share")
    return every.join(optimum, "budget", maintain_order="left").with_columns(share).drop("optimum")


def ranked(frame: pl.DataFrame) -> dict[float, list[dict[str, Any]]]:
    """For each budget its players, the largest gain first."""
    best = frame.sort("gain", descending=True, maintain_order=True)
    return {
        budget: best.filter(budget=budget).to_dicts() for budget in sorted(frame["budget"].unique())
    }


def cells(row: Mapping[str, Any]) -> list[str]:
    """Return what a table says of a player."""
    return [
        row["player"],
        format_gain(row["gain"], row["gain_high"]),
        format_known(row["share"], ".1%"),
        format_digits(row["spent"]),
        format_digits(row["pulls"]),
    ]


def gains(study: TableData) -> list[dict[str, Any]]:
    """Return a table for each budget, the largest gain first."""
    tables = []
    for budget, players in ranked(standings(study)).items():
        best = next(row["player"] for row in players if row["kind"] == "policy")
        rows = [
            {
                "policy": row["player"] if row["kind"] == "policy" else None,
                "kind": None if row["kind"] == "policy" else "reference",
                "cells": cells(row),
                "best": [1] if row["player"] == best and row["kind"] == "policy" else [],
            }
            for row in players
        ]
        gain, size = "gain ± 95%" if study.facts.n_paths > 1 else "gain", format_budget(budget)
        optimum = LP_OF[bool(study.facts.replay.features)]
        head = ["player", gain, f"of the {optimum}", "spent", "pulls"]
        names = {"title": f"B = {size}", "label": f"Gain with a budget of {size}"}
        tables.append({**names, "head": head, "rows": rows})
    return tables
