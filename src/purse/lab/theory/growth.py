"""The growth of regret with the budget: the slope in a log-log plot with its interval, and the
shape that fits best.

The interval is a bootstrap over paths, the same ones at all budgets, because a path at one budget
is often the beginning of the same path at the next. The shapes a + b f(B), b >= 0, are fitted by
least squares of the relative error.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from purse.types import Floats

_SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "log B": np.log,
    "log² B": lambda b: np.log(b) ** 2,
    "√B": np.sqrt,
    "B": lambda b: b,
}
_RESAMPLES = 2_000


class Growth(NamedTuple):
    """The fitted slope and shape."""

    # of log regret against log budget, least squares; NaN if a mean is not positive
    slope: float
    low: float  # ends of its 95% interval
    high: float
    slopes: tuple[float, ...]  # from each budget to the next
    misfits: dict[str, float]  # for each shape the relative error that remains, root mean square
    shape: str  # the one with the least


def fit_growth(budgets: Floats, regrets: Floats) -> Growth:
    """Return the growth of regrets (M, P), one row per budget, one column per path, over budgets
    (M,).

    >>> growth = fit_growth(np.array([1e2, 1e3, 1e4]), np.sqrt([[1e2] * 3, [1e3] * 3, [1e4] * 3]))
    >>> round(growth.slope, 6), growth.shape
    (0.5, '√B')
    """
    means = regrets.mean(axis=1)
    draws = np.random.default_rng(0).integers(regrets.shape[1], size=(_RESAMPLES, regrets.shape[1]))
    slopes = np.sort(slope(budgets, regrets[:, draws].mean(axis=2).T))
    finite = slopes[np.isfinite(slopes)]
    low, high = np.quantile(finite, (0.025, 0.975)) if len(finite) else (np.nan, np.nan)
    misfits = {name: _misfit(shape(budgets), means) for name, shape in _SHAPES.items()}
    pairs = [slice(i, i + 2) for i in range(len(budgets) - 1)]
    steps = tuple(float(slope(budgets[pair], means[None, pair])[0]) for pair in pairs)
    total, best = float(slope(budgets, means[None])[0]), min(misfits, key=misfits.__getitem__)
    return Growth(total, float(low), float(high), steps, misfits, best)


def slope(budgets: Floats, means: Floats) -> Floats:
    """(R,) The least-squares slope of log means (R, M) against log budgets."""
    x = np.log(budgets) - np.log(budgets).mean()
    y = np.log(np.where(means > 0, means, np.nan))
    return (y @ x) / (x @ x)


def _misfit(shape: Floats, means: Floats) -> float:
    """Return the root mean square of the relative error of the best a + b shape with b >= 0."""
    weights = 1 / np.maximum(np.abs(means), np.abs(means).max() * 1e-12)
    matrix = np.stack([weights, shape * weights], axis=1)
    target = means * weights
    (a, b), *_ = np.linalg.lstsq(matrix, target)
    if b < 0:
        a, b = (weights @ target) / (weights @ weights), 0.0
    return float(np.sqrt(np.mean((matrix @ np.array([a, b]) - target) ** 2)))
