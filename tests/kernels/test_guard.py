from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from purse.kernels.fading_means import FadingMeans, new_means
from purse.kernels.guard import GuardStakes, expected_reward, find_safe, sure_reward, too_risky
from purse.types import Floats


def arms(weights: list[float], rewards: list[float], costs: list[Any]) -> FadingMeans:
    """What is known of arms whose reports were all alike."""
    columns = np.array(costs, float).reshape(len(weights), -1)
    known = new_means(len(weights), 1 + columns.shape[1])
    known.weights[:], known.means[:, 0], known.means[:, 1:] = weights, rewards, columns
    return known


def risky(
    known: FadingMeans, stakes: GuardStakes, most: list[Any], uses: Floats | None = None
) -> bool:
    """Whether arm 0 is too risky where arm 1 is safe."""
    dear = np.array(most, float).reshape(len(known.weights), -1)
    return bool(too_risky(known, stakes, dear, dear if uses is None else uses, 1, 0))


def stakes(guard: float, budget: Any, left: Any, **told: float) -> GuardStakes:
    told = {"earned": 0.0, "horizon": math.inf, "rounds_left": math.inf, **told}
    amounts = {"budget": np.array(budget, float), "left": np.array(left, float)}
    return GuardStakes(guard=guard, **told, **amounts)


def test_rewards_by_hand() -> None:
    # 11 rewards of 0: 0.5 / 12, less half of sqrt(0.25) / 12
    assert expected_reward(11.0, 0.0) == pytest.approx(0.5 / 12, rel=1e-15)
    assert sure_reward(11.0, 0.0, 0.0) == pytest.approx(1 / 48, rel=1e-15)
    # two of 0.1: 0.7 / 3, less half of sqrt(0.25) / 3
    assert expected_reward(2.0, 0.1) == pytest.approx(0.7 / 3, rel=1e-15)
    assert sure_reward(2.0, 0.1, 0.0) == pytest.approx(0.15, rel=1e-14)
    # 1 and 0, with squared deviations of 2 / 4: 1.5 / 3, less half of sqrt(0.75) / 3
    assert sure_reward(2.0, 0.5, 0.5) == pytest.approx(0.5 - math.sqrt(0.75) / 6, rel=1e-15)
    # nothing is known: 1/2, and half of a standard error of 1/2 less
    assert expected_reward(0.0, 0.0) == 0.5
    assert sure_reward(0.0, 0.0, 0.0) == 0.25
    # 0.5 / 4 is less than half of sqrt(2.25) / 4
    assert sure_reward(3.0, 0.0, 2.0) == 0


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


def test_a_dear_arm_may_be_tried_where_little_is_at_risk() -> None:
    """The cheap arm paid nothing 11 times: rho = 1 / 48, and 200 of it from the start would bring
    4.17. One pull of the other for 1/2, and the 93.5 that are left then, are 0.5 + 187 / 48 = 4.40.
    For 95% of 4.17 it takes 83 after the pull.
    """
    known = arms([0, 11], [0, 0], [0, 0.5])
    for guard, left, found in (
        (0.05, 94.5, False),
        (0.0, 94.5, False),
        (0.05, 84 + 1e-9, False),
        (0.05, 84 - 1e-9, True),
    ):
        assert risky(known, stakes(guard, [100], [left]), [1, 0.5]) is found


@pytest.mark.parametrize(("guard", "found"), [(0.0, True), (0.16, True), (0.17, False)])
def test_little_money_is_kept_together(guard: float, found: bool) -> None:
    """The cheap arm paid 0.1 twice: rho = 0.15, and 20 of it from the start would bring 3. A pull
    of the other leaves 1.2 of 2.2, for 12 of the cheap one: 0.2 + 1/2 + 12 * 0.15 = 2.5.
    """
    known = arms([0, 2], [0, 0.1], [0, 0.1])
    rounds = {"horizon": 20.0, "rounds_left": 18.0}
    assert risky(known, stakes(guard, [2.4], [2.2], earned=0.2, **rounds), [1, 0.1]) is found


def test_what_a_pull_costs_is_the_mean_or_for_an_untried_arm_the_bound() -> None:
    """rho = 0.5 - 1 / 8 = 0.375 after one reward of 0.5; 10 from the start bring 3.75. One pull of
    the other arm for 0.5 leaves 6 less its cost.
    """
    uses = np.array([[3, 1], [9, 9]], float)  # the column beyond the resources is time
    stake = stakes(0.3, [10], [6])  # 70% are 2.625, for which 5.667 must be left after the pull
    cheap = arms([1, 1], [0.5, 0.5], [0.3, 1])
    dear = arms([1, 1], [0.5, 0.5], [0.4, 1])
    assert not risky(cheap, stake, [5, 1], uses)
    assert risky(dear, stake, [5, 1], uses)
    assert risky(arms([0, 1], [0.5, 0.5], [0.3, 1]), stake, [5, 1], uses)
    uses[0, 0] = 0.3
    assert not risky(arms([0, 1], [0.5, 0.5], [3, 1]), stake, [5, 1], uses)


def test_an_untried_arm_that_is_declared_no_dearer_may_be_tried() -> None:
    stake = stakes(0.0, [10, 10], [1, 1])
    costs = [[0, 0], [0.5, 0.5]]
    assert not risky(arms([0, 1], [0, 1], costs), stake, [[1, 1], [1, 1]])
    assert not risky(arms([0, 1], [0, 1], costs), stake, [[0.5, 1], [1, 1]])
    assert risky(arms([0, 1], [0, 1], costs), stake, [[0.5, 1.1], [1, 1]])
    assert risky(arms([1, 1], [0, 1], costs), stake, [[0.5, 1], [1, 1]])  # it was tried


def test_the_scarcest_resource_counts_and_time_is_one() -> None:
    """rho = 0.375 and 1/2 for the pull, which costs 1 and 2; half of the rest may be risked."""
    known = arms([1, 1], [0.5, 0.5], [[1, 2], [1, 1]])
    most = [[2, 2], [1, 1]]
    # 10 from the start bring 3.75; 0.5 and 0.375 of 3 in each resource, then of 4
    assert risky(known, stakes(0.5, [10, 20], [9, 5]), most)
    assert risky(known, stakes(0.5, [20, 10], [4, 9]), most)
    assert not risky(known, stakes(0.5, [10, 20], [5, 6]), most)
    # with 8 rounds it is half of 3: as much as 2.67 of the safe arm and the pull
    assert not risky(known, stakes(0.5, [10, 20], [9, 5], horizon=8.0, rounds_left=7.0), most)
    assert risky(known, stakes(0.5, [10, 20], [9, 5], horizon=8.0, rounds_left=3.6), most)


def test_nothing_is_left_after_a_pull_that_takes_more_than_there_is() -> None:
    """10 of the safe arm bring 3.75; 3.25 is earned, and the pull brings 1/2."""
    known = arms([1, 1], [0.5, 0.5], [2, 1])
    assert not risky(known, stakes(0.0, [10], [1], earned=3.25), [2, 1])
    assert risky(known, stakes(0.0, [10], [1], earned=3.25 - 1e-9), [2, 1])


def test_a_safe_arm_that_costs_nothing_can_be_pulled_in_all_rounds() -> None:
    known = arms([1, 1], [0.5, 0.5], [1, 0])
    # 0.375 * 100, and 0.5 + 0.375 * 79 where there are 80 rounds left and money for the pull
    share = (0.5 + 0.375 * 79) / 37.5
    rounds = {"horizon": 100.0, "rounds_left": 80.0}
    assert not risky(known, stakes(1 - share + 1e-9, [9], [9], **rounds), [1, 0])
    assert risky(known, stakes(1 - share - 1e-9, [9], [9], **rounds), [1, 0])
    assert risky(known, stakes(1 - share + 1e-9, [9], [0.5], **rounds), [1, 0])  # nothing is left
