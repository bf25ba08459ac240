"""Any finite joint distribution of reward and cost for each arm."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from purse import amount
from purse.environments.tables import make_world, reals
from purse.errors import InvalidInput
from purse.types import World


def atoms(probabilities: ArrayLike, rewards: ArrayLike, costs: Any) -> World:
    """Arm i pays `rewards[i][a]` at `costs[i][a]` with probability `probabilities[i][a]`.

    Arrays of shape (K, A); costs may have a third axis, one entry per resource. Pad arms that have fewer atoms with
    probability 0.

    >>> atoms([[0.5, 0.5]], rewards=[[1, 0]], costs=[[1, 0.5]]).efficiencies.round(3)
    array([0.667])
    """
    chances, values, units = reals("probabilities", probabilities, 2), reals("rewards", rewards, 2), amount.unit_array("costs", costs)
    if units.shape[:2] != values.shape or units.ndim not in (2, 3) or units.size == 0:
        raise InvalidInput(f"costs of shape {units.shape} do not match rewards of shape {values.shape}")
    return make_world("atoms", chances[None], values[None], units.reshape(1, *values.shape, -1))
