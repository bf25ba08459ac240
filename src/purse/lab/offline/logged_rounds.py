r"""The world that a log with contexts tells of: logged rounds, met as often as their weights say.

A round draws a row t of the log with probability w_t / sum w and shows its context x_t; the policy
chooses. Where it chooses the logged arm i_t, the round is played, with the logged reward and cost.
Where it chooses another arm, nobody knows what would have followed: the round did not take place,
and another row is drawn. A choice to skip is taken with probability p_t = 1 / w_t. So of the rounds
that are played row t has the part

    pi(i_t | x_t) w_t / sum_s pi(i_s | x_s) w_s

of who chooses by pi, which is what the self-normalised inverse-propensity estimate says: contexts
come as in the log, and rewards and costs of the chosen arm as they were logged in such contexts.
For a policy without contexts it is the world of `purse.lab.offline.model_world`.

The policy learns from the rounds that are played. Of each round the first row that is drawn, j, and
the arm a that the policy chooses there, is credited beside, with S = sum w / n:

    ips      S 1{a = i_j} r_j                                     unbiased, given what the policy
                                                                  has learnt so far
    dr       S p_j m(x_j, a) + S 1{a = i_j} (r_j - m(x_j, i_j))   with the model m, which has not
                                                                  seen row j

and likewise the costs. S times the rounds that take place per row that is drawn is 1 on average,
unless the log never chose what the policy wants. Initial pulls, and the pull of another arm where
one cannot be paid, are not the policy's choice for a context: they take any row of their arm.
`purse.lab.offline.seated_policy` asks the policy.

References: L. Li, W. Chu, J. Langford, X. Wang, 2011 (rounds that are not played); A. Swaminathan,
T. Joachims, 2015; M. Dudik, J. Langford, L. Li, 2011.
"""

from __future__ import annotations

from typing import NamedTuple

from purse.compiler.kernel import cold
from purse.kernels.random import U, at, uniform
from purse.types import Floats, Ints

ROW = 1 << 19  # the index of the random number that draws a row; policies have the first ones
UNSET = -3  # in `wanted`: the policy was not asked
# columns of credits: rounds that took place by choice, rows drawn for them, rewards played, then
# inverse-propensity and doubly robust values
COUNT, DRAWS, PLAYED, IPS = range(4)


class LoggedRounds(NamedTuple):
    """A log as data, its rows sorted by arm. Paths write into it, so that a thread needs its own.
    n rows, K arms, V = 1 + d values: the reward in the user's unit, then the costs in units.
    """

    upto: Floats  # (n,) the sum of the weights up to each row
    first: Ints  # (K + 1,) where the rows of each arm begin
    scale: float  # S, the sum of the weights per row
    arm: Ints  # (n,)
    chance: Floats  # (n,) p
    features: Floats  # (n, A, numbers of a context)
    rewards: Floats  # (n,) from 0 to 1
    costs: Ints  # (n, d) units
    values: Floats  # (n, V)
    models: Floats  # (n, K, V) what is expected of each arm
    row: Ints  # (2,) the row that is played, and the first of this round
    wanted: Ints  # (1,) the arm that the policy chose for the row that is played
    pending: Floats  # (C,) the credits of this round
    path: Ints  # (1,) the path that plays, from 0
    credits: Floats  # (P, C) sums over the rounds of each path
    visits: Ints  # (n,) how often each row was played
    asked: Ints  # (K,) how often each arm was wanted first
    lost: Ints  # (1,) paths that found no row


@cold
def find_row(log: LoggedRounds, low: int, high: int, u: float) -> int:
    """Return the row from low .. high - 1 that the number u in [0, 1) draws, by weight."""
    before = log.upto[low - 1] if low > 0 else 0.0
    sought = before + u * (log.upto[high - 1] - before)
    last = high - 1
    while low < last:
        middle = (low + last) >> 1
        if log.upto[middle] > sought:
            last = middle
        else:
            low = middle + 1
    return low


@cold
def show_row(log: LoggedRounds, row: int, context: Floats) -> None:
    """Write the context of a row."""
    for i in range(context.shape[0]):
        for k in range(context.shape[1]):
            context[i, k] = log.features[row, i, k]


@cold
def view(key: U, tables: LoggedRounds, t: int, context: Floats) -> None:
    """Draw the first row of a round and write its context."""
    if t == 1:
        tables.path[0] += 1
    row = find_row(tables, 0, tables.upto.shape[0], uniform(at(key, t), ROW))
    tables.row[:] = row
    tables.wanted[:] = UNSET
    show_row(tables, row, context)


@cold
def draw(key: U, tables: LoggedRounds, t: int, arm: int, cost: Ints) -> float:
    """Write what the row costs, and return its reward; of another arm it is any row."""
    row = tables.row[0]
    if tables.arm[row] != arm:
        low, high = tables.first[arm], tables.first[arm + 1]
        row = find_row(tables, low, high, uniform(at(key, t), arm))
        tables.row[0] = row
    for m in range(cost.shape[0]):
        cost[m] = tables.costs[row, m]
    return tables.rewards[row]


@cold
def set_credit(log: LoggedRounds, arm: int) -> None:
    """Write the credits of this round for the arm, or `SKIP`, that its first row had."""
    row = log.row[1]
    same = log.scale * (log.arm[row] == arm)
    part = log.scale * log.chance[row]
    n_values = log.values.shape[1]
    log.pending[:] = 0.0
    if arm >= 0:
        for v in range(n_values):
            value = log.values[row, v]
            expected = log.models[row, arm, v]
            log.pending[IPS + v] = same * value
            log.pending[IPS + n_values + v] = part * expected + same * (value - expected)


@cold
def keep_credit(log: LoggedRounds) -> None:
    """Add the credits of this round to those of its path."""
    for c in range(log.pending.shape[0]):
        log.credits[log.path[0], c] += log.pending[c]
