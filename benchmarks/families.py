"""Plain C to hold each policy against: one program for each family of rules, in the folder
`plain`.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import purse
from benchmarks.instance import BUDGET, USUAL, enough, terms, timed, world

FLOOR = "exp3++.bwk"  # whose program is the floor that all are held against
# the policy that a program plays, and the others whose round is the same kind of work
FAMILIES = {
    "uniform": ("fixed", "oracle"),
    "exp3.bwk": ("exp3", "exp3-ix", "exp3-ix.bwk"),
    "exp3.m.b": (),
    "exp3++.bwk": ("exp3++", "exp3++.ada-prices", "exp3++.price", "exp3++.prices"),
    "exp3.p": ("exp3.p.bwk",),
    "tsallis-inf": ("tsallis-inf.bwk", "tsallis-inf.price"),
    "tsallis-inf.coin": (),
    "ucb-bv1": (
        "ucb-bv2",
        "ucb-mb",
        "ucb-sc",
        "i-ucb",
        "c-ucb",
        "m-ucb",
        "budget-ucb",
        "mrcb",
        "fractional-kube",
    ),
    "omega-ucb": ("best-arm",),
    "b-greedy": (),
    "epsilon-first": ("bounded-epsilon-first",),
    "kube": ("b-kube",),
    "budgeted-thompson": (),
    "lin-ucb.price": ("lin-cbwk", "lin-ts.price", "lin-ucb.resolve", "square-cbwk"),
    "primal-dual-bwk": ("classes.resolve",),
    "replan": (),
    "ucb-bwk": ("balanced-exploration", "semi-bwk", "sw-ucb-bwk"),
    "lagrange-bwk": ("bobw-primal-dual",),
    "elimination-race": (),
    "sao": ("delayed-sapo",),
}
HEAD = {policy: head for head, others in FAMILIES.items() for policy in (head, *others)}
SCRATCH = tempfile.TemporaryDirectory()
CHECK_PATHS = 400
DOUBT = 5  # standard errors beyond which two mean gains are not of the same game


class Outcome(NamedTuple):
    """What a plain program prints."""

    rounds_per_second: float
    gain: float
    error: float  # standard


def without_family() -> list[str]:
    """Return the policies that nothing in C is there for."""
    return sorted(set(purse.policies.names()) - set(HEAD))


@cache
def program(head: str, limits: int = 1) -> Path | None:
    """Return the program that plays this policy, compiled with gcc -O3; None without gcc.

    limits   how much runs out, see `benchmarks.instance`; more than one for `replan` only
    """
    if shutil.which("gcc") is None:
        return None
    stem = Path(purse.policies.load(head).__file__ or "").stem
    source = Path(__file__).parent / "plain" / f"{stem}.c"
    built = Path(SCRATCH.name) / f"{stem}-{limits}"
    flags = ["-O3", "-march=native", f"-DLIMITS={limits}"]
    subprocess.run(["gcc", *flags, "-o", built, source, "-lm"], check=True)
    return built


def play(
    head: str, n_arms: int, budget: float, runs: int, limits: int = 1, features: int = 0
) -> Outcome | None:
    """Run the program of this policy; None without gcc."""
    path = program(head, limits)
    if path is None:
        return None
    words = [str(word) for word in (path, n_arms, budget, runs, *([features] if features else []))]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return Outcome(*map(float, done.stdout.split()))


@cache
def enough_runs(head: str, n_arms: int, budget: float, limits: int = 1, features: int = 0) -> int:
    """Return how many runs take long enough to be measured."""
    return enough(
        lambda runs: timed(
            lambda: play(head, n_arms, budget, runs, limits, features), time.perf_counter
        )
    )


def plain_rate(
    head: str, n_arms: int, budget: float, limits: int = 1, features: int = 0
) -> float | None:
    """Return the rounds per second of the program of this policy; None without gcc."""
    if program(head, limits) is None:
        return None
    runs = enough_runs(head, n_arms, budget, limits, features)
    outcome = play(head, n_arms, budget, runs, limits, features)
    return outcome.rounds_per_second if outcome else None


def check_gain(head: str, limits: int = 1, features: int = 0) -> dict[str, Any] | None:
    """Return the mean gain of the program and of the policy on the same instance; raise if they
    cannot be the same; None without gcc.
    """
    plain = play(head, USUAL, BUDGET, CHECK_PATHS, limits, features)
    if plain is None:
        return None
    instance = world(USUAL, limits, features)
    run = purse.simulate(head, instance, n_paths=CHECK_PATHS, **terms(limits, BUDGET))
    gain, error = float(run.gain.mean()), float(run.gain.std(ddof=1)) / math.sqrt(run.n_paths)
    apart = (plain.gain - gain) / math.hypot(plain.error, error)
    if abs(apart) > DOUBT:
        raise AssertionError(
            f"{head}: mean gain {plain.gain:.6g} in C, {gain:.6g} here: {apart:.1f} "
            "standard errors apart"
        )
    return {"policy": head, "plain_gain": plain.gain, "gain": gain, "standard_errors_apart": apart}
