"""Money and other resources, exactly: whole numbers of units of 1e-9 in 64 bits.

Taking 0.1 from 1000 in floats affords 9,999 pulls; in units it affords 10,000. Floats that users
give are rounded to the nearest unit; strings and decimals with more than nine decimals are refused,
because those digits were meant. So are texts that are not plain numbers, and amounts below 0
that would be rounded to 0.
"""

import re
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purse.errors import InvalidInput, invalid

UNIT = 10**9
LARGEST = 2**62  # the sum of two amounts still fits into 64 bits
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MOST = Decimal(LARGEST).scaleb(-9)
_ALLOWED = f"must be a number with at most nine decimals, up to {LARGEST // UNIT:,}"


def to_units(field: str, value: Any) -> int:
    """Return the amount as a whole number of units.

    >>> to_units("cost", 0.1), to_units("cost", "0.000000001"), to_units("cost", 3)
    (100000000, 1, 3000000000)
    """
    try:
        if isinstance(value, float):
            units = round(float(value) * 1e9)
        elif isinstance(value, str):
            if not _NUMBER.fullmatch(value):
                raise invalid(field, value, _ALLOWED)
            units = _exact_units(Decimal(value))
        elif isinstance(value, Decimal):
            units = _exact_units(value)
        elif isinstance(value, (bool, np.bool_, bytes, bytearray, memoryview)):
            raise invalid(field, value, _ALLOWED)
        elif isinstance(value, (int, np.integer)):
            units = int(value) * UNIT
        elif isinstance(value, np.floating):
            # through its shortest text: 0.1 in 32 bits means 0.1
            units = round(float(str(value)) * 1e9)
        else:
            units = round(float(value) * 1e9)
    except (TypeError, ValueError, ArithmeticError):
        raise invalid(field, value, _ALLOWED) from None
    if not -LARGEST <= units <= LARGEST or (units == 0 and float(value) < 0):
        raise invalid(field, value, _ALLOWED)
    return units


def _exact_units(value: Decimal) -> int:
    if not abs(value) <= _MOST or value != round(value, 9):
        raise ValueError
    return int(value.scaleb(9))


def unit_array(field: str, values: Any) -> NDArray[np.int64]:
    """Return amounts in units, in an array of the same shape as `values`; see `to_units`."""
    if not (isinstance(values, np.ndarray) and values.dtype.kind == "f"):
        try:
            # as they were given: NumPy would turn a number beside a text into text
            cells = np.asarray(values, object)
            entries = cells.ravel().tolist()
            if any(isinstance(entry, (list, tuple)) for entry in entries):
                raise ValueError
        except ValueError:
            raise invalid(field, values, "must be a rectangular array of numbers") from None
        return np.array([to_units(field, entry) for entry in entries], np.int64).reshape(
            cells.shape
        )
    with np.errstate(over="ignore"):
        scaled = np.rint(
            (values if values.dtype == np.float64 else values.astype(str).astype(np.float64)) * 1e9
        )
    good = (np.abs(scaled) <= LARGEST) & ~((scaled == 0) & (values < 0))
    if not good.all():
        raise invalid(field, float(values[~good].flat[0]), _ALLOWED)
    return scaled.astype(np.int64)


def budget_array(budget: Any, n_resources: int) -> NDArray[np.int64]:
    """(d,) One budget per resource, in units; a single number stands for all."""
    units = unit_array("budget", budget)
    if units.ndim > 1 or units.size not in (1, n_resources):
        raise invalid(
            "budget",
            budget,
            f"must be one positive number, or one per resource, of which there are {n_resources}",
        )
    if (units <= 0).any():
        raise invalid("budget", budget, "must be positive, at least 1e-9")
    return np.broadcast_to(units.reshape(-1), n_resources).copy()


def cost_array(field: str, value: Any, n_arms: int, n_resources: int) -> NDArray[np.int64]:
    """(K, d) Costs in units from one number, one per arm, or one per arm and resource."""
    units = unit_array(field, value)
    if units.shape == (n_arms,):
        units = units[:, None]
    if units.shape not in ((), (n_arms, 1), (n_arms, n_resources)):
        raise invalid(
            field,
            value,
            f"must be one number, one for each of the {n_arms} arms, or an array of shape "
            f"({n_arms}, {n_resources})",
        )
    return np.broadcast_to(units, (n_arms, n_resources)).copy()


def check_costs(
    cost_min: NDArray[np.int64],
    cost_max: NDArray[np.int64],
    fields: tuple[str, str] = ("cost_min", "cost_max"),
    *,
    free: bool = False,
) -> None:
    """Refuse arms that cost nothing, unless `free`, unused resources, and minima above maxima."""
    if (cost_min < 0).any() or (not free and (cost_min.max(axis=1) == 0).any()):
        several = "must not be negative, and each arm needs a resource that it always uses"
        raise InvalidInput(
            f"{fields[0]}={text(cost_min.min())}: "
            f"{several if cost_min.shape[1] > 1 else 'must be positive, at least 1e-9'}"
        )
    if (cost_max.max(axis=0) == 0).any():
        raise InvalidInput(f"{fields[1]}=0: must be positive for at least one arm of each resource")
    if (cost_min > cost_max).any():
        arm, resource = np.argwhere(cost_min > cost_max)[0]
        raise InvalidInput(
            f"{fields[0]}={text(cost_min[arm, resource])}: must be at most "
            f"cost_max={text(cost_max[arm, resource])}"
        )


def text(units: int) -> str:
    """Return the amount written out, without trailing zeros.

    >>> text(250000000), text(25 * UNIT), text(-1)
    ('0.25', '25', '-0.000000001')
    """
    whole, fraction = divmod(abs(int(units)), UNIT)
    decimals = f".{fraction:09d}".rstrip("0").rstrip(".")
    return ("-" if units < 0 else "") + f"{whole}{decimals}"


def in_users_unit(units: list[int]) -> Any:
    """Return a number, or one per resource if there are several."""
    return units[0] / UNIT if len(units) == 1 else [unit / UNIT for unit in units]
