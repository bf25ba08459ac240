"""exp without branches or calls, so that a loop over arms becomes vector code.

Fused multiply-adds stand where they are written and nowhere else: every machine gives the same bits. The error is below
one unit in the last place (a test holds it against 40-digit arithmetic).
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from purse.jit import kernel


def _fma(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), codegen


def _powers() -> np.ndarray[Any, np.dtype[np.int64]]:
    """The bits of 2^(j/128), less j in the place where the exponent is added later."""
    with localcontext() as context:
        context.prec = 40
        values = np.array([float(Decimal(2) ** (Decimal(j) / 128)) for j in range(128)])
    return values.view(np.int64) - (np.arange(128) << np.int64(45))


fma: Any = intrinsic(_fma)
POWERS = _powers()
PER_LN2 = 128 / 0.6931471805599453
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01 / 128, 1.90821492927058770002e-10 / 128
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to a whole number and leaves that number in the low bits
LOWEST = -708.0  # below, the result would be subnormal


@kernel
def exp(x: float) -> float:
    """e^x for x <= 709; below -708 it stays at e^-708.

    x = (128 k + j) ln 2 / 128 + r with |r| <= ln 2 / 256, so e^x = 2^k 2^(j/128) e^r: a table and a short series.
    """
    x = x if x > LOWEST else LOWEST
    shifted = fma(x, PER_LN2, ROUND)
    n = shifted - ROUND
    r = fma(-LN2_LOW, n, fma(-LN2_HIGH, n, x))
    k = np.float64(shifted).view(np.int64)
    power = np.int64(POWERS[k & 127] + (k << 45)).view(np.float64)
    r2 = r * r
    q = fma(r2, fma(r2, fma(r, 1 / 120, 1 / 24), fma(r, 1 / 6, 0.5)), r)
    return fma(power, q, power)


@kernel
def exp_small(x: float) -> float:
    """e^x by its series to x^6: the error is x^7 / 5040 for small x."""
    x2 = x * x
    return fma(x2, fma(x2, fma(x2, 1 / 720, fma(x, 1 / 120, 1 / 24)), fma(x, 1 / 6, 0.5)), 1.0 + x)
