"""What one waits for: fresh processes, code that is compiled for the first time, and one ask and
tell of a live policy.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

import purse
from benchmarks.instance import BUDGET, TOLD, USUAL, best, enough, say, timed, world
from purse.base.amounts import UNIT
from purse.engine.cpu import usable_cores
from purse.engine.job import make_job

FIRST = "import purse; purse.simulate('exp3++.bwk', 'misleading_ratio', 100, n_paths=10)"
WAITS = {
    "python alone": "pass",
    "import purse": "import purse",
    "first simulation, compiled before": FIRST,
}
COLD = "first simulation, nothing compiled"
RICH = 10_000_000  # a budget that no measurement exhausts


def live_rate(policy: str) -> float:
    """Asks and tells per second of a policy in memory, at the usual K."""
    place = world(USUAL)
    live = purse.Policy.of(
        make_job(policy, place, RICH, **TOLD).problem, policy, seed=0, stop="hold"
    )
    costs = (place.cost_max[:, 0] / UNIT).tolist()

    def rounds(count: int) -> float:
        def play() -> None:
            for k in range(count):
                ticket = live.ask()
                live.tell(ticket, float(k & 1), costs[ticket.arm])

        return timed(play)

    count = enough(rounds)
    return best(lambda: count / rounds(count))


def prepare(policy: str) -> None:
    """Have all machine code of a policy on disk."""
    purse.simulate(policy, world(USUAL), 10, n_paths=1, **TOLD)
    live = purse.Policy.of(
        make_job(policy, world(USUAL), BUDGET, **TOLD).problem, policy, seed=0, stop="hold"
    )
    live.tell(live.ask(), 1, 0.9)


def prepare_all() -> None:
    """Compile what is not compiled yet, on all cores, so that nothing is while others are
    measured.
    """
    names = purse.policies.names()
    with ProcessPoolExecutor(usable_cores(), multiprocessing.get_context("spawn")) as pool:
        for done, _ in enumerate(pool.map(prepare, names), 1):
            say(f"compiled: {done} of {len(names)} policies") if done % 10 == 0 or done == len(
                names
            ) else None


def waits() -> dict[str, float]:
    """Seconds of fresh processes, the best of a few; the one that compiles once."""
    with tempfile.TemporaryDirectory() as cache:

        def seconds_of(code: str) -> float:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            return timed(
                lambda: subprocess.run([sys.executable, "-c", code], check=True, env=environment),
                time.perf_counter,
            )

        cold = seconds_of(FIRST)
        say(f"{COLD}: {cold:.1f} s")
        return {
            **{
                name: 1 / best(lambda code=code: 1 / seconds_of(code))  # type: ignore[misc]
                for name, code in WAITS.items()
            },
            COLD: cold,
        }


def live_microseconds() -> dict[str, float]:
    """One ask and one tell of each policy."""
    found = {policy: 1e6 / live_rate(policy) for policy in purse.policies.names()}
    say(f"ask and tell: {len(found)} policies")
    return found
