r"""Mean rewards and costs of arms, with errors that hold for logs as people have them.

    mean        mu_i = sum w r / sum w over the rows of arm i that have a reward, w = 1/p or 1
    error       a jackknife over B = 20 blocks: (B - 1)/B sum_b (v_b - v.)^2, v_b the value that is
                computed without block b, v. the average of these
    unseen      3 ((mu_i - end) / n_i)^2 more variance: three rows with the worst or the best reward
                may have been missed (the rule of three, if nothing varied); n_i effective rows

A block has rows that follow each other, so that good and bad days are part of the error; sessions
stay whole, if a column names them. For independent rows this costs 7% of the width.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from purse.lab.theory.estimate import LEVEL, t_quantile
from purse.types import Floats, Ints

BLOCKS = 20
_UNSEEN = 3.0  # rows
_TINY = 1e-300


def blocks_of(n: int, session: Ints | None = None) -> Ints:
    """(n,) The block of each row; a session lies in one block, by the middle of its rows.

    session   (n,) the number of each row's session; None: each row is one
    """
    if session is None:
        return np.arange(n) * BLOCKS // n
    _, first, of_row, size = np.unique(
        session, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    middle = np.empty(len(first))
    middle[order] = np.cumsum(size[order]) - size[order] / 2
    block: Ints = np.unique((middle * BLOCKS / n).astype(np.int64), return_inverse=True)[1]
    return block[of_row]


def unseen(mean: Floats, ess: Floats, end: float) -> Floats:
    """(K,) The variance that a few unseen rows with the reward `end` add to mean rewards.

    >>> unseen(np.array([0.5]), np.array([100.0]), 0.0).round(9).tolist()
    [7.5e-05]
    """
    return _UNSEEN * ((mean - end) / np.maximum(ess, 1)) ** 2


@dataclass(frozen=True, eq=False)
class BlockMeans:
    """The means of K arms. The first view is of all rows, view 1 + b is without block b."""

    rows: Ints  # (K,)
    share: Floats  # (K,) whom the log asked: a fact, not chance
    gain: Floats  # (1 + B, K) mean rewards
    cost: Floats  # (1 + B, K) mean costs
    log_gain: Floats  # (1 + B,) of the log itself, for a row
    log_cost: Floats  # (1 + B,)
    ess: Floats  # (K,) effective rows that have a reward
    spread: Floats  # (K,) effective blocks, as a part of all
    row_variance: Floats  # (K,) of the mean rewards, if rows were independent
    ends: tuple[float, float]  # the worst and the best reward
    sessions: bool  # whether blocks are made of sessions
    carried: float  # how many rewards carry the sum: (sum |r - median|)^2 / sum (r - median)^2

    @classmethod
    def of(
        cls,
        arm: Ints,
        reward: Floats,
        cost: Floats,
        *,
        n_arms: int,
        weight: Floats | None = None,
        session: Ints | None = None,
        share: Floats | None = None,
        ends: tuple[float, float] | None = None,
    ) -> "BlockMeans":
        """Return the means of n rows in the order of time.

        arm      (n,) from 0
        reward   (n,) NaN if nobody judged the row: means are those of the others
        weight   (n,) 1/p; None: which arm answered had nothing to do with the request
        share    (K,) the parts of what is compared with; None: those of the rows
        ends     the worst and the best reward that there may be; None: those of the rows
        """
        n, block, judged = len(arm), blocks_of(len(arm), session), np.isfinite(reward)
        ones = np.ones(n)
        weight = ones if weight is None else weight
        reward = np.where(judged, reward, 0.0)
        size = int(block.max()) + 1
        place = block * n_arms + arm

        def sums(values: Any) -> Floats:
            table = np.bincount(place, values, minlength=size * n_arms).reshape(size, n_arms)
            return np.vstack([table.sum(axis=0), table.sum(axis=0) - table])

        def means(values: Floats, by: Floats) -> Floats:
            above, below = sums(values * by), sums(by)
            whole = above[0] / np.maximum(below[0], _TINY)
            left = below > 1e-9 * below[0]
            return np.where(left, above / np.maximum(below, _TINY), whole)

        seen = weight * judged
        rows, total, squares = sums(ones)[0], sums(seen), sums(seen**2)[0]
        share = rows / n if share is None else share
        gain = means(reward, seen)
        in_block = total[0] - total[1:]
        centred = seen * (reward - gain[0][arm])
        by_row = np.bincount(arm, centred**2, minlength=n_arms)
        rewards = reward[judged]
        away = np.abs(rewards - np.median(rewards))  # mostly the commonest reward
        return cls(
            rows.astype(np.int64),
            share,
            gain,
            means(cost, weight),
            means(reward, ones * judged) @ share,
            means(cost, ones) @ share,
            total[0] ** 2 / np.maximum(squares, _TINY),
            total[0] ** 2 / np.maximum((in_block**2).sum(axis=0), _TINY) / size,
            by_row / np.maximum(total[0] ** 2, _TINY),
            (float(rewards.min()), float(rewards.max())) if ends is None else ends,
            session is not None,
            float(away.sum() ** 2 / max((away**2).sum(), _TINY)),
        )

    @property
    def blocks(self) -> int:
        """How many blocks there are: of few sessions fewer than usual."""
        return len(self.gain) - 1

    @property
    def t(self) -> float:
        """Student's t of a 95% interval."""
        return t_quantile(max(1, self.blocks - 1), LEVEL)

    def error(self, views: Floats) -> Any:
        """Return the standard error of what was computed for each view, along the first axis."""
        apart = views[1:] - views[1:].mean(axis=0)
        return np.sqrt((self.blocks - 1) / self.blocks * (apart**2).sum(axis=0))

    def unseen(self, end: float) -> Floats:
        """(K,) The variance of mean rewards, if a few rows with this reward were missed."""
        return unseen(self.gain[0], self.ess, end)

    def alike(self) -> bool:
        """Return whether neighbouring blocks are alike beyond chance (two standard errors)."""
        apart = self.gain[1:] - self.gain[1:].mean(axis=0)
        scale = np.sqrt((apart**2).mean(axis=0))
        varies = scale > 1e-9 * (self.ends[1] - self.ends[0])
        if not varies.any():
            return False
        apart = apart[:, varies] / scale[varies]
        chance = 2 / np.sqrt(apart.size) - 1 / self.blocks
        return float((apart[1:] * apart[:-1]).mean()) > chance
