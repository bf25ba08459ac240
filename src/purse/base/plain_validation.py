"""Checks of numbers, words and names. This imports nothing heavy, for the client's sake."""

import math
import os
import time
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from purse.errors import invalid


def number(
    field: str,
    value: Any,
    *,
    above: float = -math.inf,
    low: float = -math.inf,
    high: float = math.inf,
) -> float:
    """Return a finite number with above < number, low <= number <= high."""
    try:
        # the usual types first: to ask whether it is a `Real` takes ten times as long
        usual = type(value) in (float, int)
        real = usual or (isinstance(value, Real) and not isinstance(value, bool))
        result = float(value) if real else math.nan
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


def integer(field: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return a whole number with low <= number <= high; 1e3 is one too."""
    if type(value) is int and low <= value and (high is None or value <= high):
        return value  # at once: the other ways take ten times as long
    allowed = f"must be a whole number from {low}" + (f" to {high}" if high is not None else " up")
    if isinstance(value, bool) or (
        not isinstance(value, Integral) and not (isinstance(value, float) and value.is_integer())
    ):
        raise invalid(field, value, allowed)
    result = int(value)
    if result < low or (high is not None and result > high):
        raise invalid(field, value, allowed)
    return result


def choice(field: str, value: Any, allowed: Sequence[str]) -> str:
    """Return one of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise invalid(field, value, "must be one of " + ", ".join(map(repr, allowed)))
    return value


def flag(field: str, value: Any) -> bool:
    """Return whether something holds."""
    if not isinstance(value, bool):
        raise invalid(field, value, "must be true or false")
    return value


def request_of(request_id: str | None, field: str = "request_id") -> str:
    """Return the name of a request, or a new one if it has none.

    With a name of its own, a request that is sent again after a lost connection has no second
    effect.
    """
    if request_id is None:  # neighbours in time are neighbours in an index, too
        return f"{time.time_ns():016x}{os.urandom(8).hex()}"
    if (
        not isinstance(request_id, str)
        or not 1 <= len(request_id) <= 200
        or not request_id.isprintable()
    ):
        raise invalid(field, request_id, "must be text of 1 to 200 printable characters")
    return request_id
