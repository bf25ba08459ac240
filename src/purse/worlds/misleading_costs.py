"""Constant rewards and one random cost make the mean of reward per cost prefer the wrong arm."""

from dataclasses import replace

from purse.types import World
from purse.worlds.atoms import atoms

EXAMPLE = "misleading_costs"


def misleading_costs() -> World:
    """Return a world in which a random cost makes the mean of reward per cost misleading.

    Arm 0 always pays 0.5 and costs 0.1 or 1, equally likely: E[r]/E[c] = 0.909, E[r/c] = 2.75. Arm
    1 always pays 1 at cost 0.5. Arm 1 returns 2 per unit of budget, more than twice as much as arm
    0. A learner that averages r/c settles on arm 0.

    >>> misleading_costs().efficiencies.round(3)
    array([0.909, 2.   ])
    """
    world = atoms(
        probabilities=[[0.5, 0.5], [1.0, 0.0]],
        rewards=[[0.5, 0.5], [1.0, 1.0]],
        costs=[[0.1, 1], [0.5, 0.5]],
    )
    return replace(world, name="misleading_costs")
