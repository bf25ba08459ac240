"""Any finite joint distribution of reward and cost for each arm."""

from typing import Any

from numpy.typing import ArrayLike

from purse.types import World
from purse.worlds._tables import costs_like, make_world, reals

EXAMPLE = "atoms:probabilities=[[.2,.8],[.5,.5]],rewards=[[1,.5],[0,1]],costs=[[.3,.4],[1,.1]]"


def atoms(probabilities: ArrayLike, rewards: ArrayLike, costs: Any) -> World:
    """Return a world in which arm i draws one of A pairs of reward and cost.

    Pair a has reward `rewards[i][a]`, cost `costs[i][a]` and probability `probabilities[i][a]`. All
    three have shape (K, A); costs may have a third axis, one entry per resource. An arm with fewer
    pairs gets pairs of probability 0.

    >>> atoms([[0.5, 0.5]], rewards=[[1, 0]], costs=[[1, 0.5]]).efficiencies.round(3)
    array([0.667])
    """
    chances, values = reals("probabilities", probabilities, 2), reals("rewards", rewards, 2)
    return make_world(
        "atoms", chances[None], values[None], costs_like(costs, values, repeat=False)[None]
    )
