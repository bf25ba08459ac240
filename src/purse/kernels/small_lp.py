"""A linear program with many columns and few rows, solved from scratch in every round.

    maximise  sum_i gains(i) x(i)   subject to   sum_i uses(i, j) x(i) <= limits(j),
                                                 0 <= x(i) <= caps(i)

The simplex method with bounded variables, from doing nothing. Each column is scaled to take all of
the row that it uses most, so that the first to enter is the best one alone. The rule of the largest
gain comes first; should it take too long, the rule of the first index, which cannot cycle.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.types import Floats, Ints

_TOLERANCE = 1e-10  # of the best column's gain
_SMALLEST = 1e-12  # limit of a row, and part of it that a step moves
_NOBODY = -1000


class SmallLp(NamedTuple):
    """The program, its solution, and room to work in."""

    gains: Floats  # (K,)
    uses: Floats  # (K, m)
    limits: Floats  # (m,)
    parts: Floats  # (m,) 1 / limits
    caps: Floats  # (K,) infinity without a cap
    open: Ints  # (K,) 1 for a column that may be used, 0 for others
    pulls: Floats  # (K,) the solution
    chances: Floats  # (K,) the caller's room, as are the next two
    worths: Floats  # (K,)
    order: Ints  # (K,)
    scales: Floats  # (K,) what a column alone may be; 0 if it is closed
    full: Ints  # (K,) 1 for a column that stands at its cap and is not in the basis
    basis: Ints  # (m,) columns; -1 - j for the slack of row j
    inverse: Floats  # (m, m) of the basis
    amounts: Floats  # (m,) of the basis, in scales, or in limits for a slack
    prices: Floats  # (m,) of the rows
    step: Floats  # (m,) how much a unit of the entering column takes from the basis


def new_lp(n_columns: int, n_rows: int) -> SmallLp:
    """Allocate a program without caps."""
    k, m = n_columns, n_rows
    gains, pulls, chances, worths, scales = np.zeros((5, k))
    order, full = np.zeros((2, k), np.int64)
    limits, parts, amounts, prices, step = np.zeros((5, m))
    program = np.zeros((k, m)), limits, parts, np.full(k, math.inf), np.ones(k, np.int64)
    basis = np.zeros(m, np.int64), np.zeros((m, m)), amounts, prices, step
    return SmallLp(gains, *program, pulls, chances, worths, order, scales, full, *basis)


@kernel
def set_limit(lp: SmallLp, j: int, limit: float) -> None:
    """Set what row j has; less than 1e-12 counts as 1e-12."""
    lp.limits[j] = limit
    lp.parts[j] = 1 / max(limit, _SMALLEST)


@kernel
def solve(lp: SmallLp) -> float:
    """Write the solution to `pulls`; return its sum. A column that uses nothing stays at 0."""
    k = lp.gains.shape[0]
    # not -1: a literal has a type of its own, and `_run_simplex` would be compiled twice
    best: int = k
    largest = 0.0
    capped = False
    for i in range(k):
        lp.scales[i] = lp.uses[i, 0] * lp.parts[0]
        lp.pulls[i] = 0.0
    for j in range(1, lp.limits.shape[0]):
        for i in range(k):
            lp.scales[i] = max(lp.scales[i], lp.uses[i, j] * lp.parts[j])
    for i in range(k):
        lp.scales[i] = 1 / lp.scales[i] if lp.open[i] and lp.scales[i] > 0 else 0.0
        capped |= lp.scales[i] > lp.caps[i]
    for i in range(k):
        value = lp.gains[i] * min(lp.scales[i], lp.caps[i])
        if value > largest:
            largest = value
            best = i
    if best == k:
        return 0.0
    if lp.basis.shape[0] == 1 and not capped:
        lp.pulls[best] = lp.scales[best]
        return lp.scales[best]
    _run_simplex(lp, best, _TOLERANCE * largest)
    total = 0.0
    for i in range(k):
        total += lp.pulls[i]
    return total


@kernel
def _run_simplex(lp: SmallLp, best: int, tolerance: float) -> None:
    """Pivot until no column gains more than `tolerance`; the best column alone enters first."""
    k, m = lp.gains.shape[0], lp.basis.shape[0]
    for i in range(k):
        lp.full[i] = 0
    for r in range(m):
        lp.basis[r] = -1 - r
        lp.amounts[r] = 1.0
        for j in range(m):
            lp.inverse[r, j] = 1.0 if r == j else 0.0
    entering = best
    for turn in range(40 * (m + k)):
        leaving = _move(lp, entering)
        if leaving >= 0:
            _invert(lp, leaving)
        entering = _find_entering(lp, tolerance, turn > 4 * (m + k))
        if entering == _NOBODY:
            break
    for i in range(k):
        if lp.full[i]:
            lp.pulls[i] = lp.caps[i]
    for r in range(m):
        if lp.basis[r] >= 0:
            lp.pulls[lp.basis[r]] = lp.amounts[r] * lp.scales[lp.basis[r]]


@kernel
def _find_entering(lp: SmallLp, tolerance: float, first: bool) -> int:
    """Return the column with the largest gain at the prices of the basis, or the first with any."""
    m = lp.basis.shape[0]
    for j in range(m):
        lp.prices[j] = 0.0
        for r in range(m):
            b = lp.basis[r]
            if b >= 0:
                lp.prices[j] += lp.gains[b] * lp.scales[b] * lp.inverse[r, j]
    best = tolerance
    entering = _NOBODY
    for j in range(m - 1, -1, -1):  # in the order of their numbers in the basis
        if -lp.prices[j] > best and not (first and entering != _NOBODY):
            best = -lp.prices[j]
            entering = -1 - j
        lp.prices[j] *= lp.parts[j]  # of a unit, no longer of the whole row
    for i in range(lp.gains.shape[0]):
        gain = lp.gains[i]
        for j in range(m):
            gain -= lp.prices[j] * lp.uses[i, j]
        gain *= -lp.scales[i] if lp.full[i] else lp.scales[i]
        if gain > best and not (first and entering != _NOBODY):
            best = gain
            entering = i
    return entering


@kernel
def _move(lp: SmallLp, entering: int) -> int:
    """Let a column enter, or go from one bound to the other; return the row that leaves, or -1."""
    m = lp.basis.shape[0]
    sign = -1.0 if entering >= 0 and lp.full[entering] else 1.0
    furthest = lp.caps[entering] / lp.scales[entering] if entering >= 0 else math.inf
    leaving = -1
    for r in range(m):
        lp.step[r] = 0.0
        if entering < 0:
            lp.step[r] = lp.inverse[r, -1 - entering]
        else:
            for j in range(m):
                part = lp.uses[entering, j] * lp.parts[j] * lp.scales[entering]
                lp.step[r] += lp.inverse[r, j] * part
        change = sign * lp.step[r]
        room = lp.amounts[r]
        if change < 0:
            b = lp.basis[r]
            room = max(0.0, lp.caps[b] / lp.scales[b] - room) if b >= 0 else math.inf
        if abs(change) > _SMALLEST:
            far = room / abs(change)
            tie = far == furthest and leaving >= 0 and lp.basis[r] < lp.basis[leaving]
            if far < furthest or tie:
                furthest = far
                leaving = r
    for r in range(m):
        lp.amounts[r] = max(0.0, lp.amounts[r] - sign * lp.step[r] * furthest)
    if leaving < 0:
        if entering >= 0:
            lp.full[entering] = 1 - lp.full[entering]
        return leaving
    b = lp.basis[leaving]
    if b >= 0:
        lp.full[b] = sign * lp.step[leaving] < 0
    lp.amounts[leaving] = furthest
    if entering >= 0 and lp.full[entering]:
        lp.amounts[leaving] = lp.caps[entering] / lp.scales[entering] - furthest
        lp.full[entering] = 0
    lp.basis[leaving] = entering
    return leaving


@cold
def _invert(lp: SmallLp, leaving: int) -> None:
    """Bring the inverse up to date after a pivot in the row `leaving`."""
    m = lp.basis.shape[0]
    for j in range(m):
        lp.inverse[leaving, j] /= lp.step[leaving]
    for r in range(m):
        if r != leaving:
            for j in range(m):
                lp.inverse[r, j] -= lp.step[r] * lp.inverse[leaving, j]
