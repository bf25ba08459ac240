"""What arms teach about each other, and the bounds from it, by hand."""

import math
from typing import Any

import numpy as np
import pytest

from purse.kernels.optimism import untried_cost
from purse.kernels.replan.fading_means import FadingMeans, new_means
from purse.kernels.replan.pooled_bounds import believe, learn_pool, new_beliefs, set_bounds
from purse.kernels.small_lp import SmallLp, new_lp, set_limit
from purse.types import Floats

LAW = np.array([0.5, 1 / 12, 1])  # before any report
EXACT = {"rel": 1e-14, "abs": 1e-14}


def arms(weights: list[float], rewards: list[float], variances: Any = 0) -> FadingMeans:
    """What is known of arms with one resource."""
    known = new_means(len(weights), 2)
    known.weights[:], known.means[:, 0], known.variances[:, 0] = weights, rewards, variances
    return known


def settled(known: FadingMeans, steps: int = 1) -> Floats:
    pool = np.array([*LAW, 0.5])
    for _ in range(steps):
        learn_pool(pool, known, np.ones((len(known.weights), 1)))
    return pool[:3]


def test_one_step_by_hand() -> None:
    # 3 reports of mean 0.8 and variance 0.25: v = (0.75 + 0.25) / 4, so w = 3 / (3 / 12 + 1 / 4)
    pool = settled(arms([3, 0], [0.8, 0], [0.25, 0]))
    a = (12 * 0.5 + 6 * 0.8) / (12 + 6)
    # the arm's share is 6 / 12, and its posterior mean 0.15 above 1/2
    tau = (1 / 12 + 0.15**2 + 1 / 12 * 0.5) / 2
    assert pool == pytest.approx([a, tau, 1], **EXACT)


def test_the_law_is_in_the_scale_of_rewards_by_hand() -> None:
    known = arms([1, 0], [0.2, 0])
    known.tops[0, 0] = 0.2
    # one arm and the one more: U = (0.2 + 1) / 2, the law's mean is 0.3 and its variance 0.36 / 12
    w = 1 / (0.03 + 0.36 / 8)
    a = (0.3 / 0.03 + 0.2 * w) / (1 / 0.03 + w)
    tau = (0.03 + (0.03 * w * 0.1) ** 2 + 0.03 * (1 - 0.03 * w)) / 2
    pool = settled(known)
    assert pool == pytest.approx([a, tau, 0.6], **EXACT)
    # a larger reward stretches the law, and what all arms pay most is the scale as declared
    known.tops[0, 0] = 1
    learn_pool(pool := np.array([*pool, 0.5]), known, np.ones((2, 1)))
    assert pool[2] == 1
    a, tau = a / 0.6, tau / 0.36
    assert pool[0] == pytest.approx(
        (0.5 / tau + 0.2 / (tau + 1 / 8)) / (1 / tau + 1 / (tau + 1 / 8)), **EXACT
    )
    known.tops[0, 0] = 0.2
    assert bounds(known, [0.6, 1, 0.6], [0, 0]).gains.max() == 0.6


def test_untried_arms_teach_nothing() -> None:
    assert settled(arms([0, 0], [0, 0])) == pytest.approx(LAW, **EXACT)
    alone, beside = settled(arms([5], [0.2])), settled(arms([5, 0, 0], [0.2, 0, 0]))
    assert alone == pytest.approx(beside, **EXACT)


def test_steps_settle_where_all_arms_agree() -> None:
    """Many arms with many reports: a is their mean, and tau their variance."""
    rng = np.random.default_rng(0)
    rewards = rng.normal(0.4, 0.1, 2000)
    pool = settled(arms([1e6] * 2000, rewards.tolist(), 0.2), 20)
    assert pool == pytest.approx([rewards.mean(), rewards.var(), 1], rel=1e-2)
    # arms that are all alike leave what the one more arm and their own noise say
    a, tau, _ = settled(arms([1e6] * 50, [0.1] * 50, 0.09), 200)
    assert a == pytest.approx(0.1, abs=0.02)
    assert 1 / 12 / 51 < tau < 0.01


def test_an_untried_arm_is_thought_to_cost_what_others_do_if_all_are_declared_alike() -> None:
    known = new_means(3, 2 + 1)
    pool = np.array([*LAW, 0.5, 0.5])
    known.weights[:2], known.means[:2, 1:] = [4, 1], [[0.2, 0.2], [0.6, 0.6]]
    learn_pool(pool, known, np.array([[2.0, 2], [2, 2], [2, 1]]))
    # parts of 2: 0.1 and 0.3; in the second resource one arm is declared otherwise
    assert pool[3:] == pytest.approx([(0.1 + 0.3) / 2, 0.5], **EXACT)


def bounds(known: FadingMeans, pool: Any, pending: Any, *, rounds: float = 60.0) -> SmallLp:
    lp = new_lp(len(known.weights), 2)
    set_limit(lp, 0, 10.0)
    set_limit(lp, 1, rounds)
    count = len(known.weights)
    least = np.array([[0.1]] + [[0.001]] * (count - 1))
    most = np.array([[1.0]] + [[0.5]] * (count - 1))
    waits = np.array(pending)
    beliefs = new_beliefs(least, most, known)
    beliefs.pool[: len(pool)] = pool
    for i in range(count):
        believe(beliefs, known, least, most, i)
    set_bounds(lp, beliefs, known, least, waits, 0.5, math.sqrt(count))
    return lp


def test_bounds_of_a_tried_and_of_an_untried_arm_by_hand() -> None:
    known = arms([4, 0], [0.5, 0], [0.25, 0])
    known.means[0, 1], known.variances[0, 1], known.tops[0, 1] = 0.2, 0.005, 0.4
    lp = bounds(known, [0.6, 0.05], [0, 2])
    # arm 0 has money for 50 pulls and arm 1, at half of 0.5, for 40; a root of 2 of them counts
    level = 0.5 * math.log(1 + 50 / math.sqrt(2) / 4)
    v = (4 * 0.25 + 0.25) / 5
    share = 4 * 0.05 / (4 * 0.05 + v)
    upper = 0.6 - share * 0.1 + math.sqrt(2 * level * 0.05 * (1 - share))
    untold = 0.5 * math.log(1 + 40 / math.sqrt(2) / 2)
    # two open tickets make its law narrower as if they were told
    other = 0.6 + math.sqrt(2 * untold * 0.05 * (1 - 2 * 0.05 / (2 * 0.05 + 0.25)))
    assert lp.gains == pytest.approx([upper, other], **EXACT)
    v = (4 * 0.005 + 0.4**2 / 4) / 5
    width = math.sqrt(2 * level * v / 5) + level * 0.4 / (3 * 5)
    low = [0.2 / (1 + width / 0.2), untried_cost(0.001, 0.25, untold)]
    assert lp.uses[:, 0] == pytest.approx(low, **EXACT)
    assert lp.uses[:, 1].tolist() == [1, 1]


def test_bounds_stay_within_what_a_reward_can_be() -> None:
    known = arms([1, 50], [1.0, 0.0])
    known.means[:, 1] = 0.3
    lp = bounds(known, [0.9, 1e-9], [0, 0])
    assert lp.gains[0] == pytest.approx(
        0.9, abs=1e-3
    )  # all arms are alike, so one report is little
    lp = bounds(known, [0.9, 1.0], [0, 0])
    assert lp.gains.max() <= 1
    assert lp.gains.min() >= 0


def test_fewer_rounds_make_less_curious() -> None:
    known = arms([4, 0], [0.5, 0], [0.25, 0])
    known.means[0, 1] = 0.2
    many, few = (bounds(known, [0.6, 0.05], [0, 0], rounds=rounds) for rounds in (60.0, 3.0))
    assert (few.gains < many.gains).all()
    assert (few.uses[:, 0] >= many.uses[:, 0]).all()
