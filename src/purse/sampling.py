r"""Normal and gamma variates from the counter-based random numbers; two gammas make a draw from a Beta posterior.

Each kernel takes a key and returns, after what it drew, the key moved on past the numbers that it used: one number further is
`key + SIDE`, so that `uniform(key + SIDE, 0)` is `uniform(key, 1)`. Whoever hands the key on from draw to draw never uses a number
twice, however many were rejected.

Normal: the ziggurat. Under exp(-x^2 / 2) lie LAYERS slabs of one area, the lowest with the tail beyond TAIL. Of one word of 64 bits,
8 pick the slab and 48 a point across it, which lies under the density for sure 985 times of 1,000; else a few exps decide. The 8 bits
that are left are the first digits of a uniform number for whoever needs one.

Gamma of shape a >= 1: with d = a - 1/3, spread = 1 / (3 sqrt(d)), a normal x, and s = spread x > -1,

    d (1 + s)^3    is accepted with probability    h = exp(d (9/2 s^2 + 1 - (1 + s)^3 + 3 ln(1 + s)))

The exponent is near -3/4 d s^4 = -x^4 / (108 d), and above -SQUEEZE d s^4 for all s > -1/2. So h >= 1 - SQUEEZE d s^4, and a uniform number
of at least SQUEEZE d s^4 accepts without a logarithm: nearly always, unless d is small. Both methods are exact.

If X and Y are independent gammas of shapes a and b, X / (X + Y) is Beta(a, b).

References: G. Marsaglia, W. W. Tsang. The ziggurat method for generating random variables. Journal of Statistical Software 5(8), 2000.
G. Marsaglia, W. W. Tsang. A simple method for generating gamma variables. ACM Transactions on Mathematical Software 26(3), 2000.
"""

from __future__ import annotations

import math

import numpy as np

from purse.jit import cold, kernel
from purse.random import SIDE, U, bits, uniform
from purse.types import Floats

LAYERS = 256
TAIL = 3.6541528853610088  # with this start of the tail, LAYERS slabs of its area end at the top
AREA = TAIL * math.exp(-TAIL * TAIL / 2) + math.sqrt(math.pi / 2) * math.erfc(TAIL / math.sqrt(2))
SQUEEZE = 1.2711  # -exponent / (d s^4) falls in s, and is 16 (3 ln 2 - 2) = 1.27106 at s = -1/2
DIGITS = 1 / 256  # what the digits that the normal leaves are multiples of


def _edges() -> Floats:
    """(LAYERS + 1,) How far the slabs reach, from the lowest, drawn out to the width that gives it the area of its tail too, to 0 above the top."""
    edges = [AREA / math.exp(-TAIL * TAIL / 2), TAIL]
    while len(edges) < LAYERS:
        edges.append(math.sqrt(-2 * math.log(AREA / edges[-1] + math.exp(-(edges[-1] ** 2) / 2))))
    return np.array([*edges, 0.0])


EDGES = _edges()
STEPS = EDGES[:-1] / 2.0**47  # times a signed number of 48 bits: a point across the slab


@kernel
def normal(key: U) -> tuple[float, float, U]:
    """A standard normal variate, the first 8 digits of a uniform number independent of it, and the next key."""
    while True:
        word = bits(key, 0)
        key += SIDE
        layer = word & U(LAYERS - 1)
        digits = ((word >> U(8)) & U(255)) * DIGITS
        x = (np.int64(word) >> 16) * STEPS[layer]
        if abs(x) < EDGES[layer + U(1)]:
            return x, digits, key
        x, key = beyond(key, layer, x)
        if x != 0.0:
            return x, digits, key


@cold
def beyond(key: U, layer: U, x: float) -> tuple[float, U]:
    """For a point of a slab that the next does not cover: the point, one of the tail in its stead, or 0 where it is rejected."""
    if layer == 0:
        while True:
            over = -math.log(1 - uniform(key, 0)) / TAIL
            room = -2 * math.log(1 - uniform(key, 1))
            key += SIDE + SIDE
            if over * over < room:
                return math.copysign(TAIL + over, x), key
    low, high = math.exp(-(EDGES[layer] ** 2) / 2), math.exp(-(EDGES[layer + U(1)] ** 2) / 2)
    under = low + uniform(key, 0) * (high - low) < math.exp(-x * x / 2)
    return (x if under else 0.0), key + SIDE


@kernel
def spread_of(shape: float) -> float:
    """What `gamma` takes besides the shape; worth keeping for as long as the shape stays the same."""
    return 1 / (3 * math.sqrt(shape - 1 / 3))


@kernel
def gamma(key: U, shape: float, spread: float) -> tuple[float, U]:
    """A gamma variate, which is positive, and the next key; the shape is at least 1, and `spread` its `spread_of`."""
    d = shape - 1 / 3
    while True:
        x, u, key = normal(key)
        s = spread * x
        if s > -0.5 and u >= SQUEEZE * d * (s * s) * (s * s):  # whatever the further digits of u are
            return d * ((1 + s) * (1 + s) * (1 + s)), key
        u += uniform(key, 0) * DIGITS
        key += SIDE
        if accepts(u, d, s):
            return d * ((1 + s) * (1 + s) * (1 + s)), key


@cold
def accepts(u: float, d: float, s: float) -> bool:
    """Whether 1 - u is below h."""
    return s > -1 and math.log(1 - u) < d * (4.5 * s * s + 1 - (1 + s) * (1 + s) * (1 + s) + 3 * math.log(1 + s))
