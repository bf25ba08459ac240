"""`python -m benchmarks.replan`: a round of `replan` by how much runs out, beside its rule in plain
C and `primal-dual-bwk` in one run.

`make bench` measures it too. D limits are D rows of the program that each round solves.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import purse
from benchmarks import families, record
from benchmarks.instance import (
    BUDGET,
    LIMITS,
    REPEATS,
    SIZES,
    USUAL,
    enough,
    say,
    terms,
    timed,
    world,
)
from benchmarks.machine import machine
from benchmarks.tables import markdown_table, number

POLICY, RIVAL = "replan", "primal-dual-bwk"
RUNS_OUT = {
    1: "one resource",
    2: "one resource and a horizon",
    3: "two resources and a horizon",
}


def rate(policy: str, n_arms: int, limits: int, n_paths: int) -> float:
    """Return the rounds per second of processor time of one simulation on one core."""
    runs: list[purse.lab.Run] = []
    place, given = world(n_arms, limits), terms(limits, BUDGET)
    seconds = timed(
        lambda: runs.append(purse.simulate(policy, place, n_paths=n_paths, n_workers=1, **given))
    )
    return float(runs[0].rounds.sum()) / seconds


def measure_one(n_arms: int, limits: int) -> dict[str, Any]:
    """Nanoseconds a round of both policies and of plain C, None without gcc."""

    def seconds(policy: str, count: int) -> float:
        return timed(lambda: rate(policy, n_arms, limits, count))

    paths = {policy: enough(partial(seconds, policy)) for policy in (POLICY, RIVAL)}
    found = dict.fromkeys((POLICY, RIVAL, "plain"), 0.0)
    # side by side, so that a slow moment of the machine hits all alike
    for _ in range(REPEATS):
        plain = families.plain_rate(POLICY, n_arms, BUDGET, limits) or 0.0
        found["plain"] = max(found["plain"], plain)
        for policy, n_paths in paths.items():
            found[policy] = max(found[policy], rate(policy, n_arms, limits, n_paths))
    row = {name: 1e9 / each if each else None for name, each in found.items()}
    say(f"{POLICY}: D = {limits}, K = {n_arms:,}, {number(row[POLICY])} ns a round")
    return {"limits": limits, "arms": n_arms, **row}


def measure() -> dict[str, Any]:
    """Everything but the GPU."""
    busy = os.getloadavg()[0]
    checks = [families.check_gain(POLICY, limits) for limits in LIMITS]
    rows = [measure_one(n_arms, limits) for limits in LIMITS for n_arms in SIZES]
    return {
        "machine": machine(),
        "load_before": busy,
        "budget": BUDGET,
        "apart": [check["standard_errors_apart"] for check in checks if check],
        "rows": rows,
    }


def part(facts: dict[str, Any], cuda: dict[str, Any] | None) -> str:
    """Return the section of the page."""
    lead = (
        f"In every round `{POLICY}` solves a linear program with D rows, one for each thing that "
        "runs out. Plain C solves it with a dense tableau, and D is a constant in it."
    )
    return f"## `{POLICY}`, by what runs out\n\n{lead}\n\n{rows_table(facts, cuda)}"


def rows_table(facts: dict[str, Any], cuda: dict[str, Any] | None) -> str:
    """Nanoseconds a round and ratios, and those of the GPU if it was measured."""
    there = {row["limits"]: row["nanoseconds"] for row in (cuda or {}).get(POLICY, ())}
    head = ["D", "K", "ns a round", "× plain C", f"× `{RIVAL}`"]
    rows = []
    for row in facts["rows"]:
        cells = [f"{row['limits']}: {RUNS_OUT[row['limits']]}", f"{row['arms']:,}"]
        cells.append(number(row[POLICY]))
        for rival in ("plain", RIVAL):
            ratio = row[rival] / row[POLICY] if row[rival] else None
            cells.append(number(ratio))
        if there:
            cells.append(number(there.get(row["limits"]) if row["arms"] == USUAL else None))
        rows.append(cells)
    return markdown_table([*head, *(["ns on the GPU"] if there else [])], rows)


def main() -> None:
    """Measure, keep the numbers and renew the page."""
    from benchmarks import page

    record.save(record.REPLAN, measure())
    page.renew()
    say(f"written to {record.REPLAN} and {record.PAGE}")


if __name__ == "__main__":
    main()
