"""The standings of a recorded table: what policies and references gained, and which of them spends
each budget best.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from purse.base.optional import pl
from purse.base.text import (
    code,
    format_budget,
    format_digits,
    format_gain,
    format_known,
    keep_on_line,
)
from purse.lab.result import Grid, Verdict, name_tied
from purse.lab.theory.contexts import BLIND, WITHOUT
from purse.lab.theory.estimate import Estimate, estimate

ORDERS = "The ± of gains is the chance in the order of these rows, not that of other rows."
LP_OF = {False: BLIND, True: WITHOUT}  # its name, by whether the rounds have features
# on an arm alone: the least mean cost, the largest mean reward
CHEAPEST, MOST_A_PULL = "cheapest", "largest reward a pull"
NOTES = rf" \(({CHEAPEST}|{MOST_A_PULL}|{CHEAPEST}, {MOST_A_PULL})\)$"
_DOUBT = "other rows may well turn it round"
_SURE = 2  # standard errors over the rows by which one arm is ahead of another


def standings(runs: pl.LazyFrame, table: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each budget and player: gain with its 95% interval, spent, pulls, share."""
    groups = runs.group_by("budget", "policy")
    pulls = groups.agg(pl.col("pulls").list.sum().mean()).collect()
    numbers = ["gain", "gain_low", "gain_high", "spent", "pulls"]
    policies = table.join(pulls, on=["budget", "policy"], maintain_order="left").with_columns(
        spent=pl.col("budget") - pl.col("left")
    )
    kind = pl.lit("policy").alias("kind")
    named = policies.select("budget", kind, *numbers, player="policy")
    columns = ["budget", "player", "kind", *numbers, "detail", "rival", "ahead", "ahead_error"]
    others = references.rename({"name": "player"}).select(columns)
    every = pl.concat([named, others], how="diagonal").select(columns)
    optimum = references.filter(pl.col("name").is_in(LP_OF.values())).select(
        "budget", pl.col("gain").alias("optimum")
    )
    share = pl.when(pl.col("optimum") > 0).then(pl.col("gain") / pl.col("optimum")).alias("share")
    standings = (
        every.join(optimum, "budget", maintain_order="left").with_columns(share).drop("optimum")
    )
    return standings


def ranked(frame: pl.DataFrame) -> dict[float, list[dict[str, Any]]]:
    """For each budget its players, the largest gain first."""
    best = frame.sort("gain", descending=True, maintain_order=True)
    return {
        budget: best.filter(budget=budget).to_dicts() for budget in sorted(frame["budget"].unique())
    }


def behind_best(runs: pl.LazyFrame, players: Sequence[Mapping[str, Any]]) -> dict[str, Estimate]:
    """For each policy but the best of these players of one budget, how much less it gains in the
    same orders; `runs` are those with this budget.
    """
    best, *others = [row["player"] for row in players if row["kind"] == "policy"]
    frame = runs.select("policy", "path", "gain").collect().sort("path")
    gains = {player: frame.filter(policy=player)["gain"].to_numpy() for player in (best, *others)}
    return {player: estimate(gains[best] - gains[player]) for player in others}


def grid(
    budget: float, players: Sequence[Mapping[str, Any]], behind: Mapping[str, Estimate]
) -> Grid:
    """Return the players with one budget as a table; `behind` is how much less policies gain."""
    rows = []
    for row in players:
        less = behind.get(row["player"])
        rows.append(
            [
                row["player"],
                format_gain(row["gain"], row["gain_high"]),
                format_known(row["share"], ".1%"),
                format_digits(row["spent"]),
                format_digits(row["pulls"]),
                "" if less is None else format_gain(less.mean, less.high),
            ]
        )
    return Grid([f"budget {budget:g}", "gain ± 95%", "of the LP", "spent", "pulls", "less"], rows)


def leads(players: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line on the best arm and on the mixture of one budget: its lead over its rival."""
    arm = next(row for row in players if row["kind"] == "arm")
    for row in players:
        if row["rival"] is not None and (row is arm or row["kind"] == "mixture"):
            name = re.sub(NOTES, "", row["player"]) + (
                f" ({row['detail']})" if row["detail"] else ""
            )
            size = f"B = {format_budget(row['budget'])}"
            says = f"{size}: {name} is {_lead_of(row)} ahead of {row['rival']}, counting the chance"
            yield f"{says} in the rows" + ("" if _is_sure(row) else f": {_DOUBT}")


def verdict(
    players: Sequence[Mapping[str, Any]],
    behind: Mapping[str, Estimate],
    regret: Estimate,
    n_rounds: int,
    lp: str,
) -> Verdict:
    """Return who gains most with one budget, the best policy or the best arm alone.

    regret     how much more the best arm gains than the best policy, in the same orders
    n_rounds   rows of the table
    lp         the name of the reference for shares
    """
    policies, arms = ([row for row in players if row["kind"] == kind] for kind in ("policy", "arm"))
    best, arm, here = policies[0], arms[0], f"On these {n_rounds:,} rows"
    policy, name = code(best["player"]), code(_name_of(arm))
    size = keep_on_line(format_gain(abs(regret.mean), abs(regret.mean) + regret.high - regret.mean))
    if regret.low > 0:  # no order leaves a doubt
        than = f"{size} more than {'the best policy, ' if len(policies) > 1 else ''}{policy}"
        gained = f"**{_amount(arm)}**{_share_of(arm, lp)}, {than}"
        if _is_sure(arm):
            lead = f"**buy {name} in every round**: alone it gains {gained}"
            return Verdict("best", f"{here} {lead}.")
        doubt = f"with a lead of {_lead_of(arm)}, {_DOUBT}"
        lead = f"{name} in every round gains most: {gained}, but the rows do not tell it from"
        return Verdict("tied", f"{here} {lead} {code(arm['rival'])}: {doubt}.")
    if regret.low == regret.high == 0:
        compared = "as much"
    elif regret.low <= 0 <= regret.high:
        compared = "a difference within the 95% interval over orders"
    else:
        compared = f"{size} less"
    lead = "gains" if len(policies) == 1 else "gains most of the policies:"
    tied = [player for player, less in behind.items() if not less.low > 0]
    who = f"{policy} {lead}" if tied or len(policies) == 1 else f"**{policy} {lead[:-1]}**:"
    says = f"{here} {who} {_amount(best)}{_share_of(best, lp)}"
    says += name_tied(tied, "orders") if tied else ""
    says += f"; the best single arm, {name}, gains {_amount(arm)}: {compared}."
    return Verdict("tied" if tied else "best", says)


def _is_sure(row: Mapping[str, Any]) -> bool:
    """Return whether an arm is ahead of its rival by more than the chance in the rows."""
    return row["ahead_error"] is not None and row["ahead"] > _SURE * row["ahead_error"]


def _lead_of(row: Mapping[str, Any]) -> str:
    """Write how far an arm, or the mixture, is ahead of its rival, with the chance in the rows."""
    return keep_on_line(format_gain(row["ahead"], row["ahead"] + _SURE * (row["ahead_error"] or 0)))


def _name_of(arm: Mapping[str, Any]) -> str:
    return re.sub(NOTES, "", arm["player"]).removeprefix("always ")


def _share_of(row: Mapping[str, Any], lp: str) -> str:
    return "" if row["share"] is None else f", {row['share']:.1%} of the {lp}"


def _amount(row: Mapping[str, Any]) -> str:
    """Write a player's gain with half its interval, on one line."""
    return keep_on_line(format_gain(row["gain"], row["gain_high"]))
