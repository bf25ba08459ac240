"""Parts of worlds with contexts.

Such a world is a table of contexts: each round draws one of its rows, all equally likely. So the
distribution of contexts is known, and the optimum of players that see them is exact.
"""

from collections.abc import Callable, Sequence

import numpy as np

from purse.base import amounts, validation
from purse.errors import invalid
from purse.features import MOST_NUMBERS
from purse.types import Floats, World
from purse.worlds._tables import bernoulli_atoms, make_world

CELLS = 8  # equally likely costs around a mean
MOST_ENTRIES = 1_000_000  # rows times arms: some 400 MB


def contextual_world(
    name: str,
    features: Floats,
    success: Floats,
    costs: Floats,
    *,
    factors: Sequence[float] | Floats,
    horizon: int | None,
) -> World:
    """Return the world in which each round draws a row; rewards are 1 or 0.

    features   the context of each row, shape (N, F)
    success    the probability of a reward of 1, shape (N, K)
    costs      the mean costs, shape (N, K), in the user's unit
    factors    the cost is its mean times one of these, equally likely; their mean is 1
    """
    n_costs = len(factors)
    units = np.rint(costs[:, :, None] * np.asarray(factors) * amounts.UNIT).astype(np.int64)
    # reward and cost of a pull are independent: an atom for each pair
    parts = [bernoulli_atoms(success, units[:, :, k, None]) for k in range(n_costs)]
    probabilities, rewards, prices = (
        np.concatenate([part[which] for part in parts], axis=2) for which in range(3)
    )
    return make_world(
        name,
        probabilities / n_costs,
        rewards,
        prices,
        last=np.arange(1, len(features) + 1),
        sample=True,
        features=features,
        horizon=None if horizon is None else validation.integer("horizon", horizon, low=1),
    )


def middles(low: float, high: float) -> Floats:
    """Return the middles of `CELLS` equal parts of an interval: a uniform cost as atoms."""
    return low + (high - low) * (np.arange(CELLS) + 0.5) / CELLS


Weights = tuple[Floats, Floats]  # of two quantities; the first has shape (K, F + 1)


def cube_with_weights(
    rows: int,
    arms: int | None,
    features: int | None,
    seed: int,
    fixed: Weights,
    draw: Callable[[int, int, np.random.Generator], Weights],
) -> tuple[Floats, Weights]:
    """Return features uniform in [-1, 1], (N, F), and weights: fixed, or drawn for given sizes.

    Features are rounded to 32 bits, as policies see them. Each has one value in each of N equal
    parts of the interval, in an order of its own (Latin hypercube).
    """
    n_arms, width = fixed[0].shape
    n_rows, n_arms, n_features = sizes(
        rows, n_arms if arms is None else arms, width - 1 if features is None else features
    )
    chance = generator(seed)
    parts = chance.permuted(np.tile(np.arange(n_rows), (n_features, 1)), axis=1).T
    even = (parts + chance.random((n_rows, n_features))) / n_rows
    contexts = (2 * even - 1).astype(np.float32).astype(np.float64)
    if arms is None and features is None:
        return contexts, fixed
    return contexts, draw(n_arms, n_features, chance)


def sizes(rows: int, arms: int, features: int, field: str = "features") -> tuple[int, int, int]:
    """Return rows, arms and features, checked; `field` is what users call the last."""
    n_rows = validation.integer("rows", rows, low=1)
    n_arms = validation.integer("arms", arms, low=1, high=MOST_ENTRIES)
    if n_rows * n_arms > MOST_ENTRIES:
        raise invalid("rows", rows, f"must be at most {MOST_ENTRIES // n_arms:,} for {n_arms} arms")
    return n_rows, n_arms, validation.integer(field, features, low=1, high=MOST_NUMBERS)


def generator(seed: int) -> np.random.Generator:
    """Return the random numbers that a world is drawn with."""
    return np.random.default_rng(validation.integer("seed", seed, low=0))
