"""The arms of a campaign as they are now: those of its terms, with what was changed since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from purse.levels.records import Units


class Arms:
    """Arms by their places; places that no arm has yet come last.

    changed   rows of place, name, retired, cost_min and cost_max, in the order of their places
    """

    def __init__(self, terms: Any, changed: Iterable[Sequence[Any]] = ()) -> None:
        self.names: list[str] = list(terms.arms)
        self.cost_min: list[Units] = list(terms.cost_min)
        self.cost_max: list[Units] = list(terms.cost_max)
        self.is_retired = [False] * len(self.names)
        for place, name, retired, least, most in changed:
            here = slice(place, place + 1)  # a new arm has the next place
            self.names[here], self.is_retired[here] = [name], [retired]
            self.cost_min[here], self.cost_max[here] = [least], [most]
        self.there = [place for place, retired in enumerate(self.is_retired) if not retired]
        self.all_there = len(self.there) == terms.n_arms  # every place has an arm

    @cached_property
    def most(self) -> list[int]:
        """(d,) The most that any arm may cost, of each resource."""
        return [max(column) for column in zip(*self.cost_max, strict=True)]
