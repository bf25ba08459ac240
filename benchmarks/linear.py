"""`python -m benchmarks.linear`: a round of `lin-ucb.price` by the numbers of a context, beside its
rule in plain C and the other policies that see contexts, in one run.

`make bench` measures it too. There is one resource and a horizon.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import purse
from benchmarks import families, record
from benchmarks.instance import BUDGET, REPEATS, enough, say, terms, timed, world
from benchmarks.machine import machine
from benchmarks.tables import markdown_table, number

POLICY = "lin-ucb.price"
OTHERS = ("lin-ts.price", "lin-ucb.resolve", "square-cbwk", "lin-cbwk")
LIMITS = 2  # a resource and a horizon
# arms, and numbers of a context with its constant
SIZES = ((5, 1), (5, 3), (5, 6), (5, 13), (5, 26), (10, 6))
COMPARED = (5, 6)  # where the others are measured, too
CHECKED = (0, 5)  # features with which mean gains are compared


def rate(policy: str, n_arms: int, numbers: int, n_paths: int) -> float:
    """Return the rounds per second of processor time of one simulation on one core."""
    runs: list[purse.lab.Run] = []
    place, given = world(n_arms, LIMITS, numbers - 1), terms(LIMITS, BUDGET)
    seconds = timed(
        lambda: runs.append(purse.simulate(policy, place, n_paths=n_paths, n_workers=1, **given))
    )
    return float(runs[0].rounds.sum()) / seconds


def measure_one(n_arms: int, numbers: int) -> dict[str, Any]:
    """Nanoseconds a round of the policies and of plain C, None without gcc."""

    def seconds(policy: str, count: int) -> float:
        return timed(lambda: rate(policy, n_arms, numbers, count))

    policies = (POLICY, *(OTHERS if (n_arms, numbers) == COMPARED else ()))
    paths = {policy: enough(partial(seconds, policy)) for policy in policies}
    found = dict.fromkeys((*policies, "plain"), 0.0)
    # side by side, so that a slow moment of the machine hits all alike
    for _ in range(REPEATS):
        plain = families.plain_rate(POLICY, n_arms, BUDGET, LIMITS, numbers - 1) or 0.0
        found["plain"] = max(found["plain"], plain)
        for policy, n_paths in paths.items():
            found[policy] = max(found[policy], rate(policy, n_arms, numbers, n_paths))
    row = {name: 1e9 / each if each else None for name, each in found.items()}
    say(
        f"{POLICY}: K = {n_arms}, n = {numbers}, {number(row[POLICY])} ns, C {number(row['plain'])}"
    )
    return {"arms": n_arms, "numbers": numbers, **row}


def measure() -> dict[str, Any]:
    """Return all sizes, and whether plain C plays the same game."""
    busy = os.getloadavg()[0]
    checks = [families.check_gain(POLICY, LIMITS, features) for features in CHECKED]
    return {
        "machine": machine(),
        "load_before": busy,
        "apart": [check["standard_errors_apart"] for check in checks if check],
        "rows": [measure_one(*size) for size in SIZES],
    }


def part(facts: dict[str, Any]) -> str:
    """Return the section of the page."""
    lead = (
        f"`{POLICY}` keeps a regression of each arm on the n numbers of a context, its constant "
        "among them, so that a round takes O(K n²)."
    )
    rows = [
        [
            f"{row['arms']}",
            f"{row['numbers']}",
            number(row[POLICY]),
            number(row["plain"]),
            number(row["plain"] / row[POLICY] if row["plain"] else None),
        ]
        for row in facts["rows"]
    ]
    head = ["K", "n", "ns a round", "plain C, ns", "× plain C"]
    return "\n\n".join(
        [
            f"## `{POLICY}`, by the numbers of a context",
            lead,
            markdown_table(head, rows),
            others_said(facts),
        ]
    )


def others_said(facts: dict[str, Any]) -> str:
    """Return the other policies that see contexts, in a sentence."""
    rows = [row for row in facts["rows"] if (row["arms"], row["numbers"]) == COMPARED]
    named = [f"`{name}` {number(row[name])}" for row in rows for name in OTHERS if name in row]
    return (
        f"The others with K = {COMPARED[0]} and n = {COMPARED[1]}, ns a round: {', '.join(named)}."
    )


def main() -> None:
    """Measure, keep the numbers and renew the page."""
    from benchmarks import page

    record.save(record.CONTEXTS, measure())
    page.renew()
    say(f"written to {record.CONTEXTS} and {record.PAGE}")


if __name__ == "__main__":
    main()
