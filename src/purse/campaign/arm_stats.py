"""What the reports of each arm come to, and the tickets of which a report is expected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any, NamedTuple

from purse.base import amounts
from purse.campaign.states import OPEN

Z = 1.959963984540054  # 95% of a normal distribution lies within ± Z


class ArmSums(NamedTuple):
    """What was reported of one arm up to some moment."""

    told: int
    failed: int
    settled: int
    reward: float
    costs: tuple[int, ...]  # (d,) units


class ArmStats:
    """What was reported of one arm, from whatever state its tickets were told."""

    __slots__ = ("costs", "cross", "failed", "pulls", "reward", "settled", "squares", "told")

    def __init__(self, n_resources: int) -> None:
        self.pulls = 0  # asked
        self.told = 0
        self.failed = 0
        self.settled = 0  # pulls whose cost is known, and whose reward is still expected
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

    def sums(self) -> ArmSums:
        """The sums as they are now."""
        return ArmSums(self.told, self.failed, self.settled, self.reward, tuple(self.costs))

    def as_list(self) -> list[Any]:
        """All that it knows."""
        known = [self.pulls, self.told, self.reward, self.costs, self.squares, self.cross]
        return [*known, self.failed, self.settled]

    def take_over(self, facts: list[Any]) -> None:
        """Know what `as_list` said."""
        self.pulls, self.told, self.reward, self.costs, self.squares, self.cross, *rest = facts
        self.failed, self.settled = rest

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


class ExpectedPulls:
    """The arms of tickets of which a report is expected: it counts for them what fails, and what
    waits for its reward.

    stats     of each arm
    expires   whether a ticket stops waiting for its reward by itself; otherwise settled tickets,
              which may be many and wait for ever, are counted and not kept
    """

    def __init__(self, stats: Sequence[ArmStats], *, expires: bool) -> None:
        self.stats = stats
        self.expires = expires
        self.arms: dict[int, list[int]] = {}  # of each ticket; none where they are not known

    def asked(self, ticket: int, arms: list[int]) -> None:
        """A ticket is issued."""
        self.arms[ticket] = arms
        for arm in arms:
            self.stats[arm].pulls += 1

    def failed(self, ticket: int) -> None:
        """The call of a ticket did not work."""
        for arm in self.arms.pop(ticket, ()):
            self.stats[arm].failed += 1

    def settled(self, ticket: int) -> None:
        """The cost of a ticket is known. One that was voided before is not counted."""
        arms = self.arms.get(ticket)
        if not arms:
            return
        self._wait(arms, 1)
        if not self.expires:
            del self.arms[ticket]

    def told(self, ticket: int, body: dict[str, Any]) -> None:
        """The whole report of a ticket is known."""
        is_known = self.arms.pop(ticket, body["arms"])
        if is_known and body.get("settled") and body["from"] in OPEN:
            self._wait(body["arms"], -1)

    def ended(self, ticket: int) -> None:
        """A ticket is voided: nothing is expected of it."""
        self.arms.pop(ticket, None)

    def _wait(self, arms: Iterable[int], change: int) -> None:
        for arm in arms:
            self.stats[arm].settled += change
