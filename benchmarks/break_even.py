"""How few paths make a GPU pay: the least number, doubled from a few, at which it is done before
all cores of the same machine. `python -m benchmarks.break_even` prints this part alone.
"""

from __future__ import annotations

import json
import time
from typing import Any

import purse
from benchmarks.instance import BUDGET, USUAL, say, terms, timed, world
from purse.base.validation import usable_cores
from purse.types import CPU, CUDA

POLICIES = ("uniform", "exp3.bwk", "exp3++.bwk", "kube", "tsallis-inf", "budgeted-thompson")
FEWEST, MOST = 1 << 5, 1 << 20  # paths
TRIES = 3


def seconds(policy: str, n_paths: int, device: str) -> float:
    """Return the least of a few times by the clock on the wall, with setting up and fetching."""
    instance, options = world(USUAL), terms(1, BUDGET)
    return min(
        timed(
            lambda: purse.simulate(policy, instance, n_paths=n_paths, device=device, **options),
            time.perf_counter,
        )
        for _ in range(TRIES)
    )


def break_even(policy: str) -> dict[str, Any]:
    """Return how many paths the policy needs, and what both take then; None where `MOST` is too
    few.
    """
    for device in (CPU, CUDA):
        seconds(policy, 1, device)  # compiles
    n_paths = FEWEST
    while n_paths <= MOST:
        times = {device: seconds(policy, n_paths, device) for device in (CPU, CUDA)}
        if times[CUDA] < times[CPU]:
            say(f"GPU: {policy} pays from {n_paths:,} paths on")
            return {"policy": policy, "paths": n_paths, "seconds": times}
        n_paths *= 2
    return {"policy": policy, "paths": None, "seconds": None}


def measure() -> dict[str, Any]:
    """Return a row for each of a few policies, and how many cores the GPU was held against."""
    return {"cores": usable_cores(), "rows": [break_even(policy) for policy in POLICIES]}


def part(facts: dict[str, Any]) -> str:
    """Return the part of the page."""
    pays = ", ".join(
        f"{row['paths']:,} of `{row['policy']}`" for row in facts["rows"] if row["paths"]
    )
    never = [f"`{row['policy']}`" for row in facts["rows"] if not row["paths"]]
    refused = f" {', '.join(never)}: not up to {MOST:,}." if never else ""
    lead = (
        f"**How few paths make it pay.** With so many paths, doubled from {FEWEST}, the GPU is "
        f"done before all {facts['cores']} cores of its machine, with K = {USUAL} and a budget of "
        f"{BUDGET:,}, compiled before: {pays}.{refused}"
    )
    return lead


if __name__ == "__main__":
    print(json.dumps(measure()))
