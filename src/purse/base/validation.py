"""Checks of single values; each returns the value in its proper type or raises `InvalidInput`."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from purse.base.plain_validation import choice as choice
from purse.base.plain_validation import integer as integer
from purse.errors import invalid


def number(
    field: str,
    value: Any,
    *,
    above: float = -math.inf,
    low: float = -math.inf,
    high: float = math.inf,
) -> float:
    """A finite number with above < number, low <= number <= high."""
    try:
        result = (
            math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
        )
    except OverflowError:
        result = math.nan
    if not (math.isfinite(result) and above < result and low <= result <= high):
        limits = [
            f"{word} {limit:g}"
            for word, limit in (("above", above), ("at least", low), ("at most", high))
            if math.isfinite(limit)
        ]
        raise invalid(
            field,
            value,
            "must be a number " + " and ".join(limits) if limits else "must be a finite number",
        )
    return result


def numbers(field: str, values: Any) -> list[float]:
    """A number, or a list or array of them, as a list of finite floats."""
    try:
        return [number(field, value) for value in np.asarray(values, object).ravel().tolist()]
    except ValueError:
        raise invalid(field, values, "must be a number, or one for each play") from None


def rewards(values: Any) -> list[float]:
    """One reward or several, as finite floats; True and False are 1 and 0.

    >>> rewards([True, 0.5])
    [1.0, 0.5]
    """
    if type(values) is float:
        return [number("reward", values)]  # at once: it is the usual case
    given = np.asarray(values, object).ravel().tolist()
    try:
        return [number("reward", int(each) if is_truth(each) else each) for each in given]
    except ValueError:
        raise invalid("reward", values, "must be a number, or one for each play") from None


def is_truth(value: Any) -> bool:
    """Whether a value is True or False."""
    return isinstance(value, (bool, np.bool_))


def workers(n_workers: Any) -> int | None:
    """A number of workers; None stands for one on each core."""
    return None if n_workers is None else integer("n_workers", n_workers, low=1)
