"""`python -m benchmarks.by_size`: a round of `replan` by how much runs out, and of `lin-ucb.price`
by the numbers of a context, each beside its rule in plain C and other policies in one run.

`make bench` measures both, too. D limits are D rows of the program that `replan` solves in each
round; with contexts there is one resource and a horizon.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any, NamedTuple

import purse
from benchmarks import families, page, record
from benchmarks.instance import BUDGET, LIMITS, REPEATS, SIZES, enough, say, terms, timed, world
from benchmarks.machine import machine
from benchmarks.tables import LINEAR, PLANNED, RIVAL, number

CONTEXT_LIMITS = 2  # a resource and a horizon
# arms, and numbers of a context with its constant
OTHER_LINEAR = ("lin-ts.price", "lin-ucb.resolve", "square-cbwk", "lin-cbwk")
COMPARED = (5, 6)  # arms and numbers of a context with which the others are measured, too
CONTEXT_SIZES = ((5, 1), (5, 3), COMPARED, (5, 13), (5, 26), (10, 6))
CHECKED = (0, 5)  # features with which mean gains are compared


class Size(NamedTuple):
    """The size of a game."""

    arms: int
    limits: int
    features: int = 0


def rate(policy: str, size: Size, n_paths: int) -> float:
    """Return the rounds per second of processor time of one simulation on one core."""
    runs: list[purse.lab.Run] = []
    game, options = world(*size), terms(size.limits, BUDGET)
    seconds = timed(
        lambda: runs.append(purse.simulate(policy, game, n_paths=n_paths, n_workers=1, **options))
    )
    return float(runs[0].rounds.sum()) / seconds


def nanoseconds(size: Size, *policies: str) -> dict[str, float | None]:
    """Return the time of a round of the policies, and of the first in plain C, None without gcc."""

    def seconds(policy: str, count: int) -> float:
        return timed(lambda: rate(policy, size, count))

    paths = {policy: enough(partial(seconds, policy)) for policy in policies}
    rates = dict.fromkeys((*policies, "plain"), 0.0)
    # side by side, so that a slow moment of the machine hits all alike
    for _ in range(REPEATS):
        plain = families.plain_rate(policies[0], size.arms, BUDGET, *size[1:]) or 0.0
        rates["plain"] = max(rates["plain"], plain)
        for policy, n_paths in paths.items():
            rates[policy] = max(rates[policy], rate(policy, size, n_paths))
    row = {name: 1e9 / best if best else None for name, best in rates.items()}
    say(f"{policies[0]}: {size}, {number(row[policies[0]])} ns, C {number(row['plain'])}")
    return row


def measure_plans() -> dict[str, Any]:
    """Return all sizes for `replan`, and whether plain C plays the same game."""
    busy = os.getloadavg()[0]
    checks = [families.check_gain(PLANNED, limits) for limits in LIMITS]
    sizes = [Size(n_arms, limits) for limits in LIMITS for n_arms in SIZES]
    return {
        "machine": machine(),
        "load_before": busy,
        "budget": BUDGET,
        "apart": [check["standard_errors_apart"] for check in checks if check],
        "rows": [
            {"limits": size.limits, "arms": size.arms, **nanoseconds(size, PLANNED, RIVAL)}
            for size in sizes
        ],
    }


def measure_contexts() -> dict[str, Any]:
    """Return all sizes for `lin-ucb.price`, and whether plain C plays the same game."""
    busy = os.getloadavg()[0]
    checks = [families.check_gain(LINEAR, CONTEXT_LIMITS, features) for features in CHECKED]
    rows = []
    for n_arms, numbers in CONTEXT_SIZES:
        others = OTHER_LINEAR if (n_arms, numbers) == COMPARED else ()
        row = nanoseconds(Size(n_arms, CONTEXT_LIMITS, numbers - 1), LINEAR, *others)
        rows.append({"arms": n_arms, "numbers": numbers, **row})
    return {
        "machine": machine(),
        "load_before": busy,
        "apart": [check["standard_errors_apart"] for check in checks if check],
        "rows": rows,
    }


def main() -> None:
    """Measure both, keep the numbers and renew the page."""
    page.publish(record.REPLAN, measure_plans())
    page.publish(record.CONTEXTS, measure_contexts())


if __name__ == "__main__":
    main()
