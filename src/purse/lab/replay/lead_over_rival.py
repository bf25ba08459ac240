r"""The distance of a player to the best other arm, and how much of it is the chance in the rows.

Other rows would have other means. A player that pulls arm i x(i) times on average gains r^ x with
the mean rewards r^, and l is the price of money at its budget: row t of N adds

    v_t = sum_i x(i) (r_t(i) - l c_t(i))

to what decides its gain. The standard error of the difference of two gains is that of the mean of
the N differences of v_t.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from purse.types import Floats


class Ahead(NamedTuple):
    """The distance to the best other arm; without one, nothing."""

    rival: str | None = None
    ahead: float | None = None
    ahead_error: float | None = None  # standard error over the rows; None with a single row


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table, and the game that is played on them."""

    arms: Sequence[str]
    rewards: Floats  # (N, K)
    costs: Floats  # (N, K)
    budget: float
    horizon: int

    def alone(self, arm: int) -> Floats:
        """(K,) The pulls of one arm alone."""
        cost = float(self.costs[:, arm].mean())
        pulls = min(self.horizon, self.budget / cost) if cost > 0 else self.horizon
        plays: Floats = np.eye(len(self.arms))[arm] * pulls
        return plays

    def added(self, plays: Floats) -> Floats:
        """(N,) What each row adds, v_t."""
        means, prices = self.rewards.mean(axis=0), self.costs.mean(axis=0)
        used, price = np.flatnonzero(plays > 0), 0.0
        if len(used) == 2:
            price = np.diff(means[used])[0] / np.diff(prices[used])[0]
        elif len(used) == 1 and plays.sum() < self.horizon:
            price = means[used[0]] / prices[used[0]]
        added: Floats = (self.rewards - price * self.costs) @ plays
        return added

    def ahead(self, plays: Floats) -> Ahead:
        """Return how far these (K,) pulls are ahead of the best arm that is not all of them."""
        used, means = np.flatnonzero(plays > 0), self.rewards.mean(axis=0)
        others = [arm for arm in range(len(self.arms)) if used.tolist() != [arm]]
        if not len(used):
            return Ahead()
        gains = {arm: float(means @ self.alone(arm)) for arm in others}
        best = max(others, key=lambda arm: gains[arm])
        differences = self.added(plays) - self.added(self.alone(best))
        n, error = len(differences), None
        if n > 1:
            error = float(differences.std(ddof=1) / np.sqrt(n))
        return Ahead(self.arms[best], float(means @ plays) - gains[best], error)
