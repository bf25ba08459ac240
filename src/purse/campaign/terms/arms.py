"""The arms of a campaign as they are now: those of its terms, with what was added, retired and
changed since.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from purse.base.amounts import LARGEST
from purse.base.fork_safety import cached_property

# masks: the arms as the bits of a hexadecimal number, and how many asks had them
MaskRows = Sequence[Sequence[Any]]
Widened = Sequence[Sequence[Any]]  # see `Arms.widened`


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
              not as the terms say, in the order of their places; and the declared cost_max, if a
              bill was above it
    """

    def __init__(self, terms: Any, changed: Iterable[Sequence[Any]] = ()) -> None:
        self._terms = terms
        rows = list(changed)
        self._changed = [row[0] for row in rows]
        self.names = list(terms.arms)
        self.cost_min: list[Sequence[int]] = list(terms.cost_min)
        self.cost_max: list[Sequence[int]] = list(terms.cost_max)
        self.is_retired = [False] * len(terms.arms)
        self.declared: dict[int, Sequence[int]] = {}  # the cost_max of arms that bills have raised
        for arm, name, is_retired, cost_min, cost_max, *declared in rows:
            index = slice(arm, arm + 1)  # a new arm has the next place
            self.names[index], self.is_retired[index] = [name], [is_retired]
            self.cost_min[index], self.cost_max[index] = [cost_min], [cost_max]
            if declared:
                self.declared[arm] = declared[0]
        self.n_places = max(terms.n_arms, len(self.names))
        self.there = [index for index, retired in enumerate(self.is_retired) if not retired]
        self.all_there = len(self.there) == self.n_places  # every place has an arm
        self.named = len(terms.arms)  # in the terms

    @cached_property
    def maxima(self) -> list[int]:
        """(d,) The most that any arm may cost, of each resource."""
        return [max(column) for column in zip(*self.cost_max, strict=True)]

    @cached_property
    def widened(self) -> list[list[Any]]:
        """Place, least and most cost (units) of each arm whose costs are not between those that the
        terms say, as a policy has to know them.

        A policy has learnt with its bounds, and learns all again with other ones. So a largest cost
        is doubled until it covers what the arm may cost, which happens seldom.
        """
        if not self._changed:
            return []
        floor, ceiling = self._terms.bounds_of(len(self.names))
        rows: list[list[Any]] = []
        for arm in self._changed:
            low, high = self.cost_min[arm], self.cost_max[arm]
            bottom, top = list(map(min, floor[arm], low)), list(map(_doubled, ceiling[arm], high))
            if self._terms.floor == self._terms.ceiling:  # known costs, which some policies need
                bottom = top = list(high)
            is_as_told = (bottom, top) == (list(floor[arm]), list(ceiling[arm]))
            if arm >= self._terms.n_arms or not is_as_told:
                rows.append([arm, bottom, top])
        return rows


def _doubled(units: int, least: int) -> int:
    """Return an amount doubled until it is at least another one.

    >>> _doubled(3, 10), _doubled(3, 3), _doubled(0, 5)
    (12, 3, 8)
    """
    while units < least:
        units = max(1, 2 * units)
    return min(units, LARGEST)
