"""The arms of a campaign as they are now: those of its terms, with what was added, retired and
changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple


class ArmRecord(NamedTuple):
    """An arm that is not as the terms say, in units."""

    place: int
    name: str
    retired: bool
    cost_min: Sequence[int]  # (d,)
    cost_max: Sequence[int]  # (d,)


class Arms:
    """Arms by their places, not to be changed; places that no arm has yet come last.

    terms     of the campaign
    changed   rows of `ArmRecord`, in the order of their places
    """

    def __init__(self, terms: Any, changed: Iterable[Sequence[Any]] = ()) -> None:
        self.names = list(terms.arms)
        self.cost_min: list[Sequence[int]] = list(terms.cost_min)
        self.cost_max: list[Sequence[int]] = list(terms.cost_max)
        self.is_retired = [False] * len(terms.arms)
        for row in changed:
            arm = ArmRecord(*row)
            place = slice(arm.place, arm.place + 1)  # a new arm has the next place
            self.names[place] = [arm.name]
            self.cost_min[place] = [arm.cost_min]
            self.cost_max[place] = [arm.cost_max]
            self.is_retired[place] = [arm.retired]
        self.there = [place for place, retired in enumerate(self.is_retired) if not retired]
        self.all_there = len(self.there) == terms.n_arms  # every place has an arm
        self.named = len(terms.arms)  # in the terms

    @cached_property
    def most(self) -> list[int]:
        """(d,) The most that any arm may cost, of each resource."""
        return [max(column) for column in zip(*self.cost_max, strict=True)]
