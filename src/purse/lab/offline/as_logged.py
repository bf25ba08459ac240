"""What a log itself gained with a budget: its rows in their order, until one cannot be paid or the
game ends.

The interval is that of another log of the same kind: rows are drawn again with replacement and keep
the order of the log, so that a logging policy that learnt is one that learns in them, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from purse.base import amounts
from purse.lab.offline.bootstrap import generator, with_log_error
from purse.lab.offline.log import Log
from purse.lab.offline.log_result import UNKNOWN, LogEstimate
from purse.lab.report.log_standings import SHORT
from purse.lab.theory.estimate import Estimate
from purse.types import Floats, Ints

NAME = "as logged"


def as_logged(
    log: Log, budgets: Sequence[Any], methods: Sequence[str], replicates: int, seed: int
) -> list[LogEstimate]:
    """Return an estimate for each budget and method: the same for every method, since nothing has
    to be estimated but how much another log would have gained.

    Refused where the game would have gone on after the last row, with money and rounds left.
    """
    found = []
    n = len(log)
    for budget in budgets:
        units = amounts.budget_array(budget, len(log.resources))
        gain, spent, rounds = play_rows(log, np.arange(n), units)
        refused = None
        if rounds == n and (log.horizon is None or log.horizon > n):
            left = amounts.text(units[0] - log.cost[:, 0].sum())
            refused = f"{SHORT}: it ends with {left} of the budget left"
        again = [
            play_rows(log, np.sort(generator(seed, number).integers(n, size=n)), units)
            for number in range(replicates)
        ]
        size = float(units[0] / amounts.UNIT)
        gains, amounts_spent = (np.array([each[part] for each in again]) for part in (0, 1))
        for method in methods:
            found.append(
                LogEstimate(
                    NAME,
                    size,
                    method,
                    UNKNOWN if refused else with_spread(gain, gains),
                    float(rounds),
                    refused,
                    UNKNOWN if refused else with_spread(spent, amounts_spent),
                    float(rounds),
                    "log",
                )
            )
    return found


def play_rows(log: Log, rows: Ints, units: Ints) -> tuple[float, float, int]:
    """Return the gain of these rows in their order, what they cost of the first resource, in the
    user's unit, and how many there are before the first that cannot be paid, or the horizon.
    """
    total = np.cumsum(log.cost[rows], axis=0)
    paid = int((total <= units).all(axis=1).sum())  # costs are not negative: the first ones
    last = min(paid, len(rows) if log.horizon is None else log.horizon)
    spent = float(total[last - 1, 0] / amounts.UNIT) if last else 0.0
    return float(log.reward[rows[:last]].sum()), spent, last


def with_spread(value: float, again: Floats) -> Estimate:
    """Return the value with the interval of the replicates: nothing is random within one."""
    return with_log_error(np.array([value, value]), np.repeat(again[:, None], 2, axis=1))
