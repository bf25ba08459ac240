"""Exploration with known chances: a share of the asks is drawn whatever the policy thinks, so that
the journal can tell what another policy would have earned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from purse.compiler.jit import kernel
from purse.kernels.random import EXPLORE, at, stream, uniform


def chances(share: float, most: Mapping[int, float]) -> dict[int, float]:
    """The chance that each arm is drawn by exploration.

    share   of the money, such as 0.05
    most    the most that each allowed arm may cost

    >>> chances(0.1, {0: 1.0, 2: 4.0})
    {0: 0.05, 2: 0.0125}
    """
    part, least = share / len(most), min(most.values())
    return {arm: part if need <= least else part * least / need for arm, need in most.items()}


@kernel
def chance_of_round(seed: int, t: int) -> float:
    """The random number of round t."""
    return uniform(at(stream(seed, 0, EXPLORE), t), 0)


def draw(explored: Mapping[int, float], seed: int, t: int) -> int | None:
    """The arm that exploration draws in round t, or None where the policy chooses."""
    chance = float(chance_of_round(seed, t))
    for arm, part in explored.items():
        if chance < part:
            return arm
        chance -= part
    return None


def scarcity(need: Sequence[int], budget: Sequence[int]) -> float:
    """What an arm may cost as a part of the budget, of the resource of which that is most."""
    return max(units / whole for units, whole in zip(need, budget, strict=True) if whole)
