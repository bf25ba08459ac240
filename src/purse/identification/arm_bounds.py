"""One arm's sums of reports, and bounds on its means that hold after every report at once.

The bounds are those of `purse.kernels.mean_bounds`, run as Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from purse.compiler.kernel import attached
from purse.kernels import mean_bounds


def _with(kernel: Any, **parts: Any) -> Callable[..., float]:
    """Return the function of a kernel with `parts` in place of what it calls."""
    return attached(kernel.py_func, parts)


# Python's own logarithm takes a tenth of the time of the kernels'; the last bits may differ
_lower = _with(mean_bounds.lower, log=math.log, exp=math.exp)
lower_between = _with(mean_bounds.lower_between, lower=_lower)
upper_between = _with(mean_bounds.upper_between, lower=_lower)


class Arm(NamedTuple):
    """The sums of one arm's reports, and the ranges of what they add up."""

    name: str
    n: int
    reward_sum: float
    cost_sum: float
    reward_range: tuple[float, float]
    cost_range: tuple[float, float]  # twice the same if the cost is known

    @property
    def reward(self) -> float:
        """The mean reward so far; there is a report."""
        return self.reward_sum / self.n

    @property
    def cost(self) -> float:
        """The known cost, or the mean cost so far."""
        least, most = self.cost_range
        return least if least == most else self.cost_sum / self.n

    @property
    def ratio(self) -> float:
        """The mean reward per mean cost; infinite if a reward was for free."""
        return _over(self.reward, self.cost)

    def reward_bounds(self, log_term: float, times: float = 1.0) -> tuple[float, float]:
        """Return bounds on the mean reward, as if there were `times` as many reports."""
        return _bounds(self.reward_sum, self.n, self.reward_range, log_term, times)

    def cost_bounds(self, log_term: float, times: float = 1.0) -> tuple[float, float]:
        """Return bounds on the mean cost."""
        return _bounds(self.cost_sum, self.n, self.cost_range, log_term, times)

    def ratio_bounds(self, log_term: float, times: float = 1.0) -> tuple[float, float]:
        """Return bounds on the ratio: those of the box."""
        low, high = self.reward_bounds(log_term, times)
        cheap, dear = self.cost_bounds(log_term, times)
        return _over(low, dear if low > 0 else cheap), _over(high, cheap if high > 0 else dear)


@lru_cache(10_000)  # the leader has to be compared with every rival
def _bounds(
    total: float, n: int, within: tuple[float, float], log_term: float, times: float
) -> tuple[float, float]:
    least, most = within
    mean = min(most, max(least, total / n)) if n else least
    given = (mean, n * times, log_term, least, most)
    return lower_between(*given), upper_between(*given)


def _over(reward: float, cost: float) -> float:
    if cost > 0:
        return reward / cost
    return math.copysign(math.inf, reward) if reward else 0.0
