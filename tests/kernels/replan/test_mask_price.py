"""One price of money for rounds with different masks, by hand."""

import numpy as np
import pytest

from purse.engine.workspace import COUNTED_MASKS
from purse.kernels.replan.mask_price import allowed_share, may_mask, split_round
from purse.kernels.small_lp import SmallLp, new_lp, set_limit
from purse.types import Now


def round_of(
    allowed: list[int], seen: list[tuple[list[int], int]], left: float, t: int = 99
) -> Now:
    """A round after others with these masks and their counts, with 100 left; all up to round 99
    count 99 * 100 / 2 = 4950.
    """
    n_arms = len(allowed)
    masks, counts = np.zeros((COUNTED_MASKS, n_arms), np.bool_), np.zeros(COUNTED_MASKS, np.int64)
    for row, (mask, count) in enumerate(seen):
        masks[row], counts[row] = mask, count
    may, nothing = np.array(allowed, np.bool_), np.zeros(n_arms, np.int64)
    rest = masks, counts, nothing, np.ones((1, 1))
    return Now(np.uint64(0), t, 100.0, np.array([left]), not may.all(), may, *rest)


def program(now: Now) -> SmallLp:
    """Rewards .5, .6 and .8 at costs .02, .5 and 1."""
    lp = new_lp(3, 2)
    lp.gains[:], lp.uses[:, 0], lp.uses[:, 1] = [0.5, 0.6, 0.8], [0.02, 0.5, 1], 1
    set_limit(lp, 0, now.left[0])
    set_limit(lp, 1, now.rounds_left)
    return lp


def test_shares_of_rounds() -> None:
    now = round_of([0, 0, 1], [([0, 0, 1], 2475 - 99)], 30.0)
    assert may_mask(now)
    assert not may_mask(round_of([0, 0, 1], [], 30.0, 1))
    assert [allowed_share(now, i) for i in range(3)] == [0.5, 0.5, 1]


@pytest.mark.parametrize(
    ("left", "allowed", "parts", "pulls"),
    [
        # the cheap arm in 50 rounds takes 1, and the dear one in the 50 others what is left
        (21.0, [1, 1, 1], [1, 0, 0], [50, 0, 20]),
        (21.0, [0, 0, 1], [0, 0, 0.4], [50, 0, 20]),
        (0.5, [0, 0, 1], [0, 0, 0], [25, 0, 0]),
        (0.5, [1, 1, 1], [0.5, 0, 0], [25, 0, 0]),
        # all masked rounds are paid for, and half of the others may have the dear arm
        (51 + 24.5, [0, 0, 1], [0, 0, 1], [25, 0, 75]),
        (51 + 24.5, [1, 1, 1], [0.5, 0, 0.5], [25, 0, 75]),
        (1000.0, [1, 1, 1], [0, 0, 1], [0, 0, 100]),
    ],
)
def test_one_price_for_all_rounds(
    left: float, allowed: list[int], parts: list[float], pulls: list[float]
) -> None:
    # half of the rounds, as they count and with this one, allow the dear arm only; 100 are left
    masked = 2475 - 99 * (allowed == [0, 0, 1])
    now = round_of(allowed, [([0, 0, 1], masked)], left)
    lp = program(now)
    assert split_round(lp, now, 1, True) == pytest.approx(49.5 * sum(pulls))
    assert lp.pulls.tolist() == pytest.approx(parts, abs=1e-9)
    spent = 49.5 * sum(cost * count for cost, count in zip(lp.uses[:, 0], pulls, strict=True))
    assert lp.scales == pytest.approx(np.array(allowed) * spent / lp.uses[:, 0], rel=1e-9)
    assert lp.open.tolist() == allowed


def test_where_no_round_may_pass_the_cheapest_arm_is_played() -> None:
    now = round_of([0, 1, 1], [([0, 1, 1], 2376)], 1.0)
    lp = program(now)
    split_round(lp, now, 1, False)
    assert lp.pulls.tolist() == [0, 1, 0]


def test_the_prices_of_a_plan_for_several_resources() -> None:
    now = round_of([1, 0, 1], [([1, 0, 1], 2376)], 60.0)
    now = now._replace(left=np.array([60.0, 1e6]))
    lp = new_lp(3, 3)
    lp.gains[:], lp.uses[:, 0], lp.uses[:, 1:] = [0.5, 0.6, 0.8], [0.02, 0.5, 1], 1
    for j, limit in enumerate((60.0, 1e6, 100.0)):
        set_limit(lp, j, limit)
    lp.prices[:] = 0.5, 0, 0.4
    # (0.8 - 0.5) / 0.98 a unit is less than between arms 1 and 2: the dear arm in all rounds that
    # it is worth it, 59 of 98
    assert split_round(lp, now, 2, True) == pytest.approx(4950)
    assert lp.scales * lp.uses[:, 0] == pytest.approx([49.5 * 60, 0, 49.5 * 60])


def test_late_rounds_weigh_more() -> None:
    """50 rounds that allow only the dear arm, and then 49 that do not: a quarter of the count."""
    now = round_of([1, 1, 1], [([0, 0, 1], 50 * 51 // 2)], 30.0)
    assert allowed_share(now, 0) == pytest.approx(1 - 1275 / 4950)
    assert allowed_share(now, 2) == 1
