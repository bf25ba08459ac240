"""Money and other resources, exactly: whole numbers of units of 1e-9 in 64 bits.

Taking 0.1 from 1000 in floats affords 9,999 pulls; in units it affords 10,000. Floats that users give are rounded to the
nearest unit; strings and decimals with more than nine decimals are refused, because somebody meant those digits.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purse.errors import invalid

UNIT = 10**9
LARGEST = 2**62  # the sum of two amounts still fits into 64 bits
_ALLOWED = f"must be a number with at most nine decimals, up to {LARGEST // UNIT:,}"


def to_units(field: str, value: Any) -> int:
    """The amount as a whole number of units.

    >>> to_units("cost", 0.1), to_units("cost", "0.000000001"), to_units("cost", 3)
    (100000000, 1, 3000000000)
    """
    try:
        if isinstance(value, float):
            units = round(value * 1e9)
        elif isinstance(value, (str, Decimal)):
            exact = Decimal(value) * UNIT
            units = int(exact)
            if units != exact:
                raise invalid(field, value, _ALLOWED)
        elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            units = int(value) * UNIT
        else:
            units = round(float(value) * 1e9)
    except (TypeError, ValueError, OverflowError, InvalidOperation):
        raise invalid(field, value, _ALLOWED) from None
    if not -LARGEST <= units <= LARGEST:
        raise invalid(field, value, _ALLOWED)
    return units


def unit_array(field: str, values: Any) -> NDArray[np.int64]:
    """An array of amounts in units, of the same shape as `values`; each entry by the rule of `to_units`."""
    try:
        given = np.asarray(values)
    except ValueError:
        raise invalid(field, values, "must be a rectangular array of numbers") from None
    if given.dtype.kind != "f":
        return np.array([to_units(field, value) for value in given.ravel().tolist()], np.int64).reshape(given.shape)
    with np.errstate(over="ignore"):
        scaled = np.rint(given.astype(np.float64) * 1e9)
    good = np.abs(scaled) <= LARGEST
    if not good.all():
        raise invalid(field, float(given[~good].flat[0]), _ALLOWED)
    return scaled.astype(np.int64)


def text(units: int) -> str:
    """The amount written out, without trailing zeros.

    >>> text(250000000), text(25 * UNIT), text(-1)
    ('0.25', '25', '-0.000000001')
    """
    whole, rest = divmod(abs(int(units)), UNIT)
    decimals = f".{rest:09d}".rstrip("0").rstrip(".")
    return ("-" if units < 0 else "") + f"{whole}{decimals}"
