from typing import Any

import numpy as np
import pytest

from purse.lab.replay.block_means import BLOCKS, BlockMeans, blocks_of


def made(n: int = 400, n_arms: int = 3, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    arm = rng.integers(n_arms, size=n)
    return {
        "arm": arm,
        "reward": rng.random(n) * (arm + 1),
        "cost": rng.random(n) + arm,
        "n_arms": n_arms,
        "weight": rng.uniform(1, 5, n),
    }


def test_blocks_are_consecutive_rows_and_sessions_stay_whole() -> None:
    assert np.bincount(blocks_of(45)).tolist() == [3, 2, 2, 2] * 5
    session = np.array([7, 7, 3, 7, 3, 5])  # 7 is first and has half of the rows
    assert blocks_of(6, session).tolist() == [0, 0, 1, 0, 1, 2]
    rng = np.random.default_rng(0)
    session = rng.integers(100, size=2_000)
    block = blocks_of(2_000, session)
    assert len(np.unique(np.stack([session, block]), axis=1).T) == 100
    assert np.bincount(block, minlength=BLOCKS).min() > 60


def test_views_are_the_means_without_a_block() -> None:
    rows = made()
    means, block = BlockMeans.of(**rows), blocks_of(400)
    for view in range(BLOCKS + 1):
        there = block != view - 1
        for arm in range(3):
            own = there & (rows["arm"] == arm)
            for views, values in ((means.gain, rows["reward"]), (means.cost, rows["cost"])):
                assert views[view, arm] == pytest.approx(
                    np.average(values[own], weights=rows["weight"][own])
                )
    assert means.log_gain[0] == pytest.approx(rows["reward"].mean())
    assert means.log_cost[0] == pytest.approx(rows["cost"].mean())
    weights = rows["weight"][rows["arm"] == 1]
    assert means.ess[1] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_the_error_by_hand() -> None:
    """20 blocks of two rows: block b pays b; without it the mean is (190 - b) / 19."""
    reward = np.repeat(np.arange(20.0), 2)
    means = BlockMeans.of(np.zeros(40, np.int64), reward, reward, n_arms=1)
    assert means.gain[1:, 0] == pytest.approx((190 - np.arange(20)) / 19)
    # the variance of a mean of twenty: 35 / 20
    assert means.error(means.gain)[0] == pytest.approx(np.sqrt(35 / 20))
    # 40 rows with a variance of 33.25, as if they were independent
    assert means.row_variance[0] == pytest.approx(33.25 / 40)
    assert means.unseen(19.0)[0] == pytest.approx(3 * (9.5 / 40) ** 2)


def test_rows_that_nobody_judged_count_for_costs_and_shares_alone() -> None:
    rows = made() | {"weight": None}
    judged = np.random.default_rng(1).random(400) < 0.3
    sample = BlockMeans.of(**rows | {"reward": np.where(judged, rows["reward"], np.nan)})
    whole = BlockMeans.of(**rows)
    assert (sample.cost == whole.cost).all()
    assert (sample.share == whole.share).all()
    own = judged & (rows["arm"] == 2)
    assert sample.gain[0, 2] == pytest.approx(rows["reward"][own].mean())
    assert sample.ess[2] == own.sum()
    assert (sample.error(sample.gain) > whole.error(whole.gain)).all()
    assert sample.log_gain[0] == pytest.approx(sample.share @ sample.gain[0])


def test_neighbours_that_are_alike_are_noticed() -> None:
    rng = np.random.default_rng(0)
    arm, drift = np.zeros(2_000, np.int64), np.linspace(0, 1, 2_000)
    noise = rng.random(2_000)
    alone, risen = (
        BlockMeans.of(arm, reward, np.ones(2_000), n_arms=1) for reward in (noise, noise + drift)
    )
    assert (alone.alike(), risen.alike()) == (False, True)
    constant = BlockMeans.of(arm, np.ones(2_000), np.ones(2_000), n_arms=1)
    assert not constant.alike()


def test_a_few_large_rewards_carry_the_sum() -> None:
    reward = np.zeros(1_000)
    reward[::100] = 5
    means = BlockMeans.of(np.zeros(1_000, np.int64), reward, np.ones(1_000), n_arms=1)
    assert means.carried == pytest.approx(10)
