"""exp and log without branches or calls, so that a loop over arms becomes vector code.

Fused multiply-adds stand only in the places that say `fma`: every machine gives the same
bits. The errors are below one unit in the last place (tests hold them against 40-digit arithmetic).
"""

import ctypes
import ctypes.util
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from purse.compiler.kernel import Intrinsic, kernel

_libm_fma: Any = ctypes.CDLL(ctypes.util.find_library("m")).fma
_libm_fma.argtypes, _libm_fma.restype = [ctypes.c_double] * 3, ctypes.c_double


def _fma(a: float, b: float, c: float) -> float:
    return np.float64(_libm_fma(a, b, c))


def _powers() -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the bits of 2^(j/128), less j in the place where the exponent is added later."""
    with localcontext() as context:
        context.prec = 40
        root = Decimal(2)
        for _ in range(7):
            root = root.sqrt()
        values = np.array([float(root**j) for j in range(128)])
    return values.view(np.int64) - (np.arange(128) << np.int64(45))


def _logs() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Of the 128 stretches of mantissas from `EDGE` on: c, one over the middle; the leading digits
    of -ln c; the rest of it.

    c is so short that c z - 1 is exact for z near 1, and the leading digits are so few that k
    LN2_HIGH can be added to them without error.
    """
    middles = (_EDGE + (np.arange(128) << np.int64(45)) + (1 << 44)).view(np.float64)
    rows = []
    with localcontext() as context:
        context.prec = 40
        for middle in middles.tolist():
            grid = 512 if middle >= 1 else 256
            inverse = round(grid / middle) / grid
            exact = -Decimal(inverse).ln()
            leading = round(exact * 2**42) / 2**42
            rows.append((inverse, leading, float(exact - Decimal(leading))))
    return np.array(rows)


fma: Any = Intrinsic("purse.compiler.intrinsics:fma", _fma)
# LN2_HIGH is a multiple of 2^-32
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_POWERS = _powers()
_PER_LN2 = 128 / 0.6931471805599453
# the bits of 0.705, near sqrt(1/2); seen from there 1 is the middle of a stretch, whose c is 1
_EDGE = 0x3FE6900000000000
_LOGS = _logs()
# 1.5 * 2^52: adding it rounds to a whole number and leaves that number in the low bits
_ROUND = 6755399441055744.0
_LOWEST = -708.0  # below, the result would be subnormal


@kernel
def exp(x: float) -> float:
    """Return e^x for x <= 709; below -708 it stays at e^-708.

    x = (128 k + j) ln 2 / 128 + r with |r| <= ln 2 / 256, so e^x = 2^k 2^(j/128) e^r: a table and a
    short series.
    """
    x = x if x > _LOWEST else _LOWEST
    shifted = fma(x, _PER_LN2, _ROUND)
    n = shifted - _ROUND
    r = fma(-_LN2_LOW / 128, n, fma(-_LN2_HIGH / 128, n, x))
    k = np.float64(shifted).view(np.int64)
    power = np.int64(_POWERS[k & 127] + (k << 45)).view(np.float64)
    r2 = r * r
    q = fma(r2, fma(r2, fma(r, 1 / 120, 1 / 24), fma(r, 1 / 6, 0.5)), r)
    return fma(power, q, power)


@kernel
def times_exp(w: float, x: float) -> float:
    """Return w e^x by the series to x^6: the error is w x^7 / 5040 for small x."""
    x2 = x * x
    q = fma(x2, fma(x2, 1 / 720, fma(x, 1 / 120, 1 / 24)), fma(x, 1 / 6, 0.5))
    return fma(w, fma(x2, q, x), w)


@kernel
def log(x: float) -> float:
    """Return ln x for positive, finite x that is not subnormal; exactly 0 at 1.

    x = 2^k z with 0.705 <= z < 1.41, and with c near 1/z from a table ln x = k ln 2 - ln c + ln(1 +
    r), where r = c z - 1 is below 1/200 and a short series does. What the sum of the large parts
    loses is put back.
    """
    bits = np.float64(x).view(np.int64)
    above = bits - _EDGE
    k = above >> 52
    j = (above >> 45) & 127
    table = _LOGS  # named once: a GPU keeps a copy for each time that a global array is named
    r = fma(np.int64(bits - (k << 52)).view(np.float64), table[j, 0], -1.0)
    large = fma(np.float64(k), _LN2_HIGH, table[j, 1])
    high = large + r
    low = (large - high) + r + fma(np.float64(k), _LN2_LOW, table[j, 2])
    r2 = r * r
    q = fma(r2, fma(r2, fma(r, 1 / 7, -1 / 6), fma(r, 1 / 5, -1 / 4)), fma(r, 1 / 3, -0.5))
    return high + fma(r2, q, low)


@kernel
def series_log(x: float) -> float:
    """Return ln x for positive, finite x that is not subnormal, to 1e-15 of max{1, ln x}.

    x = 2^k z as in `log`, and ln z = 2 (s + s^3/3 + s^5/5 + ...) with s = (z - 1) / (z + 1), which
    is at most 0.173. In a loop over arms a division takes less time than looking up a table.
    """
    bits = np.float64(x).view(np.int64)
    k = (bits - _EDGE) >> 52
    z = np.int64(bits - (k << 52)).view(np.float64)
    s = (z - 1) / (z + 1)
    s2 = s * s
    q = fma(s2, fma(s2, fma(s2, 1 / 19, 1 / 17), 1 / 15), 1 / 13)
    q = fma(s2, fma(s2, fma(s2, fma(s2, q, 1 / 11), 1 / 9), 1 / 7), 1 / 5)
    series = fma(s2, fma(s2, q, 1 / 3), 1.0)
    return fma(np.float64(k), _LN2_HIGH + _LN2_LOW, 2 * s * series)
