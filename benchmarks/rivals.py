"""What purse is measured against: the C floor of this folder, and river's EXP3."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

SCRATCH = tempfile.TemporaryDirectory()


@cache
def floor_program() -> Path | None:
    """The C floor, compiled with gcc -O3; None where there is no gcc."""
    if shutil.which("gcc") is None:
        return None
    program = Path(SCRATCH.name) / "floor"
    subprocess.run(["gcc", "-O3", "-march=native", "-o", program, Path(__file__).with_name("floor.c"), "-lm"], check=True)
    return program


def floor_rate(n_arms: int, budget: float, runs: int) -> float:
    """Rounds per second of the C floor, or NaN without gcc."""
    program = floor_program()
    if program is None:
        return float("nan")
    return float(subprocess.run([program, str(n_arms), str(budget), str(runs)], capture_output=True, text=True, check=True).stdout)


def river_rate(n_arms: int, rounds: int = 5_000) -> float:
    """Rounds per second of river's EXP3: pull, draw a Bernoulli reward, update."""
    from river import bandit

    policy: Any = bandit.Exp3(gamma=0.1, seed=1)
    arms = list(range(n_arms))
    means = [0.1 + 0.72 * i / (n_arms - 1) for i in arms]
    draw = random.Random(1).random
    start = time.perf_counter()
    for _ in range(rounds):
        arm = policy.pull(arms)
        policy.update(arm, float(draw() < means[arm]))
    return rounds / (time.perf_counter() - start)
