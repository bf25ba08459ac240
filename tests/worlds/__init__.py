from __future__ import annotations

import numpy as np

from purse.types import World


def same_tables(one: World, other: World) -> bool:
    """Whether two worlds draw from equal tables."""
    return all(
        np.array_equal(ours, theirs) for ours, theirs in zip(one.tables, other.tables, strict=True)
    )
