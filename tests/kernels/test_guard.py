"""The guard's account of each arm, by hand."""

import math
from typing import Any

import numpy as np
import pytest

from purse.kernels.guard import (
    ArmMeans,
    LossStakes,
    _count_lost,
    _displaced,
    _expected_reward,
    _is_no_dearer,
    _may_lose,
    _sure_reward,
    find_safe,
    is_too_risky,
)
from purse.types import Floats

NONE = np.zeros(3, np.int64)


def arms(weights: list[float], rewards: list[float], costs: list[Any]) -> ArmMeans:
    """What is known of arms whose reports were all alike."""
    columns = np.column_stack([rewards, np.array(costs, float).reshape(len(weights), -1)])
    return ArmMeans(np.array(weights, float), columns, np.zeros(columns.shape))


def stakes(left: float, rounds_left: float = math.inf, **told: Any) -> LossStakes:
    amounts = {"budget": np.array([100.0]), "left": np.array([left])}
    return LossStakes(
        **{"guard": 0.05, "rounds": math.inf, "round": 1.0, **amounts, **told},
        rounds_left=rounds_left,
    )


def losses(known: ArmMeans, stake: LossStakes, paid: Any, pending: Any = NONE) -> list[float]:
    """What each arm lost where arm 0 is safe at rho = 0.08, and its own loss with dearer ones."""
    lost, uses = np.full(3, math.nan), np.full((3, 1), 4.0)
    numbers = np.array(paid, float)
    total = _count_lost(known, stake, numbers, uses, np.array(pending), 0, 0.08, lost)
    return [*lost, total]


def test_a_pull_takes_the_place_of_others_where_money_is_short() -> None:
    known, uses = arms([4, 4, 0], [0.1, 0.2, 0], [0.5, 2, 0]), np.full((3, 1), 1.5)

    def found(stake: LossStakes, arm: int = 1) -> float:
        return _displaced(known, stake, uses, 0, arm)

    assert found(stakes(50.0)) == pytest.approx(4)
    assert found(stakes(50.0), 2) == pytest.approx(3)
    assert found(stakes(1.0)) == pytest.approx(2)  # which is all there is
    # 20 rounds are left and money for 100 pulls, or 21 rounds and money for 22 pulls
    assert found(stakes(50.0, 20.0)) == pytest.approx(1)
    assert found(stakes(11.0, 21.0)) == pytest.approx(3)
    assert found(stakes(50.0, 20.0, round=0.0)) == pytest.approx(0)


def test_losses_by_hand_with_money_alone() -> None:
    # arm 1 costs the same as arm 0 and is no loss to others; arm 2 costs four times as much
    known = arms([10, 6, 4], [0.1, 0.0, 0.25], [0.5, 0.5, 2])
    paid = [[10, 1, 5], [6, 0, 3], [4, 1, 8]]
    first, second, third, total = losses(known, stakes(80.0), paid, [0, 3, 1])
    assert first == pytest.approx(10 * (0.08 - 0.1))
    assert second == pytest.approx(9 * 0.08)
    assert third == pytest.approx(5 * (4 * 0.08 - 0.25))
    assert total == pytest.approx(first + third)
    # what it brought and cost then counts, and not what is known of it now or what is left
    known.means[2] = 0.9, 0.5
    assert losses(known, stakes(0.1), paid, [0, 3, 1])[2] == pytest.approx(third)
    assert _may_lose(known, stakes(80.0), 0, 0.08) == pytest.approx(0.05 * 0.08 * 200)


def test_open_tickets_of_an_untried_arm_bring_half_a_reward_and_cost_what_it_may() -> None:
    known = arms([10, 0, 0], [0.1, 0, 0], [0.5, 0, 0])
    paid: Floats = np.array([[10, 1, 5], [0, 0, 0], [0, 0, 0]], float)
    assert losses(known, stakes(80.0), paid, [0, 0, 3])[2] == pytest.approx(3 * (8 * 0.08 - 0.5))


def test_what_dearer_arms_took_is_charged_once() -> None:
    # 30 of 100 rounds are over, 10 of them with arm 0, and money for 200 of it was there
    known = arms([10, 12, 8], [0.1, 0.0, 0.25], [0.5, 1, 4])
    paid = [[10, 1, 5], [12, 0, 12], [8, 2, 32]]

    def charged(left: float, rounds: float, rounds_left: float) -> list[float]:
        lost = losses(known, stakes(left, rounds_left, rounds=rounds), paid)
        return [(lost[1] + 0) / 0.08, (lost[2] + 2) / 0.08]

    # time is short then and now: each pull took a round
    assert charged(51.0, 100.0, 70.0) == pytest.approx([12, 8])
    # money is short now: 100 - 51 / 0.5 is not; with 20 left it pays for 40 instead of 90
    assert sum(charged(20.0, 100.0, 70.0)) == pytest.approx(100 - 40 - 10)
    # 30 more than the rounds go to those above one pull, 1 and 7 a pull: 30 / 68 of it
    assert charged(20.0, 100.0, 70.0) == pytest.approx([12 * (1 + 30 / 68), 8 * (1 + 7 * 30 / 68)])
    # and rounds that do not allow arm 0 take nothing from it
    assert charged(51.0, 50.0, 35.0) == pytest.approx([12 * 5 / 20, 8 * 5 / 20])


def test_who_is_declared_no_dearer() -> None:
    most = np.array([[1.0, 2], [1, 2], [0.5, 2.1]])
    assert [_is_no_dearer(most, 0, arm) for arm in (1, 2)] == [True, False]


def test_which_arm_is_too_risky() -> None:
    """rho = (1 + 1/2) / 11 - sqrt(1/4) / 22 = 0.1136, so 5% of 200 pulls of arm 0 are 1.136."""
    known = arms([10, 6, 0], [0.1, 0.0, 0], [0.5, 2, 0])
    most = np.array([[1.0], [2], [1]])

    def risky(arm: int, paid: Any, pending: Any = NONE, left: float = 90.0) -> bool:
        room = np.zeros(3)
        numbers, waits, uses = np.array(paid, float), np.array(pending), np.full((3, 1), 4.0)
        told = (known, stakes(left), numbers, uses, waits, most, room, 0, arm)
        return bool(is_too_risky(*told))

    own = [10, 1, 5]
    # a pull takes the place of four and brings 1/14: 0.383 more, after 0.136 of arm 0 itself
    assert not risky(1, [own, [1, 0, 2], [0, 0, 0]])  # 0.136 + 0.455 + 0.383 = 0.974
    assert risky(1, [own, [2, 0, 4], [0, 0, 0]])
    assert not risky(1, [own, [2, 1, 4], [0, 0, 0]])  # it has paid for itself
    # open tickets bring what the reports of the arm did: no loss if it pays
    assert not risky(1, [own, [2, 1, 4], [0, 0, 0]], [0, 40, 0])
    assert risky(1, [own, [1, 0, 2], [0, 0, 0]], [0, 1, 0])
    assert not risky(2, [own, [9, 0, 18], [0, 0, 0]])  # untried, and declared no dearer
    most[2] = 1.5
    assert risky(2, [own, [9, 0, 18], [0, 0, 0]])
    known.means[1, 1] = 0.5
    assert not risky(1, [own, [9, 0, 18], [0, 0, 0]])  # no dearer than arm 0


def test_rewards_by_hand() -> None:
    # 11 rewards of 0: 0.5 / 12, less half of sqrt(0.25) / 12
    assert _expected_reward(11.0, 0.0) == pytest.approx(0.5 / 12, rel=1e-15)
    assert _sure_reward(11.0, 0.0, 0.0) == pytest.approx(1 / 48, rel=1e-15)
    # two of 0.1: 0.7 / 3, less half of sqrt(0.25) / 3
    assert _expected_reward(2.0, 0.1) == pytest.approx(0.7 / 3, rel=1e-15)
    assert _sure_reward(2.0, 0.1, 0.0) == pytest.approx(0.15, rel=1e-14)
    # 1 and 0, with squared deviations of 2 / 4: 1.5 / 3, less half of sqrt(0.75) / 3
    assert _sure_reward(2.0, 0.5, 0.5) == pytest.approx(0.5 - math.sqrt(0.75) / 6, rel=1e-15)
    # nothing is known: 1/2, and half of a standard error of 1/2 less
    assert _expected_reward(0.0, 0.0) == 0.5
    assert _sure_reward(0.0, 0.0, 0.0) == 0.25
    # 0.5 / 4 is less than half of sqrt(2.25) / 4
    assert _sure_reward(3.0, 0.0, 2.0) == 0


def test_the_safe_arm_takes_the_smallest_part_of_a_budget() -> None:
    # of budgets of 8 and 1 the arms take 1/2, 1/16 and 1/16; what the last takes nobody knows
    known = arms([1, 2, 0.5, 0], [0, 0, 1, 0], [[4, 0.01], [0.5, 0.03], [0.1, 0.0625], [0, 0]])
    parts = np.array([0.125, 1])
    for able, safe in (
        ([1, 1, 1, 1], 1),  # the first of two
        ([1, 0, 1, 1], 2),
        ([1, 0, 0, 1], 0),
        ([0, 0, 0, 1], -1),
        ([0, 0, 0, 0], -1),
    ):
        assert find_safe(known, parts, np.array(able)) == safe
