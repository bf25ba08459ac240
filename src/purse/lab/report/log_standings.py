"""Who would have come to what by a log: of each player and budget the estimate to quote, the
largest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from purse.base.text import format_digits, format_gain

if TYPE_CHECKING:
    import polars as pl

FIRST = "snips"  # the method that is quoted, where it answers

SHORT = "log too short"
TOO_SHORT = (
    "`replay` plays each logged row at most once, and a game needs more rows of an arm than there "
    "are; the estimate does not"
)


def methods_of(frame: pl.DataFrame) -> list[str]:
    """Return the methods, in the order in which they were given."""
    return frame["method"].unique(maintain_order=True).to_list()


def budgets_of(frame: pl.DataFrame) -> list[float]:
    """Return the budgets, from the least to the largest."""
    return sorted(frame["budget"].unique())


def quoted(here: pl.DataFrame) -> list[dict[str, Any]]:
    """For each player with one budget the row of the method that is quoted, the largest estimate
    first and those without an estimate last.
    """
    rows = []
    for (_,), part in here.group_by(["policy"], maintain_order=True):
        order = sorted(part.to_dicts(), key=lambda row: (bool(row["refused"]), *rank(row)))
        rows.append(order[0])
    return sorted(
        rows, key=lambda row: (bool(row["refused"]), 0 if row["refused"] else -row["estimate"])
    )


def rank(row: Mapping[str, Any]) -> tuple[bool, ...]:
    """Return what puts the method that is quoted first."""
    return (row["method"] != FIRST,)


def why_not(refused: str) -> str:
    """Return the reason of a refusal in two or three words, with which it begins.

    >>> why_not("log too short: it ends with 3 of the budget left")
    'log too short'
    """
    return refused.partition(":")[0]


def estimate_text(row: Mapping[str, Any]) -> str:
    """Return an estimate with half its interval, or in two or three words why there is none."""
    return why_not(row["refused"]) if row["refused"] else format_gain(row["estimate"], row["high"])


def grid(here: pl.DataFrame, budget: float) -> list[list[str]]:
    """Return the players with one budget as a table of texts, in 80 columns or less where names are
    short: the estimate, that by the logged rounds themselves, rounds and what was spent.
    """
    methods = methods_of(here)
    played = {row["policy"]: row for row in here.filter(method="replay").to_dicts()}
    other = "replay" in methods and len(methods) > 1
    head = [f"budget {budget:g}", "estimate ± 95%", *(["replay"] if other else [])]
    lines = [[*head, "rounds", "spent"]]
    for row in quoted(here):
        again = [estimate_text(played[row["policy"]])] if other else []
        spent = "" if row["spent"] is None else format_digits(row["spent"])
        lines.append(
            [row["policy"], estimate_text(row), *again, format_digits(row["rounds"]), spent]
        )
    return lines


def reasons(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for each reason of a refusal, with the players that it concerns."""
    who: dict[str, list[str]] = {}
    for row in rows:
        if row["refused"]:
            who.setdefault(row["refused"], []).append(row["policy"])
    return [f"{reason} ({', '.join(unique(players))})" for reason, players in who.items()]


def short_reasons(frame: pl.DataFrame) -> list[str]:
    """Return a line for each reason why nothing is quoted of a player, and one where `replay` alone
    is missing.
    """
    rows = [row for budget in budgets_of(frame) for row in quoted(frame.filter(budget=budget))]
    told = {(row["policy"], row["budget"]) for row in rows if not row["refused"]}
    alone = any(
        row["refused"].startswith(SHORT)
        for row in frame.filter(method="replay").to_dicts()
        if row["refused"] and (row["policy"], row["budget"]) in told
    )
    return reasons(rows) + ([f"{SHORT}: {TOO_SHORT}"] if alone else [])


def unique(names: Iterable[str]) -> list[str]:
    """Return the names, each once."""
    return list(dict.fromkeys(names))
