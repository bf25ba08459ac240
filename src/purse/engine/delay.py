"""The delay of reports in a simulation."""

import math
from typing import Any, NamedTuple

from purse.base import validation
from purse.errors import InvalidInput, invalid

_GEOMETRIC = "geometric"
_MOST_ROUNDS = 10_000  # of a delay: all tickets that may be open at once have a place in memory
_LEAST_MEAN = 0.001
_ALLOWED = (
    f"must be a whole number of rounds from 0 to {_MOST_ROUNDS}, or '{_GEOMETRIC}:MEAN' with a "
    f"mean from {_LEAST_MEAN} to {_MOST_ROUNDS}"
)


class Delay(NamedTuple):
    """The extra rounds until a report comes: a fixed number of them, or geometric with a mean."""

    geometric: bool
    mean: float

    @property
    def is_late(self) -> bool:
        """Whether reports come later than at the beginning of the next round."""
        return self.mean > 0

    @property
    def maximum(self) -> int:
        """The largest number of extra rounds.

        A geometric number has one, too: it comes from a uniform number of at least 2^-53.
        """
        if not self.geometric:
            return int(self.mean)
        return 1 + int(53 * math.log(2) / math.log1p(1 / self.mean))

    @property
    def value(self) -> int | str:
        """The delay as users write it: 3 or "geometric:2.5"."""
        number = repr(self.mean).removesuffix(".0")
        return f"{_GEOMETRIC}:{number}" if self.geometric else int(self.mean)


NO_DELAY = Delay(False, 0.0)


def parse_delay(delay: Any) -> Delay:
    """Return the delay from a number, from text, or from a pair such as ("geometric", 2.5).

    Raise `InvalidInput` for anything else.

    >>> parse_delay("geometric:2.5"), parse_delay(3).value
    (Delay(geometric=True, mean=2.5), 3)
    """
    kind, number = None, delay
    try:
        if isinstance(delay, str):
            *kinds, text = delay.split(":", 1)
            kind, number = kinds[0] if kinds else None, float(text)
        elif isinstance(delay, (tuple, list)):
            kind, number = delay
        if kind is None:
            return Delay(
                False, float(validation.integer("delay", number, low=0, high=_MOST_ROUNDS))
            )
        if isinstance(kind, str) and kind == _GEOMETRIC:
            return Delay(
                True, validation.number("delay", number, low=_LEAST_MEAN, high=_MOST_ROUNDS)
            )
    except (InvalidInput, ValueError):
        pass  # one message for all
    raise invalid("delay", delay, _ALLOWED)
