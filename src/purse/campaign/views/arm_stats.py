"""Sums of the reports of each arm, and the tickets of which a report is expected."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from operator import add
from typing import Any, NamedTuple

from purse.base import amounts

_Z = 1.959963984540054  # 95% of a normal distribution lies within ± Z


class ArmSums(NamedTuple):
    """Sums of the reports of one arm up to some moment."""

    told: int
    failed: int
    settled: int
    reward: float
    costs: tuple[int, ...]  # (d,) units
    cost_squares: float = 0.0  # of the first resource


@dataclass(slots=True)
class ArmStats:
    """Statistics of the reports of one arm, from whatever state its tickets were told."""

    costs: list[int]  # units
    pulls: int = 0  # asked
    told: int = 0
    failed: int = 0
    settled: int = 0  # pulls whose cost is known, and whose reward is still expected
    reward: float = 0.0
    reward_squares: float = 0.0
    cost_squares: float = 0.0  # of the first resource
    cross: float = 0.0  # rewards times costs

    def add(self, reward: float, costs: list[int]) -> None:
        """Take in a report."""
        self.told += 1
        self.reward += reward
        self.costs = list(map(add, self.costs, costs))
        cost = costs[0] / amounts.UNIT
        self.reward_squares += reward * reward
        self.cost_squares += cost * cost
        self.cross += reward * cost

    def sums(self) -> ArmSums:
        """Return the sums as they are now."""
        return ArmSums(
            self.told, self.failed, self.settled, self.reward, tuple(self.costs), self.cost_squares
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the arm as JSON has it; means are None before the first report."""
        ratio, interval = self.efficiency()
        n = self.told
        return {
            "pulls": self.pulls,
            "told": n,
            "settled": self.settled,
            "failed": self.failed,
            "mean_reward": self.reward / n if n else None,
            "mean_costs": [units / n / amounts.UNIT for units in self.costs] if n else None,
            "efficiency": ratio,
            "interval": interval,
        }

    def efficiency(self) -> tuple[float | None, list[float] | None]:
        """Return the reward per cost of the first resource, and its 95% interval by the delta
        method: no ratio before something was paid, and no interval before two reports.
        """
        if self.costs[0] == 0:
            return None, None
        n, total = self.told, self.costs[0] / amounts.UNIT
        ratio = self.reward / total
        if n < 2:
            return ratio, None
        squares = self.reward_squares - 2 * ratio * self.cross + ratio * ratio * self.cost_squares
        margin = _Z * sqrt(max(0.0, squares) * n / (n - 1)) / total
        return ratio, [max(0.0, ratio - margin), ratio + margin]


def value(
    names: Sequence[str], arms: Sequence[ArmStats], paid: Sequence[int], *, is_limited: bool
) -> dict[str, Any]:
    """Return the gain, which is the sum of all rewards, and what it is compared with.

    paid         (d,) what all calls cost, in units, failed ones and overruns included
    is_limited   whether rounds are limited, too: then others get no more pulls than were reported

    `best` is the arm that alone would have gained most for the same money, and has two reports;
    `uniform` is all arms equally often, once each has a report. Both are estimates: they take the
    mean reward and cost of each arm's own reports, as if those had not depended on when the arm was
    chosen. Which arm is best is known only in hindsight.
    """
    gain, pulled = sum(arm.reward for arm in arms), [arm for arm in arms if arm.pulls]
    limit = sum(arm.told for arm in arms) if is_limited else None
    alone = [
        (bought, name, arm)
        for name, arm in zip(names, arms, strict=False)
        if arm.told > 1 and (bought := _gain_of([arm], paid, limit)) is not None
    ]
    best = max(alone, key=lambda row: row[0], default=None)
    first = paid[0] / amounts.UNIT
    return {
        "gain": gain,
        "paid": [amounts.text(units) for units in paid],
        "per_unit": gain / first if first else None,
        "best": best and _best_of(*best, first if len(paid) == 1 and not is_limited else None),
        "uniform": _gain_of(pulled, paid, limit) if all(arm.told for arm in pulled) else None,
    }


def _best_of(bought: float, name: str, arm: ArmStats, paid: float | None) -> dict[str, Any]:
    """Return the best arm as JSON has it; a 95% interval if one resource is the only limit."""
    interval = None if paid is None else arm.efficiency()[1]
    return {
        "arm": name,
        "gain": bought,
        "interval": interval and [end * (paid or 0.0) for end in interval],
        "told": arm.told,
    }


def _gain_of(arms: Sequence[ArmStats], paid: Sequence[int], limit: int | None) -> float | None:
    """Return the gain of arms that are pulled equally often until one resource is spent, in at most
    `limit` pulls; None if they cost nothing.
    """
    rounds = [
        units / cost
        for resource, units in enumerate(paid)
        if (cost := sum(arm.costs[resource] / arm.told for arm in arms)) > 0
    ]
    if rounds and limit is not None:
        rounds.append(limit / len(arms))
    return min(rounds) * sum(arm.reward / arm.told for arm in arms) if rounds else None
