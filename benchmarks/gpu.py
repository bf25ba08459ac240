"""Rounds per second on a CUDA GPU, beside plain C on one core of the same machine. `python -m
benchmarks.gpu` measures this alone.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import purse
from benchmarks import break_even, record
from benchmarks.engine import with_ratios
from benchmarks.families import FAMILIES, HEAD, plain_rate
from benchmarks.instance import BUDGET, LIMITS, USUAL, best, say, terms, timed, world
from benchmarks.machine import machine
from benchmarks.page import publish
from benchmarks.tables import PLANNED

N_PATHS = 1 << 20
LONGEST = 10  # times the usual budget: so long that fetching the results hardly counts
SECONDS = 2.0  # that a measurement may take
TRIES = 2
ROUNDS_PER_COST = 2  # about, in this world


def usable() -> bool:
    """Return whether there is a GPU that purse can use."""
    try:
        from purse.engine.gpu import available
    except ImportError:  # the extra that it needs is not there
        return False
    return available()


def device_name() -> str:
    """Return the name of the GPU."""
    cuda: Any = import_module("numba.cuda")
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def rate(policy: str, n_paths: int, limits: int, times: float = 1.0) -> float:
    """Return the rounds per second of one simulation, with a multiple of the usual budget."""
    runs: list[purse.lab.Run] = []
    instance, options = world(USUAL, limits), terms(limits, times * BUDGET)
    seconds = timed(
        lambda: runs.append(
            purse.simulate(policy, instance, n_paths=n_paths, device="cuda", **options)
        ),
        time.perf_counter,
    )
    return float(runs[0].rounds.sum()) / seconds


def fastest(policy: str, limits: int = 1) -> float:
    """Return the best of a few measurements, each as long as is worth while."""
    rate(policy, 1_000, limits)  # compiles
    first = rate(policy, N_PATHS, limits)
    times = min(LONGEST, max(1.0, SECONDS * first / (N_PATHS * BUDGET * ROUNDS_PER_COST)))
    return max(first, *(rate(policy, N_PATHS, limits, times) for _ in range(TRIES)))


def measure() -> dict[str, Any]:
    """Return a row for each policy that plays there, why the others do not, and the rivals of the
    same machine.
    """
    rows, refused = [], {}
    plain = {
        head: best(lambda head=head: plain_rate(head, USUAL, BUDGET) or 0.0)  # type: ignore[misc]
        for head in FAMILIES
    }
    rivals = [
        {"name": f"C {head}", "arms": USUAL, "rounds_per_second": best_rate}
        for head, best_rate in plain.items()
        if best_rate
    ]
    for policy in purse.policies.names():
        try:
            best_rate = fastest(policy)
        except purse.PurseError as error:
            refused[policy] = str(error)
            continue
        say(f"GPU: {policy}, {best_rate / 1e6:,.0f} million rounds a second")
        row = {
            "policy": policy,
            "arms": USUAL,
            "device": "cuda",
            "family": HEAD[policy],
            "rounds_per_second": best_rate,
        }
        rows.append(with_ratios(row, rivals))
    return {
        "machine": {"GPU": device_name(), **machine()},
        "paths": N_PATHS,
        "budget": BUDGET * LONGEST,
        "rows": rows,
        "rivals": rivals,
        "refused": refused,
        "break_even": break_even.measure(),
        PLANNED: [
            {"limits": limits, "nanoseconds": 1e9 / fastest(PLANNED, limits)} for limits in LIMITS
        ],
    }


if __name__ == "__main__":
    publish(record.GPU, measure())
