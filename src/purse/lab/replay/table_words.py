"""The answer of a recorded table in words and tables: what policies and references gained, and
which of them spends each budget best.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from purse.base.optional import pl
from purse.base.text import (
    code,
    format_budget,
    format_digits,
    format_gain,
    format_known,
    join_words,
    keep_on_line,
)
from purse.lab.theory.contexts import BLIND, WITHOUT
from purse.lab.theory.estimate import estimate

if TYPE_CHECKING:
    from purse.lab.study.results import TableStudy

_TIED = "cannot be told from it"
ORDERS = "The ± of gains is the chance in the order of these rows, not that of other rows."
_SURE = 2  # standard errors over the rows by which one arm is ahead of another
LP_OF = {False: BLIND, True: WITHOUT}  # its name, by whether the rounds have features
# on an arm alone: the least mean cost, the largest mean reward
CHEAPEST, MOST_A_PULL = "cheapest", "largest reward a pull"
NOTES = rf" \(({CHEAPEST}|{MOST_A_PULL}|{CHEAPEST}, {MOST_A_PULL})\)$"
_COLUMNS = (
    "what it is of the LP optimum, without contexts where there are any; "
    "what was spent, and how many rounds had a pull. "
    "References are grey; the largest gain of a policy is bold. "
    "Of the arms, the cheapest has the least mean cost; the largest reward a pull is the largest "
    "mean reward, whatever it costs."
)
CAPTION = (
    "Mean gain over the orders ± half its 95% interval, where the order makes a difference; "
    f"{_COLUMNS}"
)
SINGLE = f"Gain in the single order; {_COLUMNS}"


def standings(study: TableStudy) -> pl.DataFrame:
    """Return a row for each budget and player: gain with its 95% interval, spent, pulls, share."""
    groups = study.lazy().group_by("budget", "policy")
    pulls = groups.agg(pl.col("pulls").list.sum().mean()).collect()
    numbers = ["gain", "gain_low", "gain_high", "spent", "pulls"]
    policies = (
        study.table()
        .join(pulls, on=["budget", "policy"], maintain_order="left")
        .with_columns(spent=pl.col("budget") - pl.col("left"))
    )
    others = study.references()
    kind = pl.lit("policy").alias("kind")
    named = policies.select("budget", kind, *numbers, player="policy")
    columns = ["budget", "player", "kind", *numbers, "detail", "rival", "ahead", "ahead_error"]
    references = others.rename({"name": "player"}).select(columns)
    every = pl.concat([named, references], how="diagonal").select(columns)
    optimum = others.filter(pl.col("name").is_in(LP_OF.values())).select(
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


def gains(study: TableStudy) -> list[dict[str, Any]]:
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
        head = ["player", gain, f"of the {lp_name(study)}", "spent", "pulls"]
        names = {"title": f"B = {size}", "label": f"Gain with a budget of {size}"}
        tables.append({**names, "head": head, "rows": rows})
    return tables


def lp_name(study: TableStudy) -> str:
    """Return what the LP is called that every gain is a share of."""
    return LP_OF[bool(study.facts.replay.features)]


def findings(study: TableStudy) -> dict[str, str]:
    """For each budget what to buy: the policy or the single arm that gains most."""
    return {
        f"B = {format_budget(budget)}": _finding(study, budget, players)
        for budget, players in ranked(standings(study)).items()
    }


def _finding(study: TableStudy, budget: float, players: list[dict[str, Any]]) -> str:
    """Return who gains most with one budget, and how the others stand to it."""
    policies, arms = ([row for row in players if row["kind"] == kind] for kind in ("policy", "arm"))
    best, arm = policies[0], arms[0]
    behind = _compare_to_best(study, budget, policies)
    says, here = [], f"On these {study.facts.replay.rounds:,} rows"
    buy = _regret_of(study, budget, best["player"])[1] > 0  # no order leaves a doubt
    if buy:
        which = "The policy" if len(policies) == 1 else "The best of the policies"
        lead = f"**buy {code(_bare(arm))} in every round**: alone it gains"
        if _is_unsure(arm):
            lead = f"{code(_bare(arm))} in every round gains most:"
        says += [
            f"{here} {lead} **{_tight(arm)}**{_share_of(study, arm)}. {_over_rows(arm)}",
            f"{which}, {code(best['player'])}, gains {_tight(best)}{_share_of(study, best)}: "
            f"{_against_arm(study, budget, best['player'])}{behind}.",
        ]
    else:
        lead = f"{code(best['player'])} gains most of the policies"
        lead = f"{lead}:" if _TIED in behind else f"**{lead}**:"
        if len(policies) == 1:
            lead = f"{code(best['player'])} gains"
        says += [
            f"{here} {lead} {_tight(best)}{_share_of(study, best)}{behind}.",
            f"The best single arm, {code(_bare(arm))}, gains {_tight(arm)}: "
            f"{_against_arm(study, budget, best['player'])}.",
        ]
    for row in players:
        if row["kind"] == "mixture" and row["detail"] and row["gain"] > 0:
            says.append(
                f"The best fixed mixture, which needs the means in advance, is {row['detail']}: it "
                f"gains {_tight(row)}."
            )
            says += [] if buy else [_over_rows(row)]
    return " ".join(says)


def _is_unsure(row: Mapping[str, Any]) -> bool:
    """Return whether with other rows the rival of an arm, or of the mixture, may be ahead."""
    return row["ahead_error"] is None or not row["ahead"] > _SURE * row["ahead_error"]


def _over_rows(row: Mapping[str, Any]) -> str:
    """Return how far an arm, or the mixture, is ahead of its rival, with the chance in the rows."""
    who, rival = "it" if row["kind"] == "mixture" else code(_bare(row)), code(row["rival"])
    size = format_gain(row["ahead"], row["ahead"] + _SURE * (row["ahead_error"] or 0))
    doubt = f"**other rows may well turn it round; the rows do not tell {who} from {rival}**"
    says = f"Counting the chance in the rows, {who} is {keep_on_line(size)} ahead of {rival}"
    return f"{says}: {doubt}." if _is_unsure(row) else f"{says}."


def _bare(arm: Mapping[str, Any]) -> str:
    """Return the name of an arm, from that of its player."""
    return re.sub(NOTES, "", arm["player"]).removeprefix("always ")


def _share_of(study: TableStudy, row: dict[str, Any]) -> str:
    """Return what a gain is of the optimum."""
    return "" if row["share"] is None else f", {row['share']:.1%} of the {lp_name(study)}"


def _compare_to_best(study: TableStudy, budget: float, policies: list[dict[str, Any]]) -> str:
    """Return which policies cannot be told from the best one, or how far behind the next is."""
    if len(policies) == 1:
        return ""
    after = policies[1]
    if study.facts.n_paths == 1:
        return f"; the next is {code(after['player'])} with {_tight(after)}"
    here = study.lazy().filter(pl.col("budget") == budget)
    runs = here.select("policy", "path", "gain").collect().sort("path")
    best, *rest = [row["player"] for row in policies]
    gains = {player: runs.filter(policy=player)["gain"].to_numpy() for player in (best, *rest)}
    behind = {player: estimate(gains[best] - gains[player]) for player in rest}
    tied = [policy for policy, difference in behind.items() if not difference.low > 0]
    if tied:
        return tell_ties(tied)
    less = behind[after["player"]]
    size = keep_on_line(format_gain(less.mean, less.high))
    return (
        f"; the next, {code(after['player'])}, gains {size} less in the same orders, "
        "a difference beyond the 95% interval over orders"
    )


def _regret_of(study: TableStudy, budget: float, policy: str) -> tuple[float, float, float]:
    """Return how much more the best single arm gains, with the ends of the 95% interval."""
    row = study.table().filter(budget=budget, policy=policy).row(0, named=True)
    if study.facts.n_paths == 1:
        return row["regret"], row["regret"], row["regret"]
    return row["regret"], row["low"], row["high"]


def _against_arm(study: TableStudy, budget: float, policy: str) -> str:
    """Return how the best single arm stands to the policy, or the policy to an arm that wins."""
    regret, low, high = _regret_of(study, budget, policy)
    if low <= 0 <= high:
        return "as much" if low == high else "a difference within the 95% interval over orders"
    size = keep_on_line(format_gain(abs(regret), abs(regret) + (high - regret)))
    return f"{size} less" + ("" if low > 0 else f" than {code(policy)}")


def _tight(row: dict[str, Any]) -> str:
    """Return a player's gain with half its interval, on one line."""
    return keep_on_line(format_gain(row["gain"], row["gain_high"]))


def tell_ties(tied: Sequence[str]) -> str:
    """Say which policies cannot be told from the best one."""
    within = "a difference" if len(tied) == 1 else "differences"
    return f"; {join_words(map(code, tied))} {_TIED}: {within} within the 95% interval over orders"
