"""A world with outages: the arms that may be played change from segment to segment."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.errors import InvalidInput, invalid
from purse.types import Bools, Outages, World
from purse.worlds._tables import FOREVER, segment_ends

EXAMPLE = (
    'outages:world="bernoulli:rewards=[.9,.6,.3],costs=[.6,.5,.4]",'
    "up=[[1,1,1],[0,1,1]],segments=[60,40]"
)


def outages(
    world: str | World, up: ArrayLike, segments: Any = None, *, budget: float | None = None
) -> World:
    """Return `world` with outages: in segment s only the arms with `up[s][i]` may be played.

        world      a `World`, or text
        up         rows of 0 and 1, shape (S, K); each row needs an arm that is up
        segments   the rounds of each segment, or one number for all; None: the world's own phases
        budget     passed on to a world that is text and depends on it

    After the last segment the first comes again.

    >>> place = outages("bernoulli:rewards=[.9,.6],costs=[.5,.5]", up=[[1, 1], [0, 1]], segments=10)
    >>> place.outages.allowed(5), place.outages.allowed(11), place.outages.allowed(21)
    ([0, 1], [1], [0, 1])
    """
    from purse.worlds import make  # the package imports this file

    inner = make(world, budget)
    rows = arm_rows("up", up, inner.n_arms)
    return replace(
        inner,
        name=f"outages of {inner.name}",
        outages=Outages(rows, last_rounds(inner, segments, len(rows))),
    )


def arm_rows(field: str, values: ArrayLike, n_arms: int) -> Bools:
    """Return rows that say which arms may be played, shape (S, K)."""
    try:
        rows = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise invalid(field, values, "must be rows of 0 and 1") from None
    if rows.ndim != 2 or rows.shape[1] != n_arms or not np.isin(rows, (0, 1)).all():
        raise invalid(field, values, f"must be rows of {n_arms} entries, 0 or 1, one for each arm")
    if not rows.any(axis=1).all():
        raise invalid(field, values, "must have an arm that may be played in each row")
    return rows.astype(np.bool_)


def last_rounds(world: World, segments: Any, n_segments: int) -> Any:
    """Return the last round of each segment, shape (S,)."""
    if segments is None:
        last = np.array(world.tables.last, np.int64)
        if len(last) != n_segments:
            raise InvalidInput(
                f"up has {n_segments} segments, and {world.name} has {len(last)} phases; "
                "pass segments=..."
            )
        return np.minimum(last, FOREVER)
    return segment_ends(segments, n_segments, f"up has {n_segments} rows")
