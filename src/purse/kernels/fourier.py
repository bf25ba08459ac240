"""A random Fourier map: cosines of a context, in which much that is not linear becomes linear.

Beside the F numbers x of a context, which lie in [-1, 1] if they have ranges or classes, a policy
sees the numbers

    z(k) = SIZE cos(w(k) . x + b(k)),    w(k) ~ normal(0, (REACH / sqrt(F))^2 I),    b(k) uniform

A linear function of many of them is nearly any smooth function of x. They are smaller than x, so
that what is linear is learnt first. Nothing is fitted: w and b are numbers of a seed, and a value
means the same in the first round and in the last.

Angles are counted in turns, so that whole ones fall off without error. Sums run from left to right,
element by element, and the results are rounded to 32 bits: every machine gives the same bits.

Reference: A. Rahimi, B. Recht. Random features for large-scale kernel machines. NIPS 2007.
"""

import math
from functools import cache

import numpy as np

from purse.features import Features, Waves
from purse.kernels.distributions import normal
from purse.kernels.random import FEATURES, at, stream, uniform
from purse.types import Floats

_REACH, _SIZE = 1.5, 0.5
# of the sine of an angle in turns, in odd powers: up to a quarter turn the rest is below 1e-9
_SERIES = [(-1) ** k * math.tau ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(7)]


def as_seen(features: Features, numbers: Floats) -> Floats:
    """Return contexts as policies see them, (..., F as they see it), from what `encode` made of
    them, (..., F).
    """
    return numbers if features.waves is None else mapped(numbers, features.waves)


def mapped(numbers: Floats, waves: Waves) -> Floats:
    """Return numbers, shape (..., F), and after them their cosines, rounded to 32 bits."""
    turns, starts = _draw_waves(waves, numbers.shape[-1])
    angles = np.broadcast_to(starts, (*numbers.shape[:-1], waves.size)).copy()
    for k, turn in enumerate(turns):
        angles += numbers[..., k, None] * turn
    cosines = (_SIZE * _cosine(angles)).astype(np.float32)
    return np.concatenate([numbers, cosines.astype(np.float64)], axis=-1)


def _cosine(turns: Floats) -> Floats:
    """Return the cosines of angles in turns, to 1e-9."""
    rising = 0.25 - np.abs(turns - np.rint(turns))  # whose sine it is
    square = rising * rising
    total = np.full_like(turns, _SERIES[-1])
    for term in _SERIES[-2::-1]:
        total = total * square + term
    return total * rising


@cache
def _draw_waves(waves: Waves, n_features: int) -> tuple[Floats, Floats]:
    """Return w, (F, size), and b, (size,), in turns; more cosines leave the first as they are."""
    numbers = stream(waves.seed, 0, FEATURES)
    turns, starts = np.zeros((n_features, waves.size)), np.zeros(waves.size)
    for k in range(waves.size):
        key = at(numbers, k)
        for f in range(n_features):
            turns[f, k], _, key = normal(key)
        starts[k] = uniform(key, 0)
    return turns * (_REACH / (math.tau * math.sqrt(n_features))), starts
