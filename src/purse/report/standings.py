"""Who came to what on a recorded table, policies and references alike: the frame, the tables of the
page, and the digits that people read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from purse.report.data import StudyData

LP = "LP optimum"
# on an arm alone: the least mean cost, the largest mean reward
NOTES = r" \((cheapest|best|cheapest, best)\)$"
COLUMNS = (
    "what it is of the LP optimum; what was spent, and how many rounds had a pull. "
    "References are grey; the largest gain of a policy is bold. "
    "Of the arms, the cheapest has the least mean cost, the best the largest mean reward."
)
CAPTION = (
    "Mean gain over the orders ± half its 95% interval, where the order makes a difference; "
    f"{COLUMNS}"
)
SINGLE = f"Gain in the single order; {COLUMNS}"


def standings(study: StudyData) -> pl.DataFrame:
    """A row for each budget and player, policies and references alike: gain with its 95% interval,
    spent, pulls, the gain's share of the LP optimum if any.
    """
    import polars as pl

    pulls = (
        study.lazy().group_by("budget", "policy").agg(pl.col("pulls").list.sum().mean()).collect()
    )
    numbers = ["gain", "gain_low", "gain_high", "spent", "pulls"]
    policies = (
        study.table()
        .join(pulls, on=["budget", "policy"], maintain_order="left")
        .with_columns(spent=pl.col("budget") - pl.col("left"))
    )
    known = study.references()
    every = pl.concat(
        [
            policies.select(
                "budget", pl.col("policy").alias("player"), pl.lit("policy").alias("kind"), *numbers
            ),
            known.select("budget", pl.col("name").alias("player"), "kind", *numbers),
        ]
    )
    optimum = known.filter(name=LP).select("budget", pl.col("gain").alias("optimum"))
    share = pl.when(pl.col("optimum") > 0).then(pl.col("gain") / pl.col("optimum")).alias("share")
    return every.join(optimum, "budget", maintain_order="left").with_columns(share).drop("optimum")


def ranked(frame: pl.DataFrame) -> dict[float, list[dict[str, Any]]]:
    """For each budget its players, the largest gain first."""
    best = frame.sort("gain", descending=True, maintain_order=True)
    return {
        budget: best.filter(budget=budget).to_dicts() for budget in sorted(frame["budget"].unique())
    }


def cells(row: Mapping[str, Any]) -> list[str]:
    """What a table says of a player."""
    share = "—" if row["share"] is None else f"{row['share']:.1%}"
    return [
        row["player"],
        within(row["gain"], row["gain_high"]),
        share,
        digits(row["spent"]),
        digits(row["pulls"]),
    ]


def gains(study: StudyData) -> list[dict[str, Any]]:
    """A table for each budget, the largest gain first."""
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
        head = [
            "player",
            "gain ± 95%" if study.facts["n_paths"] > 1 else "gain",
            "of the LP optimum",
            "spent",
            "pulls",
        ]
        tables.append(
            {
                "title": f"B = {money(budget)}",
                "label": f"Gain with a budget of {money(budget)}",
                "head": head,
                "rows": rows,
            }
        )
    return tables


def within(mean: float, high: float) -> str:
    """A mean with half its interval, where it has one and is not known exactly."""
    half = high - mean
    return digits(mean) + (
        f" ± {half:,.0f}" if half >= 10 else f" ± {half:.2g}" if half > 1e-9 * abs(mean) else ""
    )


def digits(number: float) -> str:
    """A number with four digits, or all those before the point."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def money(budget: float) -> str:
    """A budget as it was given, with separated thousands.

    >>> money(2.5), money(1e5)
    ('2.5', '100,000')
    """
    return f"{budget:,.12g}"
