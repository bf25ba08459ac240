"""Rewards of 0 or 1, and a fixed cost per arm."""

from typing import Any

from numpy.typing import ArrayLike

from purse.types import World
from purse.worlds._tables import bernoulli_atoms, costs_per_arm, make_world, per_arm

EXAMPLE = "bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.2]"


def bernoulli(rewards: ArrayLike, costs: Any) -> World:
    """Return a world in which arm i pays 1 with probability `rewards[i]` at cost `costs[i]`.

    It pays 0 otherwise. Rewards have shape (K,), and costs (K,) or, for several resources, (K, d).

    >>> bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3]).efficiencies
    array([1.125, 2.   ])
    """
    means = per_arm("rewards", rewards)
    return make_world(
        "bernoulli", *bernoulli_atoms(means[None], costs_per_arm(costs, len(means))[None])
    )
