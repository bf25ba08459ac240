"""Checks of single values; each returns the value in its proper type or raises `InvalidInput`."""

import os
from typing import Any

import numpy as np

from purse.base.plain_validation import choice as choice
from purse.base.plain_validation import integer as integer
from purse.base.plain_validation import number as number
from purse.errors import invalid


def numbers(field: str, values: Any) -> list[float]:
    """Return a number, or a list or array of them, as a list of finite floats."""
    try:
        return [number(field, value) for value in np.asarray(values, object).ravel().tolist()]
    except ValueError:
        raise invalid(field, values, "must be a number, or one for each play") from None


def rewards(values: Any) -> list[float]:
    """Return one reward or several, as finite floats; True and False are 1 and 0.

    >>> rewards([True, 0.5])
    [1.0, 0.5]
    """
    if type(values) is float:
        return [number("reward", values)]  # at once: it is the usual case
    items = np.asarray(values, object).ravel().tolist()
    try:
        return [number("reward", int(item) if is_truth(item) else item) for item in items]
    except ValueError:
        raise invalid("reward", values, "must be a number, or one for each play") from None


def is_truth(value: Any) -> bool:
    """Return whether a value is True or False."""
    return isinstance(value, (bool, np.bool_))


def workers(n_workers: Any) -> int | None:
    """Return a number of workers; None stands for one on each core."""
    return None if n_workers is None else integer("n_workers", n_workers, low=1)


def usable_cores() -> int:
    """Return the cores that this process may use: as many workers as None stands for."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
