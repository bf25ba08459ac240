"""Random costs make the mean of reward per cost prefer the wrong arm: it refutes Theorem 3."""

from dataclasses import replace

from purse.types import World
from purse.worlds.atoms import atoms

EXAMPLE = "misleading_ratio"


def misleading_ratio() -> World:
    """Return the counterexample to Theorem 3, in which the mean of reward per cost is misleading.

    Arm 0 pays 1 with probability 0.5 and costs 0.1 or 1, equally likely and independently:
    E[r]/E[c] = 0.909, E[r/c] = 2.75. Arm 1 pays 1 with probability 0.6 at cost 0.5: both ratios are
    1.2. A budget buys E[r]/E[c], so arm 1 is better. A learner that averages r/c settles on arm 0
    and loses 0.291 B.

    >>> misleading_ratio().efficiencies.round(3)
    array([0.909, 1.2  ])
    """
    world = atoms(
        probabilities=[[0.25, 0.25, 0.25, 0.25], [0.6, 0.4, 0, 0]],
        rewards=[[1, 1, 0, 0], [1, 0, 0, 0]],
        costs=[[0.1, 1, 0.1, 1], [0.5, 0.5, 0.5, 0.5]],
    )
    return replace(world, name="misleading_ratio")
