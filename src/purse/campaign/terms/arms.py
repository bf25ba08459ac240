"""The arms of a campaign as they are now: those of its terms, with what was added, retired and
changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from purse.base.fork_safety import cached_property

# masks: the arms as the bits of a hexadecimal number, and how many asks had them
MaskRows = Sequence[Sequence[Any]]


class PolicyView(NamedTuple):
    """The view of a policy before it chooses."""

    t: int  # the round
    left: list[int]  # (d,) units
    pending: list[int]  # unfinished tickets of each arm, if the policy counts them
    owed: Sequence[int]  # arms that owe their initial pull
    allowed: Sequence[int] | None  # arms that may be chosen; None: all
    context: Sequence[float] | None
    masks: MaskRows = ()  # of earlier asks
    rounds_left: int | None = None  # about, this one included, if the horizon is a forecast


class Arms:
    """Arms by their places, not to be changed; places that no arm has yet come last.

    terms     of the campaign
    changed   place, name, whether it is retired, cost_min and cost_max (units) of each arm that is
              not as the terms say, in the order of their places
    """

    def __init__(self, terms: Any, changed: Iterable[Sequence[Any]] = ()) -> None:
        self.names = list(terms.arms)
        self.cost_min: list[Sequence[int]] = list(terms.cost_min)
        self.cost_max: list[Sequence[int]] = list(terms.cost_max)
        self.is_retired = [False] * len(terms.arms)
        for arm, name, is_retired, cost_min, cost_max in changed:
            index = slice(arm, arm + 1)  # a new arm has the next place
            self.names[index], self.is_retired[index] = [name], [is_retired]
            self.cost_min[index], self.cost_max[index] = [cost_min], [cost_max]
        self.there = [index for index, retired in enumerate(self.is_retired) if not retired]
        self.all_there = len(self.there) == terms.n_arms  # every place has an arm
        self.named = len(terms.arms)  # in the terms

    @cached_property
    def maxima(self) -> list[int]:
        """(d,) The most that any arm may cost, of each resource."""
        return [max(column) for column in zip(*self.cost_max, strict=True)]
