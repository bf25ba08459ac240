"""The rules of the game as kernels, shared by the simulator's loop and by the live object, so that
the two cannot differ.
"""

from __future__ import annotations

from typing import Any

from purse.compiler.jit import cold, kernel
from purse.kernels.random import U, uniform
from purse.types import STOP_RULES, Floats, Ints

EXIT, HOLD, RETRY = range(len(STOP_RULES))
NEVER = 2**62  # a round that no game reaches


def initial_rounds(policy: Any, n_arms: int, plays: int) -> int:
    """How many rounds the initial pulls take: each arm once, if the module says `INITIAL_PULLS`."""
    return -(-n_arms // plays) if getattr(policy, "INITIAL_PULLS", False) else 0


@kernel
def initial_pull(t: int, n_arms: int, arms: Ints, probs: Floats) -> None:
    """Round t of the initial pulls: the arms in order."""
    plays = arms.shape[0]
    for k in range(plays):
        arms[k] = ((t - 1) * plays + k) % n_arms
        probs[k] = 1.0


@kernel
def short_of(plays: int, resources: int, units: Ints, purse: Ints) -> int:
    """The first resource of which the plays together cost more than the purse holds, or -1."""
    for m in range(resources):
        need = 0
        for k in range(plays):
            need += units[k, m]
        if need > purse[m]:
            return m
    return -1


@cold
def replace_arm(
    key: U, attempt: int, short: int, units: Ints, arms: Ints, probs: Floats, aside: Ints
) -> bool:
    """Rule `retry`: the arm that costs most of what is short makes way for one drawn uniformly from
    those not tried yet.

    `aside` (K,) marks the arms that have made way in this round; returns False when no arm is left
    to draw.
    """
    worst = 0
    for k in range(1, arms.shape[0]):
        if units[k, short] > units[worst, short]:
            worst = k
    aside[arms[worst]] = 1
    fresh = 0
    for i in range(aside.shape[0]):
        fresh += is_fresh(i, arms, aside)
    if fresh == 0:
        return False
    skip = int(uniform(key, attempt) * fresh)
    for i in range(aside.shape[0]):
        if is_fresh(i, arms, aside):
            if skip == 0:
                arms[worst] = i
                break
            skip -= 1
    probs[worst] = 1 / fresh
    return True


@kernel
def is_fresh(arm: int, arms: Ints, aside: Ints) -> bool:
    """Whether the arm is neither set aside nor in play."""
    if aside[arm] != 0:
        return False
    for k in range(arms.shape[0]):
        if arms[k] == arm:
            return False
    return True
