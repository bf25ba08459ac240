"""Rewards of 0 or 1 whose means, and fixed costs, change from segment to segment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse import amount, check
from purse.environments.tables import bernoulli_atoms, check_range, make_world, reals
from purse.errors import InvalidInput
from purse.types import World


def switching(segments: ArrayLike, rewards: ArrayLike, costs: Any) -> World:
    """In segment s arm i pays 1 with probability `rewards[s][i]` at cost `costs[s][i]`; after the last segment the first comes again.

    `segments` is how many rounds each lasts, or one number for all; costs of shape (K,) hold in all segments.

    >>> switching(segments=[100, 50], rewards=[[0.9, 0.1], [0.1, 0.9]], costs=[0.5, 0.5]).tables.period
    150
    """
    means, units = check_range("rewards", reals("rewards", rewards, 2)), amount.unit_array("costs", costs)
    if units.shape == means.shape[1:]:
        units = np.broadcast_to(units, means.shape)
    if units.shape[:2] != means.shape or units.ndim not in (2, 3) or units.size == 0:
        raise InvalidInput(f"costs of shape {units.shape} do not match rewards of shape {means.shape}")
    given = segments if isinstance(segments, (list, tuple, np.ndarray)) else [segments]
    lengths = [check.integer("segments", length, low=1) for length in given]
    if len(lengths) == 1:
        lengths *= len(means)
    if len(lengths) != len(means):
        raise InvalidInput(f"segments has {len(lengths)} lengths, and rewards has {len(means)} segments")
    last = np.cumsum(lengths)
    return make_world("switching", *bernoulli_atoms(means, units.reshape(*means.shape, -1)), last=last, period=int(last[-1]))
