"""Which arms each round of a replayed log allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from purse.types import Bools, Outages

MOST_SEGMENTS = 64  # a simulation looks through them in every round
FOREVER = 2**40  # rounds, more than any game has


def repeat_masks(masks: Sequence[tuple[Sequence[int], int]], n_arms: int) -> Outages | None:
    """Return the arms that are allowed in each round of a simulation; None where all always are.

    masks   (arms allowed, rounds in a row), in the order of the log

    Up to 64 stretches keep their order and length, and the last goes on. More are mixed: each mask
    gets its part of 64 rounds, spread evenly, which repeat.

    >>> found = repeat_masks([((0, 1), 3), ((1,), 2)], 2)
    >>> found.allowed(3), found.allowed(4), found.allowed(9)
    ([0, 1], [1], [1])
    """
    if all(len(arms) == n_arms for arms, _ in masks):
        return None
    if len(masks) <= MOST_SEGMENTS:
        last = np.cumsum([rounds for _, rounds in masks])
        last[-1] = FOREVER
        return Outages(rows([arms for arms, _ in masks], n_arms), last)
    total: Counter[tuple[int, ...]] = Counter()
    for arms, rounds in masks:
        total[tuple(arms)] += rounds
    owed = dict.fromkeys(total, 0.0)
    order = []
    for _ in range(MOST_SEGMENTS):
        for arms in owed:
            owed[arms] += total[arms] / sum(total.values())
        most = max(owed, key=lambda arms: owed[arms])
        owed[most] -= 1
        order.append(most)
    return Outages(rows(order, n_arms), np.arange(1, MOST_SEGMENTS + 1))


def rows(masks: Sequence[Sequence[int]], n_arms: int) -> Bools:
    """(S, K) Masks as rows."""
    table = np.zeros((len(masks), n_arms), np.bool_)
    for place, arms in enumerate(masks):
        table[place, list(arms)] = True
    return table
