"""Regret against the best fixed arm, measured on the same draws, with its standard error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from purse.types import Floats

LEVEL = 0.95  # of confidence intervals


class Estimate(NamedTuple):
    """A mean over paths."""

    mean: float
    error: float  # standard error; NaN for a single path
    low: float  # ends of the confidence interval (Student's t)
    high: float


def estimate(values: Floats) -> Estimate:
    """The mean of independent values with its confidence interval.

    >>> estimate(np.array([1.0, 2.0, 3.0])).mean
    2.0
    """
    n, mean = len(values), float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    half = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * error if n > 1 else float("nan")
    return Estimate(mean, error, mean - half, mean + half)


def best_fixed_arm(fixed_gains: Floats) -> int:
    """The arm with the largest mean gain, from the gains (K, P) of playing each arm alone."""
    return int(fixed_gains.mean(axis=1).argmax())


def against_best_fixed_arm(gain: Floats, fixed_gains: Floats) -> Floats:
    """(P,) What the best fixed arm gained on each path more than the policy did, on the same draws.

    The arm is the one that is best on average, so this is max_i E[G(i)] - E[G], without the optimism of picking another
    arm on each path; path by path it pairs the two, which takes most of the noise of the draws out of the difference.
    """
    return fixed_gains[best_fixed_arm(fixed_gains)] - gain
