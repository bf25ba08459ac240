"""Rounds per second of simulations: every policy at every K beside plain C and other libraries, and
how that grows with the budget.
"""

from __future__ import annotations

import time
from typing import Any

import purse
from benchmarks.families import FAMILIES, FLOOR, HEAD, plain_rate
from benchmarks.instance import (
    BUDGET,
    REPEATS,
    SIZES,
    USUAL,
    enough,
    policy_terms,
    say,
    timed,
    world,
)
from benchmarks.rivals import MABWISER, RIVER, mabwiser_rate, river_rate
from purse.base.validation import usable_cores
from purse.engine.job import make_job

MANY = 100_000  # arms, for policies that do not look at all of them in a round
LARGE = 10 * MANY  # their budget, so that setting up does not count
SMALL = 100  # that of plain C for this number of arms, which takes a millisecond a round
BUDGETS = (1e3, 1e4, 1e5, 1e6)
GROWING = (
    "exp3.bwk",
    "exp3++.bwk",
    "exp3++.price",
    "tsallis-inf",
    "kube",
    "primal-dual-bwk",
    "sw-ucb-bwk",
)


def quick_policies() -> list[str]:
    """Return the policies that say of themselves that a round takes O(log K)."""
    return [
        name
        for name in purse.policies.names()
        if "O(log K) a round" in (purse.policies.load(name).__doc__ or "")
    ]


def simulate(
    policy: str, instance: purse.lab.World, budget: float, n_paths: int, n_workers: int = 1
) -> tuple[float, float]:
    """Return the rounds per second of one simulation, by processor time and by the clock."""
    worked, began = time.process_time(), time.perf_counter()
    rounds = float(
        purse.simulate(
            policy,
            instance,
            budget,
            n_paths=n_paths,
            n_workers=n_workers,
            **policy_terms(policy, budget),
        ).rounds.sum()
    )
    return rounds / (time.process_time() - worked), rounds / (time.perf_counter() - began)


def paths_for(policy: str, instance: purse.lab.World, budget: float) -> int:
    """Return how many paths take long enough to be measured."""
    return enough(lambda n_paths: timed(lambda: simulate(policy, instance, budget, n_paths)))


def bytes_per_path(policy: str, instance: purse.lab.World, budget: float) -> int:
    """Return the memory of a path: the policy's state, and its part of the results."""
    job = make_job(policy, instance, budget, **policy_terms(policy, budget))
    # the results of all policies have one size
    run = purse.simulate("uniform", instance, 1, n_paths=1)
    results = (run.gain, run.rounds, run.spent_units, run.pulls, run.ended, run.efficiency)
    return int(
        sum(
            array.nbytes
            for array in (*job.policy.init(job.params, job.problem), *results)
            if array is not None
        )
    )


def measure_size(
    n_arms: int, policies: list[str], budget: float, plain_budget: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a row for each policy, on one core and on more, and a row for each rival, all at one
    K.
    """
    instance = world(n_arms)
    workers = sorted({min(2, usable_cores()), usable_cores()} - {1})
    plain: dict[str, float] = {}
    rows: list[dict[str, Any]] = []
    for policy in policies:
        n_paths = paths_for(policy, instance, budget)
        # by the clock on the wall, and how many cores that had
        one, walls = 0.0, dict.fromkeys([1, *workers], (0.0, 0.0))
        # side by side, so that a slow moment of the machine hits all alike
        for _ in range(REPEATS):
            if own_rate := plain_rate(HEAD[policy], n_arms, plain_budget):
                plain[HEAD[policy]] = max(own_rate, plain.get(HEAD[policy], 0.0))
            for count in walls:
                worked, wall = simulate(policy, instance, budget, count * n_paths, count)
                one, walls[count] = (
                    max(one, worked) if count == 1 else one,
                    max(walls[count], (wall, wall / worked)),
                )
        say(f"K = {n_arms:,}: {policy}, {1e9 / one:,.0f} ns a round")
        row = {
            "policy": policy,
            "arms": n_arms,
            "device": "cpu",
            "family": HEAD[policy],
            "rounds_per_second": one,
        }
        scaling = {str(count): walls[count][0] / walls[1][0] for count in workers}
        cores = {str(count): walls[count][1] for count in workers}
        rows.append(
            {
                **row,
                "workers": scaling,
                "cores": cores,
                "bytes_per_path": bytes_per_path(policy, instance, budget),
            }
        )
    rivals = {f"C {head}": plain[head] for head in FAMILIES if head in plain}
    if n_arms in SIZES:
        rivals |= {RIVER: river_rate(n_arms), MABWISER: mabwiser_rate(n_arms)}
    return rows, [
        {"name": name, "arms": n_arms, "rounds_per_second": own_rate}
        for name, own_rate in rivals.items()
    ]


def with_ratios(row: dict[str, Any], rivals: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the row with its nanoseconds, and how many times as many rounds it makes as each rival
    at the same K; None without such a rival.
    """
    rates = {
        rival["name"]: rival["rounds_per_second"]
        for rival in rivals
        if rival["arms"] == row["arms"]
    }
    names = {
        "floor": f"C {FLOOR}",
        "plain": f"C {row['family']}",
        "river": RIVER,
        "mabwiser": MABWISER,
    }
    ratios = {
        key: row["rounds_per_second"] / rates[name] if name in rates else None
        for key, name in names.items()
    }
    return {**row, "nanoseconds": 1e9 / row["rounds_per_second"], **ratios}


def measure_all() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Every policy at every K, and those that can at many arms; and the rivals."""
    everything = [measure_size(n_arms, purse.policies.names(), BUDGET, BUDGET) for n_arms in SIZES]
    everything.append(measure_size(MANY, quick_policies(), LARGE, SMALL))
    rivals = [rival for _, of_size in everything for rival in of_size]
    return [with_ratios(row, rivals) for rows, _ in everything for row in rows], rivals


def growth() -> list[dict[str, Any]]:
    """Nanoseconds a round of a few policies from small budgets to large ones, at the usual K."""
    instance, rows = world(USUAL), []
    for policy in GROWING:
        for budget in BUDGETS:
            n_paths = paths_for(policy, instance, budget)
            rate = max(simulate(policy, instance, budget, n_paths)[0] for _ in range(REPEATS))
            rows.append(
                {
                    "policy": policy,
                    "budget": budget,
                    "nanoseconds": 1e9 / rate,
                    "bytes_per_path": bytes_per_path(policy, instance, budget),
                }
            )
        say(f"budgets up to {BUDGETS[-1]:,.0f}: {policy}")
    return rows
