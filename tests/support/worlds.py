"""What the tests of the worlds share."""

from __future__ import annotations

import numpy as np

import purse
from purse.types import World


def same_tables(one: World, other: World) -> bool:
    """Whether two worlds draw from equal tables."""
    return all(
        np.array_equal(ours, theirs) for ours, theirs in zip(one.tables, other.tables, strict=True)
    )


def fixed_gains(world: World | str, budget: float) -> list[float]:
    """What each of two arms earns alone in a world without chance."""
    return [purse.simulate(f"fixed:arm={arm}", world, budget, n_paths=1).gain[0] for arm in (0, 1)]
