"""What the reports of one arm come to."""

from __future__ import annotations

from math import sqrt
from typing import Any

from purse.base import amounts

Z = 1.959963984540054  # 95% of a normal distribution lies within ± Z


class ArmStats:
    """What was reported of one arm, from whatever state its tickets were told."""

    __slots__ = ("costs", "cross", "pulls", "reward", "squares", "told")

    def __init__(self, n_resources: int) -> None:
        self.pulls = 0  # asked
        self.told = 0
        self.reward = 0.0
        self.costs = [0] * n_resources  # units
        self.squares = [0.0, 0.0]  # of rewards, and of costs of the first resource
        self.cross = 0.0  # rewards times costs

    def add(self, reward: float, costs: list[int]) -> None:
        """Take in a report."""
        self.told += 1
        self.reward += reward
        for place, units in enumerate(costs):
            self.costs[place] += units
        cost = costs[0] / amounts.UNIT
        self.squares[0] += reward * reward
        self.squares[1] += cost * cost
        self.cross += reward * cost

    def as_list(self) -> list[Any]:
        """All that it knows."""
        return [self.pulls, self.told, self.reward, self.costs, self.squares, self.cross]

    def take_over(self, facts: list[Any]) -> None:
        """Know what `as_list` said."""
        self.pulls, self.told, self.reward, self.costs, self.squares, self.cross = facts

    def efficiency(self) -> tuple[float | None, list[float] | None]:
        """Reward per cost of the first resource, e = Σr / Σc, and its 95% interval e ± 1.96 s.

        The delta method for a ratio of means: s² = Σ(r - e·c)² / (n (n - 1) (Σc / n)²), that is,
        the variance of the mean of r - e·c, whose own mean is 0, over the squared mean cost. There
        is no ratio before something was paid, and no interval before two reports.
        """
        if self.costs[0] == 0:
            return None, None
        n, total = self.told, self.costs[0] / amounts.UNIT
        ratio = self.reward / total
        if n < 2:
            return ratio, None
        rest = max(0.0, self.squares[0] - 2 * ratio * self.cross + ratio * ratio * self.squares[1])
        margin = Z * sqrt(rest * n / (n - 1)) / total
        return ratio, [max(0.0, ratio - margin), ratio + margin]
