r"""Normal and gamma variates from the counter-based random numbers; two gammas make a draw from a
Beta posterior.

Each kernel takes a key and returns, after what it drew, the key moved on past the numbers that it
used: one number further is `key + SIDE`.

Normal: the ziggurat. Under exp(-x^2 / 2) lie LAYERS slabs of one area, the lowest with the tail
beyond TAIL. Of one word of 64 bits, 8 pick the slab and 48 a point across it. The 8 bits that are
left are the first digits of a uniform number if a caller needs one.

Gamma of shape a >= 1: with d = a - 1/3, spread = 1 / (3 sqrt(d)), a normal x, and s = spread x >
-1,

    d (1 + s)^3    is accepted with probability    h = exp(d (9/2 s^2 + 1 - (1 + s)^3 + 3 ln(1 +
                   s)))

The exponent is above -SQUEEZE d s^4 for all s > -1/2, so that a uniform number of at least (edge
x^2)^2, with edge = sqrt(SQUEEZE) spread / 3, accepts without a logarithm: nearly always, unless d
is small. d, spread and edge are the mould that a gamma is cast in, kept for as long as its shape
stays the same. Both methods are exact.

If X and Y are independent gammas of shapes a and b, X / (X + Y) is Beta(a, b).

References: G. Marsaglia, W. W. Tsang. The ziggurat method for generating random variables. Journal
of Statistical Software 5(8), 2000. G. Marsaglia, W. W. Tsang. A simple method for generating gamma
variables. ACM Transactions on Mathematical Software 26(3), 2000.
"""

import math
from decimal import Decimal, localcontext

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.kernels.fastmath import exp, fma, log
from purse.kernels.random import SIDE, U, bits, uniform
from purse.types import Floats

_LAYERS = 256
_TAIL = 3.6541528853610088  # with this start of the tail, LAYERS slabs of its area end at the top
_AREA = 0.004928673233974655  # of each: TAIL exp(-TAIL^2 / 2), and the integral beyond
_SQUEEZE = 1.2711  # -exponent / (d s^4) falls in s, and is 16 (3 ln 2 - 2) = 1.27106 at s = -1/2
_EDGE = math.sqrt(_SQUEEZE) / 3  # edge / spread
_DIGITS = 1 / 256  # what the digits that the normal leaves are multiples of


def _edges() -> tuple[Floats, Floats]:
    """Return how far the slabs reach, and the densities there, shape (LAYERS + 1,) each.

    They run from the lowest, drawn out to the width that gives it the area of its tail too, to 0
    above the top. The first density stands for the tail's and is not used.
    """
    with localcontext() as context:
        context.prec = 25  # so that every machine gets the same tables
        area, edge = Decimal(_AREA), Decimal(_TAIL)
        height = (-edge * edge / 2).exp()
        edges, heights = [area / height, edge], [height, height]
        while len(edges) < _LAYERS:
            height = area / edge + height
            edge = (-2 * height.ln()).sqrt()
            edges.append(edge)
            heights.append(height)
    return np.array([*map(float, edges), 0.0]), np.array([*map(float, heights), 1.0])


_EDGES, _HEIGHTS = _edges()
_STEPS = _EDGES[:-1] / 2.0**47  # times a signed number of 48 bits: a point across the slab


@kernel
def _point(word: U) -> tuple[float, float, bool]:
    """Return a point across a slab, the digits that are left, and whether the next slab covers it:
    then it lies under the density for sure.
    """
    layer = word & U(_LAYERS - 1)
    x = (np.int64(word) >> 16) * _STEPS[layer]
    return x, ((word >> U(8)) & U(255)) * _DIGITS, abs(x) < _EDGES[layer + U(1)]


@kernel
def normal(key: U) -> tuple[float, float, U]:
    """Return a standard normal variate, the first 8 digits of a uniform number independent of it,
    and the next key.
    """
    while True:
        word = bits(key, 0)
        key += SIDE
        x, digits, covered = _point(word)
        if covered:
            return x, digits, key
        x, key = _tail_or_reject(key, word & U(_LAYERS - 1), x)
        if x != 0.0:
            return x, digits, key


@kernel
def _tail_or_reject(key: U, layer: U, x: float) -> tuple[float, U]:
    """For a point of a slab that the next does not cover: the point, one of the tail in its stead,
    or 0 if it is rejected.
    """
    if layer == 0:
        while True:
            over = -log(1 - uniform(key, 0)) / _TAIL
            room = -2 * log(1 - uniform(key, 1))
            key += SIDE + SIDE
            if over * over < room:
                return math.copysign(_TAIL + over, x), key
    low, high = _HEIGHTS[layer], _HEIGHTS[layer + U(1)]
    under = low + uniform(key, 0) * (high - low) < exp(-x * x / 2)
    return (x if under else 0.0), key + SIDE


def gamma_setup(shape: float) -> tuple[float, float, float]:
    """Return d, spread and edge for a shape of at least 1, in plain Python."""
    d = shape - 1 / 3
    spread = 1 / (3 * math.sqrt(d))
    return d, spread, _EDGE * spread


_compiled_gamma_setup = kernel(gamma_setup)


@kernel
def prepare_gamma(shape: float, mould: Floats) -> None:
    """Write the mould for a shape of at least 1."""
    mould[0], mould[1], mould[2] = _compiled_gamma_setup(shape)


@kernel
def gamma(key: U, mould: Floats) -> tuple[float, U]:
    """Return a gamma variate, which is positive, and the next key."""
    x, u, covered = _point(bits(key, 0))
    v = fma(mould[1], x, 1.0)
    # the edge is computed again: on a GPU to read mould[2] takes longer
    if covered and _surely_accepts(u, v, _EDGE * mould[1] * x * x):
        return mould[0] * (v * v * v), key + SIDE
    return _gamma_slowly(key, mould)


@cold
def _gamma_slowly(key: U, mould: Floats) -> tuple[float, U]:
    """Return the same, whatever the numbers are."""
    while True:
        x, u, key = normal(key)
        v = fma(mould[1], x, 1.0)
        if _surely_accepts(u, v, _EDGE * mould[1] * x * x):
            return mould[0] * (v * v * v), key
        u += uniform(key, 0) * _DIGITS
        key += SIDE
        if _accepts(u, mould[0], mould[1] * x, v):
            return mould[0] * (v * v * v), key


@kernel
def _surely_accepts(u: float, v: float, y: float) -> bool:
    """Return whether u >= SQUEEZE d s^4, from v = 1 + s and y = edge x^2: then 1 - u is below h
    whatever the further digits of u are.
    """
    return v > 0.5 and u >= y * y


@kernel
def _accepts(u: float, d: float, s: float, v: float) -> bool:
    return v > 0 and log(1 - u) < d * (4.5 * s * s + 1 - v * v * v + 3 * log(v))
