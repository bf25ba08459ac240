r"""What would have been saved: the least money that buys nearly as much as a log gained.

Nothing is simulated. For the same number of rounds a choice pi, one arm or shares of two in steps
of 5%, gains G = sum pi_i mu_i a round and pays sum pi_i kappa_i; the log gained V = sum q_i m_i and
paid M = sum q_i k_i, with its shares q and its plain means m, k. The saving is S = 1 - paid / M.

    named      the largest S with G >= (1 - within) V, and beyond chance G >= (1 - 1.5 within) V;
               that is known to +- .1 V, and S to be above 0 and at least 5%
    chance     t error, error by `BlockMeans`, with Student's t at 1 - .05 / (pairs of arms to
               pick from): who picks the best of many is often only lucky
    to know    ratio G/V to +- h:   n_i = a_i / sqrt(kappa_i) sum_j a_j sqrt(kappa_j) (t / hV)^2
               with a_i = |pi_i - (G/V) q_i| s_i calls at the least money, less the rows there are
"""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from purse.lab.data.question import WITHIN
from purse.lab.replay.block_means import BlockMeans
from purse.lab.theory.estimate import LEVEL, t_quantile
from purse.types import Floats, Ints

_SLACK = 1.5  # times as much beyond chance
_KNOWN = 0.1  # of the log's gain: what is known less well is not named
_LEAST_ROWS, _LEAST_SPREAD, _LEAST_BLOCKS = 30, 0.6, 8
_STEPS = 20  # of shares of two arms
_PAIRED = 40  # arms that are mixed: more would take minutes
_ENOUGH = 0.05  # a saving below this is none: the tolerance alone often buys as much
_POINTS = 0.05  # what a campaign makes known
_CURVE = 21  # amounts of money
_ALIKE = 0.7  # variance of independent rows as part of that of blocks


class Calls(NamedTuple):
    """What it costs to know how good a choice is."""

    counts: Floats  # (K,) calls of each arm beside the rows there are
    price: float
    points: float  # half of the interval of G/V then


@dataclass(frozen=True, eq=False)
class Savings:
    """The answer. `shares` are those of what is named, or of what it would cost to know of."""

    kind: Literal["less", "nothing", "cannot tell"]
    reason: str = ""  # why the log cannot tell
    shares: Floats | None = None  # (K,)
    ratio: float = np.nan  # G/V
    saving: tuple[float, float, float] = (np.nan,) * 3  # S with its interval
    most: float = np.nan  # the largest saving that is not excluded
    calls: Calls | None = None
    # (points, 4 + K) money, gain of the best choice, its interval; per round; the choice's shares
    curve: Floats | None = None


def find_savings(log: BlockMeans, within: float = WITHIN) -> Savings:
    """Return which choice would have saved most, or why the log cannot tell.

    within   the part of the log's gain that may be missing
    """
    if log.blocks < _LEAST_BLOCKS:
        return _cannot(log, "it has fewer than eight sessions")
    low, high = map(log.unseen, log.ends)
    gained = log.log_gain[0]
    unsure = log.t * np.sqrt(log.error(log.log_gain) ** 2 + log.share**2 @ high)
    if gained <= unsure:
        return _cannot(log, "its own gain is not clearly above 0")
    usable = np.flatnonzero((log.ess >= _LEAST_ROWS) & (log.spread >= _LEAST_SPREAD))
    cheaper = (log.cost[0] < log.log_cost[0]) & (log.rows > 0)
    if not (n_cheap := int(cheaper[usable].sum())):
        least = np.eye(len(cheaper))[np.where(cheaper, log.cost[0], np.inf).argmin()]
        why = "no arm that is cheaper than the log has enough rows all along it"
        return _cannot(log, why, least if cheaper.any() else None)
    if not log.sessions and _count_as(log, usable) < _ALIKE and log.alike():
        why = "rows are alike for longer than a block, by sessions or by a trend; name the column"
        return _cannot(log, f"{why} of sessions (--block)")
    # pairs of arms to pick from
    among = max(2, n_cheap * (len(usable) - n_cheap), n_cheap * (n_cheap - 1) // 2)
    t = t_quantile(log.blocks - 1, 1 - 2 * (1 - LEVEL) / among)

    choices = _choices(log, usable)
    gain, paid, squares = log.gain @ choices.T, log.cost @ choices.T, choices**2
    saved = 1 - paid / log.log_cost[:, None]
    asked = gain - (1 - within) * log.log_gain[:, None]
    shown = gain - (1 - _SLACK * within) * log.log_gain[:, None]
    about = t * log.error(saved)
    half = t * np.sqrt(log.error(shown) ** 2 + squares @ low + log.share**2 @ high)
    widest = t * np.sqrt(log.error(asked) ** 2 + squares @ high + log.share**2 @ low)
    most = float((saved[0] + about)[asked[0] + widest >= 0].max(initial=0.0))
    sure = (asked[0] >= 0) & (shown[0] >= half) & (half <= _KNOWN * gained)
    named = np.flatnonzero(sure & (saved[0] >= _ENOUGH) & (saved[0] > about))
    likely = np.flatnonzero(asked[0] >= 0)
    pool = named if len(named) else likely if len(likely) else np.array([asked[0].argmax()])
    pick = int(pool[saved[0][pool].argmax()])

    saving, ratio = float(saved[0][pick]), float(gain[0][pick] / gained)
    known = float(half[pick] / gained)
    answer = Savings(
        "less" if len(named) else "nothing" if most < _ENOUGH else "cannot tell",
        shares=choices[pick],
        ratio=ratio,
        saving=(saving, saving - float(about[pick]), saving + float(about[pick])),
        most=most,
        calls=_to_know(log, choices[pick], ratio, known / 2 if 0 < known <= _POINTS else _POINTS),
        curve=_curve(log, choices, t),
    )
    if answer.kind != "cannot tell":
        return answer
    reason = "what is cheaper may be as good, or not"
    if unsure > _KNOWN * gained:
        reason = f"its own gain is known to ± {unsure / gained:.0%}: "
        reason += f"{log.carried:,.0f} rewards carry it"
    return replace(answer, reason=reason)


def _cannot(log: BlockMeans, reason: str, shares: Floats | None = None) -> Savings:
    """Return the refusal, with a price if there is a choice to know of."""
    calls = None if shares is None else _to_know(log, shares, 1.0, _POINTS)
    return Savings("cannot tell", reason, shares, calls=calls)


def _count_as(log: BlockMeans, usable: Ints) -> float:
    """Return how many independent rows tell as much, as a part of the rows."""
    by_block = (log.error(log.gain[:, usable]) ** 2).sum()
    return float(log.row_variance[usable].sum() / by_block) if by_block > 0 else 1.0


def _choices(log: BlockMeans, usable: Ints) -> Floats:
    """(P, K) The shares of single arms, and of two arms in steps, of many those with most rows."""
    eye, parts = np.eye(len(log.rows)), np.arange(1, _STEPS)[:, None] / _STEPS
    often = usable[np.argsort(-log.ess[usable], kind="stable")[:_PAIRED]]
    pairs = [parts * eye[i] + (1 - parts) * eye[j] for i in often for j in often if i < j]
    return np.vstack([eye[usable], *pairs])


def _curve(log: BlockMeans, choices: Floats, t: float) -> Floats:
    """(points, 4 + K) What money buys, from the cheapest choice to the dearest; see `Savings`."""
    gain, paid = log.gain @ choices.T, log.cost[0] @ choices.T
    either = np.maximum(*map(log.unseen, log.ends))
    points = []
    for money in np.linspace(paid.min(), paid.max(), _CURVE):
        best = int(np.where(paid <= money * (1 + 1e-9), gain[0], -np.inf).argmax())
        wide = t * np.sqrt(log.error(gain[:, best]) ** 2 + choices[best] ** 2 @ either)
        ends = gain[0][best] - wide, gain[0][best] + wide
        points.append((money, gain[0][best], *ends, *choices[best]))
    return np.array(points)


def _to_know(log: BlockMeans, shares: Floats, ratio: float, points: float) -> Calls:
    """Return the calls at the least money after which G/V is known to ± points."""
    missed = np.maximum(*map(log.unseen, log.ends))
    jackknife = log.error(log.gain) ** 2
    deviation = np.sqrt((np.maximum(jackknife, log.row_variance) + missed) * log.ess)
    few = (log.ess < _LEAST_ROWS) | (log.spread < _LEAST_SPREAD)
    deviation = np.where(few, (log.ends[1] - log.ends[0]) / 2, deviation)
    root = np.sqrt(np.maximum(log.cost[0], 1e-12))
    part = np.abs(shares - ratio * log.share) * deviation
    target = (points * log.log_gain[0] / log.t) ** 2
    there = np.where(few, 0, log.ess)
    counts = np.ceil(np.maximum(0, part / root * (part @ root) / target - there))
    return Calls(counts, float(counts @ log.cost[0]), points)
