"""Probabilities, rewards and costs, checked and made into a `World`."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import amounts, validation
from purse.errors import InvalidInput, invalid
from purse.types import Floats, Ints, Words, World
from purse.worlds._draw import Tables

FOREVER = 2**62  # the last round of a phase that does not end
MOST_ROUNDS = 10**12  # that a phase may be given


def make_world(
    name: str,
    probabilities: Floats,
    rewards: Floats,
    costs: Ints,
    *,
    last: ArrayLike = (FOREVER,),
    period: int = 0,
    shuffle: bool = False,
    sample: bool = False,
    features: Floats | None = None,
    n_rounds: int | None = None,
    horizon: int | None = None,
) -> World:
    """Return the world with atoms of (probability, reward, cost).

    Arrays have shape (H, K, A), and costs (H, K, A, d) in units. They determine what the world
    declares to players: the least and the most that each arm may cost, fixed costs if these are
    equal, and means if there is one phase or phases are drawn (`sample`).

    features   the context of each phase, shape (H, F), or (H, K, F) for one of each arm; `None`:
               there are no contexts
    """
    if not probabilities.shape == rewards.shape == costs.shape[:3] or costs.size == 0:
        raise InvalidInput(
            f"probabilities {probabilities.shape}, rewards {rewards.shape} and costs "
            f"{costs.shape} do not match"
        )
    check_range("rewards", rewards)
    check_range("probabilities", probabilities)
    if (np.abs(probabilities.sum(axis=2) - 1) > 1e-9).any():
        raise invalid(
            "probabilities", probabilities.sum(axis=2).tolist(), "must sum to 1 for each arm"
        )
    possible = (probabilities > 0)[..., None]
    low = np.where(possible, costs, amounts.LARGEST).min(axis=(0, 2))
    high = np.where(possible, costs, -amounts.LARGEST).max(axis=(0, 2))
    amounts.check_costs(low, high, ("costs", "costs"), free=horizon is not None)
    steady = (len(rewards) == 1 or sample) and n_rounds is None
    contexts = context_rows(features, len(rewards), rewards.shape[1])
    return World(
        name,
        Tables(
            np.array(last, np.int64),
            period,
            shuffle,
            sample,
            rewards.shape[::2] == (1, 2)
            and costs.shape[3] == 1
            and bool((costs[:, :, 0] == costs[:, :, 1]).all()),
            thresholds(probabilities),
            np.array(rewards, order="C"),
            np.array(costs, order="C"),
            contexts,
        ),
        low,
        high,
        costs=low if (low == high).all() else None,
        horizon=horizon,
        n_rounds=n_rounds,
        reward_means=(probabilities * rewards).sum(axis=2).mean(axis=0) if steady else None,
        cost_means=(probabilities[..., None] * costs).sum(axis=2).mean(axis=0) / amounts.UNIT
        if steady
        else None,
        n_features=contexts.shape[2] - 1,
        per_arm=contexts.shape[1] > 1,
    )


def context_rows(features: Floats | None, n_phases: int, n_arms: int) -> Floats:
    """Return the contexts with a constant 1 at their end, shape (H, 1 or K, F + 1).

    Features are rounded to 32 bits, as everywhere: a journal keeps what a policy saw.
    """
    if features is None:
        return np.zeros((0, 1, 1))
    rows = features[:, None] if features.ndim == 2 else features
    if rows.ndim != 3 or len(rows) != n_phases or rows.shape[1] not in (1, n_arms):
        raise InvalidInput(
            f"features of shape {features.shape} do not match {n_phases} rows of {n_arms} arms"
        )
    rounded = rows.astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded).all():
        raise InvalidInput("features: must be finite numbers of 32 bits")
    return np.concatenate([rounded, np.ones((*rows.shape[:2], 1))], axis=2)


def thresholds(probabilities: Floats) -> Words:
    """Return the word of 2^53 below which an atom or one before is drawn, (H, K, A - 1)."""
    # 0: no atom with a chance follows, so this takes the rest
    after = np.cumsum(probabilities[:, :, :0:-1], axis=2)[:, :, ::-1]
    upto = np.where(after > 0, np.minimum(np.cumsum(probabilities, axis=2)[:, :, :-1], 1.0), 1.0)
    return np.ascontiguousarray(np.ceil(upto * 2.0**53).astype(np.uint64))


def bernoulli_atoms(means: Floats, costs: Ints) -> tuple[Floats, Floats, Ints]:
    """Return atoms of rewards 1 or 0, from means (H, K) and costs (H, K, d) in units."""
    probabilities = np.stack([means, 1 - means], axis=2)
    return (
        probabilities,
        np.broadcast_to([1.0, 0.0], probabilities.shape),
        np.repeat(costs[:, :, None, :], 2, axis=2),
    )


def positive_units(field: str, value: Any, high: float = math.inf) -> int:
    """Return a positive amount in units."""
    units = amounts.to_units(field, validation.number(field, value, above=0, high=high))
    if units == 0:
        raise invalid(field, value, "must be at least 1e-9")
    return units


def per_arm(field: str, values: ArrayLike) -> Floats:
    """Return one number in [0, 1] per arm, shape (K,)."""
    return check_range(field, reals(field, values, 1))


def segment_ends(segments: Any, count: int, rows: str) -> Ints:
    """Return the last round of each segment, (S,); `rows` says what has the segments."""
    items = segments if isinstance(segments, (list, tuple, np.ndarray)) else [segments]
    lengths = [validation.integer("segments", length, low=1, high=MOST_ROUNDS) for length in items]
    if len(lengths) == 1:
        lengths *= count
    if len(lengths) != count:
        raise InvalidInput(f"segments has {len(lengths)} lengths, and {rows}")
    return np.cumsum(lengths)


def costs_between(
    costs: Any, n_arms: int, cost_min: Any, cost_max: Any
) -> tuple[Floats, Ints, Ints]:
    """Return mean costs as parts of the way between two bounds, (K,), and both, (1, 1)."""
    low, high = (
        np.array([[amounts.to_units(field, value)]])
        for field, value in (("cost_min", cost_min), ("cost_max", cost_max))
    )
    amounts.check_costs(low, high)
    means = costs_per_arm(costs, n_arms)
    if means.shape[1] > 1:
        raise invalid("costs", costs, "must be one mean for each arm: this world has one resource")
    if (means < low).any() or (means > high).any():
        raise invalid(
            "costs",
            costs,
            f"must lie between cost_min={amounts.text(low[0, 0])} and "
            f"cost_max={amounts.text(high[0, 0])}",
        )
    return ((means - low) / np.maximum(high - low, 1))[:, 0], low, high


def costs_per_arm(costs: Any, n_arms: int) -> Ints:
    """Return costs in units, shape (K, d), from one number per arm, or one per arm and resource."""
    units = amounts.unit_array("costs", costs)
    if units.ndim not in (1, 2) or len(units) != n_arms or units.size == 0:
        raise InvalidInput(f"costs of shape {units.shape} do not match rewards of {n_arms} arms")
    return amounts.cost_array("costs", costs, n_arms, 1 if units.ndim == 1 else units.shape[1])


def costs_like(costs: Any, rewards: Floats, *, repeat: bool) -> Ints:
    """Return costs in units like `rewards`, (..., d); with `repeat` one row serves all."""
    units = amounts.unit_array("costs", costs)
    if repeat and units.shape == rewards.shape[1:]:
        units = np.broadcast_to(units, rewards.shape)
    if units.shape[:2] != rewards.shape or units.ndim not in (2, 3) or units.size == 0:
        raise InvalidInput(
            f"costs of shape {units.shape} do not match rewards of shape {rewards.shape}"
        )
    return units.reshape(*rewards.shape, -1)


def reals(field: str, values: ArrayLike, ndim: int | None = None) -> Floats:
    """Return an array of finite floats with at least one entry, and `ndim` dimensions if given."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise invalid(field, values, "must be a rectangular array of numbers") from None
    if ndim is None:
        ndim = max(1, array.ndim)
    if array.ndim != ndim or array.size == 0:
        raise invalid(
            field, values, f"must have {ndim} dimension{'s' * (ndim > 1)} and at least one entry"
        )
    if not np.isfinite(array).all():
        raise invalid(field, float(array[~np.isfinite(array)].flat[0]), "must be a finite number")
    return array


def check_range(field: str, array: Floats) -> Floats:
    """Return the array; raise `InvalidInput` when an entry lies outside [0, 1]."""
    outside = (array < 0) | (array > 1)
    if outside.any():
        raise invalid(field, float(array[outside].flat[0]), "must lie between 0 and 1")
    return array
