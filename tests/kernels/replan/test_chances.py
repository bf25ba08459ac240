"""The arms that a plan may use, and the chances from it."""

import math
from typing import Any

import numpy as np
import pytest

from purse.kernels.replan.chances import add_looks, open_arms, play_cheapest, share_equally
from purse.kernels.small_lp import SmallLp, new_lp
from purse.types import Now

EXACT = {"rel": 1e-15, "abs": 1e-15}


def plan(uses: Any, pulls: Any = 0, gains: Any = 1, open: Any = 1) -> SmallLp:
    """A solved program; its chances are whatever they were."""
    columns = np.array(uses, float)
    lp = new_lp(*columns.shape)
    lp.uses[:], lp.pulls[:], lp.gains[:], lp.open[:] = columns, pulls, gains, open
    lp.chances[:] = math.nan
    return lp


def facts(left: list[float], allowed: list[int] | None = None, n_arms: int = 3) -> Now:
    mask = np.isin(np.arange(n_arms), allowed or [])
    zeros = np.zeros(n_arms, np.int64)
    amounts = np.array(left, float)
    masked = allowed is not None
    counted = np.zeros((0, n_arms), np.bool_), np.zeros(0, np.int64)
    context = np.zeros((n_arms, 0))
    return Now(np.uint64(0), 1, math.inf, amounts, masked, mask, *counted, zeros, context)


@pytest.mark.parametrize(
    ("left", "allowed", "caps", "found"),
    [
        ([5, 5], None, [math.inf, 1, 1], [1, 1, 1]),
        ([5, 5], None, [math.inf, 0, -1], [1, 0, 0]),  # a cap is used up, or lower than it was
        ([5, 5], [0, 2], [1, 1, 0], [1, 0, 0]),
        # arm 0 may cost (3, 1), arm 1 (1, 2) and arm 2 (1, 1)
        ([2, 2], None, [1, 1, 1], [0, 1, 1]),
        ([2, 1], None, [1, 1, 1], [0, 0, 1]),
        ([3 * (1 - 1e-13), 1], None, [1, 1, 1], [1, 0, 1]),  # as good as 3
        ([3 * (1 - 1e-11), 1], None, [1, 1, 1], [0, 0, 1]),
        # none fits, or none that may be played: all of those are open
        ([0.5, 5], None, [1, 1, 0], [1, 1, 0]),
        ([2, 1], [0, 1], [1, 1, 1], [1, 1, 0]),
        ([2, 1], None, [1, 1, 0], [1, 1, 0]),
        ([5, 5], [1], [1, 0, 1], [0, 0, 0]),
    ],
)
def test_arms_that_a_plan_may_use(left: Any, allowed: Any, caps: Any, found: list[int]) -> None:
    lp = plan(np.ones((3, 2)), open=7)
    lp.caps[:] = caps
    open_arms(lp, np.array([[3.0, 1], [1, 2], [1, 1]]), facts(left, allowed), False)
    assert lp.open.tolist() == found


def test_looks_by_hand() -> None:
    # of 20 planned pulls arm 0 could have half, arm 1 all, arm 2 five times as many, arm 3 none
    lp = plan(np.ones((4, 1)))
    lp.scales[:] = 10, 20, 100, 0
    assert add_looks(lp, 0.1, 20.0) == pytest.approx(0.25, **EXACT)
    assert lp.chances == pytest.approx([0.05, 0.1, 0.1, 0], **EXACT)


def test_equal_arms_share_their_part() -> None:
    uses = [[0.5, 1], [0.5, 1], [0.5, 1], [0.5, 2], [0.5, 1]]
    lp = plan(uses, gains=[0.3, 0.3, 0.4, 0.3, 0.3], open=[1, 1, 1, 1, 0])
    lp.chances[:] = 0.0625
    share_equally(lp, 0, 0.5)  # with arm 1 alone: others differ in one number, or are closed
    assert lp.chances.tolist() == [0.3125, 0.3125, 0.0625, 0.0625, 0.0625]
    share_equally(lp, 3, 0.25)
    share_equally(lp, 2, 0.125)
    assert lp.chances.tolist() == [0.3125, 0.3125, 0.1875, 0.3125, 0.0625]


@pytest.mark.parametrize(
    ("open", "found"),
    [
        ([1, 1, 1, 1], [0, 1, 0, 0]),  # the first of two
        ([1, 0, 1, 1], [0, 0, 0, 1]),
        ([1, 0, 1, 0], [0, 0, 1, 0]),
        ([0, 0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_the_cheapest_arm_where_nothing_is_planned(open: list[int], found: list[int]) -> None:
    lp = plan([[0.9, 0], [0.2, 3], [0.5, 0], [0.2, 1]], open=open)
    play_cheapest(lp)
    assert lp.chances.tolist() == found
