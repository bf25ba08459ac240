"""The page on how surely the best arm is found and what that costs, written from what
`research.evidence.recommend` measured and nothing else: no number in it is typed.
"""

from __future__ import annotations

import math
from typing import Any

from benchmarks.tables import markdown_table, number

FIRST = """\
# The best arm, measured

The policy `best-arm` on {worlds} worlds of [measured.json](measured.json), {paths:,} paths each, \
with money that never ends the game; `python -m research.evidence.recommend` measures it.
At a confidence of {sure:.0%}, at most {wrong} of the answers may be wrong, {allowed} with two \
standard errors; at {little:.0%} the latter is {allowed_little}.
"""
COSTS = """\
## What an answer costs

Money until the answer is sure at {sure:.0%}, mean and standard error, beside uniform sampling \
with the same end.
`best-arm` saves from {least} to {most} of it.
"""
RIVAL = """\
## What a policy for gain says

`{rival}` gets the mean money of `best-arm` as its budget, and looks for the largest gain.
The arm that it pulls most, and the one with the best mean under it, are answers, too; nothing \
says how sure they are.
"""


def allowed(confidence: float, n_paths: int) -> float:
    """Return the share of wrong answers that two standard errors allow."""
    chance = 1 - confidence
    return chance + 2 * math.sqrt(chance * confidence / n_paths)


def percent(share: float) -> str:
    """Return a share with one digit behind the point."""
    return f"{share:.1%}"


def markdown(facts: dict[str, Any]) -> str:
    """Return the page."""
    rows, sure, little, paths = (facts[key] for key in ("rows", "confidence", "little", "paths"))
    saved = [1 - row["ours"]["mean"] / row["uniform"]["mean"] for row in rows]
    first = FIRST.format(
        worlds=len(rows),
        paths=paths,
        sure=sure,
        wrong=percent(1 - sure),
        allowed=percent(allowed(sure, paths)),
        little=little,
        allowed_little=percent(allowed(little, paths)),
    )
    costs = COSTS.format(sure=sure, least=percent(min(saved)), most=percent(max(saved)))
    parts = [
        first,
        wrong_table(rows, sure, little),
        "",
        costs,
        costs_table(rows, saved, little),
        "",
        RIVAL.format(rival=facts["rival"]),
        rival_table(rows),
    ]
    return "\n".join(parts) + "\n"


def wrong_table(rows: list[dict[str, Any]], sure: float, little: float) -> str:
    """Return the shares of wrong answers, and of paths without one."""
    return markdown_table(
        ["world", f"wrong at {sure:.0%}", f"wrong at {little:.0%}", "no answer"],
        [
            [
                row["name"],
                percent(row["ours"]["wrong"]),
                percent(row["little"]["wrong"]),
                percent(max(row[key]["unsure"] for key in ("ours", "uniform", "little"))),
            ]
            for row in rows
        ],
    )


def costs_table(rows: list[dict[str, Any]], saved: list[float], little: float) -> str:
    """Return the money until the answer."""
    return markdown_table(
        ["world", "`best-arm`", "uniform", "saved", f"`best-arm` at {little:.0%}"],
        [
            [
                row["name"],
                *(
                    f"{number(row[key]['mean'])} ± {number(row[key]['error'])}"
                    for key in ("ours", "uniform")
                ),
                percent(part),
                number(row["little"]["mean"]),
            ]
            for row, part in zip(rows, saved, strict=True)
        ],
    )


def rival_table(rows: list[dict[str, Any]]) -> str:
    """Return the shares of wrong answers that one reads from a policy for gain."""
    return markdown_table(
        ["world", "most pulled arm is wrong", "arm with the best mean is wrong"],
        [
            [
                row["name"],
                percent(row["rival"]["most_pulled_wrong"]),
                percent(row["rival"]["best_mean_wrong"]),
            ]
            for row in rows
        ],
    )
